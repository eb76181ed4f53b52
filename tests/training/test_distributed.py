"""Two processes through torchrun, talking over the loopback interface, against one."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from arcf.config import as_toml
from arcf.training.distributed import Workers, workers
from arcf.training.run import train
from arcf.training.settings import TrainingSettings
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]


def needs_loopback() -> None:
    if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("torch is built without gloo")
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
    except OSError as error:
        pytest.skip(f"gloo cannot bind to the loopback interface: {error}")


def losses(output: Path) -> list[float]:
    lines = map(json.loads, (output / "log.jsonl").read_text().splitlines())
    return [line.get("loss", line.get("validation_map")) for line in lines]


def test_two_processes_learn_what_one_does(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    needs_loopback()
    # Some gradients are zero but for rounding (a bias that all scores share); Adam makes steps even of those, unless
    # its epsilon is larger.
    wanted = settings(optimisation={"tokens_per_step": 500, "epsilon": 1e-3})
    (tmp_path / "settings.toml").write_text(as_toml(wanted))
    train(wanted, dict.fromkeys(wanted.data.corpora, dataset), tmp_path / "one")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
    command += ["--nproc-per-node", "2", "-m", "arcf", "train", str(tmp_path / "settings.toml")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "two")],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-5)
    one, two = (
        load_file(next((tmp_path / name / "checkpoint").glob("step-*")) / "weights.safetensors")
        for name in ("one", "two")
    )
    assert one.keys() == two.keys()
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, atol=1e-6, rtol=1e-5, msg=name)
    assert json.loads((tmp_path / "two" / "manifest.json").read_text())["processes"] == 2


def test_every_item_is_somebodys() -> None:
    items = list(range(11))
    parts = [Workers(rank, 4).mine(items) for rank in range(4)]
    assert sorted(item for part in parts for item in part) == items
    assert [Workers(rank, 4).is_first for rank in range(4)] == [True, False, False, False]
    assert list(Workers(3, 4).mine([1])) == []


def test_alone_nothing_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    parameter = torch.nn.Parameter(torch.ones(2))
    with workers() as group:
        assert group == Workers(0, 1)
        assert group.sum(1.5) == 1.5
        group.sum_gradients([parameter])
    assert parameter.grad is None


def test_sums_over_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without a gradient, because it had no term, counts as zero."""
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda tensor: tensor.mul_(3))
    given, missing, frozen = (torch.nn.Parameter(torch.ones(2, 2)) for _ in range(3))
    frozen.requires_grad_(False)
    given.grad = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    group = Workers(0, 3)
    group.sum_gradients([given, missing, frozen])
    assert given.grad.tolist() == [[3.0, 6.0], [9.0, 12.0]]
    assert missing.grad is not None
    assert missing.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert frozen.grad is None
    assert group.sum(2.0) == 6.0
