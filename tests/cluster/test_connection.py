"""Clusters that cannot be used: one sentence each, in seconds."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.cli.cluster import with_address
from arcf.cluster import connected
from arcf.errors import InputError, MissingExtraError, SettingError
from arcf.serving.server import listen

MISMATCH = "Version mismatch: The cluster was started with:\n    Ray: 2.1\n    Python: 3.9\nThis process was: ..."


def test_without_ray(monkeypatch: pytest.MonkeyPatch, arcf: Callable[..., int], tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"run pip install 'arcf\[scale\]'$"), connected("auto"):
        pass
    assert arcf("rank", "--ranker", "tfidf", "--split", "dev", "--output", tmp_path / "run", "--ray") == 2
    assert not (tmp_path / "run").exists()


class TestWithRay:
    @pytest.fixture(autouse=True)
    def _unconnected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ray = pytest.importorskip("ray")
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
        monkeypatch.setattr(ray, "shutdown", lambda: None)  # of the cluster that other tests are connected to

    @pytest.mark.parametrize(
        "address", ["", "nowhere", "nowhere:", ":6379", "host:port", "ray://host:10001", "a..b:6379"]
    )
    def test_what_is_no_address(self, address: str) -> None:
        with pytest.raises(SettingError, match="is HOST:PORT of its head, or auto, not"), connected(address):
            pass

    def test_an_address_that_does_not_answer(self) -> None:
        with listen("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
        complaint = rf"^No Ray cluster answers at 127.0.0.1:{port} .*ray start --head --port={port}$"
        with pytest.raises(InputError, match=complaint), connected(f"127.0.0.1:{port}"):
            pass

    @pytest.mark.parametrize(
        ("error", "complaint"),
        [
            (RuntimeError(MISMATCH), "has other versions than this machine; install the same everywhere"),
            (
                ConnectionError("Could not find any\nrunning Ray instance."),
                r"\(Could not find any running Ray instance",
            ),
            (ValueError("no node of this machine"), "this machine must be one of its nodes: ray start --address="),
        ],
    )
    def test_what_ray_says(self, monkeypatch: pytest.MonkeyPatch, error: Exception, complaint: str) -> None:
        def refuse(**_: object) -> None:
            raise error

        monkeypatch.setattr("ray.init", refuse)
        with pytest.raises(InputError, match=complaint) as found, connected("auto"):
            pass
        assert "\n" not in str(found.value)

    def test_ray_is_started_again_here_but_not_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried: list[object] = []

        def start(address: str, **_: object) -> None:
            tried.append(address)
            if len(tried) == 1 or address == "auto":
                raise RuntimeError("The current node timed out during startup.")

        monkeypatch.setattr("ray.init", start)
        with connected("local"):
            pass
        with pytest.raises(InputError, match="timed out during startup"), connected("auto"):
            pass
        assert tried == ["local", "local", "auto"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["rank", "--ray"], ["rank", "--ray=local"]),
        (["rank", "--ray", "--split", "dev"], ["rank", "--ray=local", "--split", "dev"]),
        (["rank", "--ray", "auto", "--json"], ["rank", "--ray", "auto", "--json"]),
        (["rank", "--ray=host:1"], ["rank", "--ray=host:1"]),
        ([], []),
    ],
)
def test_ray_may_have_an_address(given: list[str], meant: list[str]) -> None:
    assert with_address(given) == meant
