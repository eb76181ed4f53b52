"""The container's recipe says what arcf understands. Docker itself is not run here."""

import json
import re
import shlex
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from arcf.serving import ServingSettings

ROOT = Path(__file__).parent.parent
DOCKERFILE, COMPOSE, CADDYFILE = ((ROOT / name).read_text() for name in ("Dockerfile", "compose.yaml", "Caddyfile"))


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[ServingSettings]:
    """The settings of the servers that were started, instead of servers."""
    found: list[ServingSettings] = []
    monkeypatch.setattr("arcf.serving.server.listen", lambda *_: nullcontext())
    monkeypatch.setattr("arcf.serving.serve", lambda _, settings, *__: found.append(settings))
    monkeypatch.setattr("arcf.explainer.load_explainer", lambda *_: None)
    return found


def test_the_commands_are_understood(arcf: Callable[..., int], served: list[ServingSettings]) -> None:
    inside = json.loads(re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])
    composed = shlex.split(re.findall(r"command: (.*)", COMPOSE)[0].replace("${ARCF_HOST:-localhost}", "arcf.example"))
    assert arcf(*inside) == arcf(*composed) == 0
    assert all(settings.access_log and settings.metrics for settings in served)
    assert "arcf.example" in served[1].hosts


def test_nobody_is_root_and_nothing_is_written() -> None:
    assert re.search(r"^USER [1-9]\d*$", DOCKERFILE, re.MULTILINE)
    assert DOCKERFILE.index("USER ") < DOCKERFILE.index("ENTRYPOINT")
    for setting in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true"):
        assert setting in COMPOSE


def test_all_that_is_copied_is_there() -> None:
    copied = {name for line in re.findall(r"^COPY (?!--)(.*) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


def test_the_proxy_lets_the_server_say_that_its_line_is_full() -> None:
    """The only server there is: were it taken for down, not even the page would be answered."""
    assert "health_uri /api/health" in CADDYFILE
    assert "respond /metrics 404" in CADDYFILE
