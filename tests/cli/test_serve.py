"""`arcf serve`: what it is started with, and what it says when it cannot start."""

import platform
import socket
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from arcf.scorer import ScorerSettings
from arcf.serving import ServingSettings
from arcf.serving.replicas import ReplicaSettings
from arcf.serving.server import address, listen
from arcf.serving.settings import LOOPBACK

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the server was started with, instead of a server."""
    given: dict[str, Any] = {}

    def hear(host: str, port: int) -> nullcontext[SimpleNamespace]:
        given.update(host=host, port=port)
        return nullcontext(SimpleNamespace(getsockname=lambda: (host, port)))

    def serve(explainer: object, settings: ServingSettings, listener: object, tell: Callable[[str], None]) -> None:
        given.update(explainer=explainer, settings=settings, listener=listener)
        tell("http://here/")

    monkeypatch.setattr("arcf.serving.server.listen", hear)
    monkeypatch.setattr("arcf.serving.serve", serve)
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: SimpleNamespace(settings=ScorerSettings()))
    return given


def test_it_listens_on_this_machine_only(arcf: Arcf, started: dict[str, Any], capsys: Capture) -> None:
    assert arcf("serve", "--model", "runs/any") == 0
    assert (started["host"], started["port"]) == ("127.0.0.1", 8000)
    assert started["listener"].getsockname() == ("127.0.0.1", 8000)
    assert started["settings"] == ServingSettings(model="any")
    assert started["explainer"].dataset.name == "science"
    assert "http://here/" in capsys.readouterr().out


def test_every_limit_is_an_option(arcf: Arcf, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCF_TOKEN", "s3cret")
    limits = ("--workers", "2", "--waiting", "3", "--seconds", "4.5", "--max-k", "50", "--max-facts", "6")
    sizes = ("--question-chars", "70", "--body-bytes", "800", "--allowed-host", "Arcf.example")
    more = ("--access-log", "--metrics", "--host", "0.0.0.0", "--port", "0")
    assert arcf("serve", "--model", "any", *limits, *sizes, *more) == 0
    searches = {"k": 50, "max_facts": 6, "seconds": 4.5, "workers": 2, "waiting": 3}
    assert started["settings"] == ServingSettings(
        "any", "s3cret", (*LOOPBACK, "arcf.example"), 800, 70, **searches, access_log=True, metrics=True
    )
    assert (started["host"], started["port"]) == ("0.0.0.0", 0)


def test_replicas_search_and_one_process_takes_the_requests(
    arcf: Arcf, started: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def replicated(*given: Any) -> nullcontext[str]:
        asked.append(given)
        return nullcontext("an explainer with replicas")

    monkeypatch.setattr("arcf.serving.replicas.replicated", replicated)
    for where in (("--ray", "10.0.0.1:6379"), ()):
        assert arcf("serve", "--replicas", "3", "--workers", "2", "--seconds", "9", *where) == 0
    assert started["explainer"] == "an explainer with replicas"
    assert started["settings"].workers == 6
    name = f"arcf-{platform.node()}-8000"
    assert [given[2] for given in asked] == [
        ReplicaSettings(3, "10.0.0.1:6379", 2, name, 9.0),
        ReplicaSettings(3, "local", 2, name, 9.0),
    ]
    assert asked[0][1].name == "science"


def test_servers_on_any_free_port_have_replicas_of_their_own(arcf: Arcf, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def replicated(_: object, __: object, replicas: ReplicaSettings) -> nullcontext[str]:
        names.append(replicas.name)
        if len(names) == 1:  # The first one still listens.
            assert arcf("serve", "--replicas", "1", "--port", "0") == 0
        return nullcontext("an explainer with replicas")

    monkeypatch.setattr("arcf.serving.serve", lambda *_: None)
    monkeypatch.setattr("arcf.serving.replicas.replicated", replicated)
    assert arcf("serve", "--replicas", "1", "--port", "0") == 0
    assert len(set(names)) == 2


def test_wrong_usage(arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert arcf("serve", "--token", "two words") == 2
    assert "token" in capsys.readouterr().err
    assert arcf("serve", "--facts", "nowhere.jsonl") == 2
    assert "nowhere.jsonl" in capsys.readouterr().err
    assert arcf("serve", "--ray", "auto") == 2
    assert "--replicas" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "arcf.serving", None)
    assert arcf("serve") == 2
    assert "pip install 'arcf[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told_before_anything_is_loaded(
    arcf: Arcf, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcf.explainer.load_explainer", lambda *_: pytest.fail("the model was loaded"))
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert arcf("serve", "--port", str(port)) == 2
    assert capsys.readouterr().err == f"error: Port {port} of 127.0.0.1 is in use; choose another with --port.\n"


def test_an_address_of_another_machine(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("serve", "--host", "192.0.2.1") == 2
    assert "choose others with --host and --port" in capsys.readouterr().err


def test_what_no_machine_can_be_called(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("serve", "--host", "a..b", "--port", "8123") == 2
    assert capsys.readouterr().err == (
        "error: Nothing can listen on a..b, port 8123 (that is no name of a host); choose others with --host and "
        "--port.\n"
    )


def test_addresses() -> None:
    with listen("localhost", 0) as listener:
        assert address(listener).startswith("http://")
    if socket.has_ipv6:
        try:
            with listen("::1", 0) as listener:
                assert address(listener).startswith("http://[::1]:")
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")


def test_help_has_an_example(arcf: Arcf, capsys: Capture) -> None:
    assert arcf("serve", "--help") == 0
    assert "Example: arcf serve" in capsys.readouterr().out
