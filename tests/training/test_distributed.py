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


def torchrun(*options: str, settings: Path, output: Path) -> subprocess.Popen[str]:
    """Training under torchrun, on the loopback interface."""
    command = [sys.executable, "-m", "torch.distributed.run", "--local-addr", "127.0.0.1", *options]
    return subprocess.Popen(
        [*command, "-m", "arcf", "train", str(settings), "--output", str(output)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )


def finish(*started: subprocess.Popen[str]) -> None:
    for process in started:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said


def weights(output: Path) -> dict[str, torch.Tensor]:
    return load_file(next((output / "checkpoint").glob("step-*")) / "weights.safetensors")


def assert_same_weights(first: Path, second: Path, atol: float = 0.0, rtol: float = 0.0) -> None:
    one, two = weights(first), weights(second)
    assert one.keys() == two.keys()
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, atol=atol, rtol=rtol, msg=name)


def test_processes_and_machines_learn_what_one_process_does(
    settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    """Two processes of one machine, and one process on each of two machines, which are both this one."""
    needs_loopback()
    # Some gradients are zero but for rounding (a bias that all scores share); Adam makes steps even of those, unless
    # its epsilon is larger.
    wanted = settings(optimisation={"tokens_per_step": 500, "epsilon": 1e-3})
    path, one, two, apart = (tmp_path / name for name in ("settings.toml", "one", "two", "apart"))
    path.write_text(as_toml(wanted))
    train(wanted, dict.fromkeys(wanted.data.corpora, dataset), one)
    finish(torchrun("--standalone", "--nproc-per-node", "2", settings=path, output=two))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        meeting = f"127.0.0.1:{probe.getsockname()[1]}"
    machines = ["--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d", "--rdzv-id", "arcf"]
    machines += ["--rdzv-endpoint", meeting]
    finish(*(torchrun(*machines, "--node-rank", rank, settings=path, output=apart) for rank in "01"))
    assert losses(two) == pytest.approx(losses(one), abs=1e-5)
    assert losses(apart) == losses(two)
    assert_same_weights(one, two, atol=1e-6, rtol=1e-5)
    assert_same_weights(two, apart)
    for output in (two, apart):
        assert json.loads((output / "manifest.json").read_text())["processes"] == 2


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
