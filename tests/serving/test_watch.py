"""Request ids, the log and the metrics."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
import numpy as np
import pytest
from fastapi.testclient import TestClient
from numpy.typing import NDArray
from prometheus_client.parser import text_string_to_metric_families

from arcf.explainer import Explainer
from arcf.rankers import Autoregressive
from arcf.serving import ServingSettings
from arcf.serving.log import ACCESS, JsonLines, log_config

Client = Callable[..., TestClient]
Running = Callable[[Explainer, ServingSettings], AbstractContextManager[str]]
ASKED = {"id": "science-001"}


def broken(explainer: Explainer) -> Explainer:
    """The same with a scorer that fails."""

    class Broken:
        def score(self, *_: object) -> NDArray[np.float32]:
            raise RuntimeError("two\nlines")

    return Explainer(explainer.dataset, Autoregressive(Broken(), explainer.ranker.search.neighborhood))


@contextmanager
def logged(name: str, level: int = logging.INFO) -> Iterator[list[str]]:
    """The lines that a logger writes."""
    lines: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger(name)
    handler.emit = lambda record: lines.append(JsonLines().format(record))  # type: ignore[method-assign]
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(level)
    try:
        yield lines
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


def counts(client: TestClient) -> dict[str, float]:
    """All samples of /metrics, by name and labels."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        ",".join([sample.name, *sample.labels.values()]): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.parametrize("given", ["", "two words", "x" * 65, 'a"b'])
def test_a_request_without_a_fit_id_gets_one(client: TestClient, given: str) -> None:
    first, second = (client.get("/api/health", headers={"X-Request-ID": given}) for _ in range(2))
    assert first.headers["x-request-id"] not in {"", given, second.headers["x-request-id"]}


def test_each_request_is_a_line_of_json(client: TestClient) -> None:
    with logged(ACCESS) as lines:
        answer = client.get("/api/facts?query=my+secret", headers={"X-Request-ID": "abc.1"})
        client.get("/nowhere", headers={"Host": "evil.example"})
    assert answer.headers["x-request-id"] == "abc.1"
    first, second = map(json.loads, lines)
    assert {"time", "level", "message", "seconds", "client"} < first.keys()
    assert (first["request_id"], first["method"], first["path"]) == ("abc.1", "GET", "/api/facts")
    assert (first["status"], second["status"]) == (200, 421)
    assert "secret" not in lines[0]


def test_errors_are_logged_with_the_id_and_the_traceback(explainer: Explainer, running: Running) -> None:
    with running(broken(explainer), ServingSettings()) as address, logged("uvicorn.error", logging.ERROR) as lines:
        answer = httpx.post(f"{address}api/explain", json=ASKED, headers={"X-Request-ID": "abc.2"}, timeout=20)
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "abc.2")
    (line,) = lines
    assert "\n" not in line
    assert json.loads(line)["request_id"] == "abc.2"
    assert "RuntimeError: two\nlines" in json.loads(line)["error"]


def test_only_warnings_are_logged_unless_asked_for() -> None:
    assert log_config(access=False)["loggers"][ACCESS]["level"] == "WARNING"
    assert log_config(access=True)["loggers"][ACCESS]["level"] == "INFO"


def test_metrics_are_off_unless_asked_for(client: TestClient) -> None:
    assert client.get("/metrics").status_code == 404


def test_metrics_want_the_token(explainer: Explainer, client_of: Client) -> None:
    client = client_of(explainer, metrics=True, token="s3cret")
    assert client.get("/metrics").status_code == 401
    answer = client.get("/metrics", headers={"Authorization": "Bearer s3cret"})
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/api/explain", "/api/explain/stream"])
def test_metrics_count(explainer: Explainer, client_of: Client, path: str) -> None:
    client = client_of(explainer, metrics=True)
    scorings = client_of(explainer).post("/api/explain", json=ASKED).json()["scorings"]
    assert client.post(path, json=ASKED).status_code == 200
    for strange in ("/nowhere", "/api/facts/no-such-fact", "/api/facts/another"):
        assert client.get(strange).status_code == 404
    found = counts(client)
    assert found[f"arcf_requests_total,{path},200"] == 1
    assert found["arcf_requests_total,/api/facts/{uid},404"] == 2
    assert found["arcf_requests_total,other,404"] == 1
    assert found[f"arcf_request_seconds_count,{path}"] == 1
    assert (found["arcf_searches_total"], found["arcf_scorings_total"]) == (1, scorings)
    assert (found["arcf_running"], found["arcf_waiting"]) == (0, 0)
    assert found["arcf_refusals_total,full"] == found["arcf_refusals_total,late"] == 0


def test_the_line_is_counted(explainer: Explainer, client_of: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcf.serving.gate.Gate.is_full", True)
    client = client_of(explainer, metrics=True)
    assert client.post("/api/explain", json=ASKED).status_code == 503
    assert counts(client)["arcf_refusals_total,full"] == 1
    assert client.get("/api/health").status_code == 200
    assert client.get("/api/ready").status_code == 503
    assert int(client.get("/api/ready").headers["retry-after"]) >= 1


def test_ready_is_open_and_says_how_much_there_is_to_do(explainer: Explainer, client_of: Client) -> None:
    assert (
        client_of(explainer, token="s3cret").get("/api/ready").json() == client_of(explainer).get("/api/health").json()
    )


def test_a_search_that_fails_is_not_counted(explainer: Explainer, client_of: Client) -> None:
    client = client_of(broken(explainer), metrics=True)
    assert client.post("/api/explain", json=ASKED).status_code == 500
    found = counts(client)
    assert (found["arcf_searches_total"], found["arcf_requests_total,/api/explain,500"]) == (0, 1)


def test_a_stream_that_fails_counts_as_what_it_ended_with(explainer: Explainer, client_of: Client) -> None:
    client = client_of(broken(explainer), metrics=True)
    with logged(ACCESS) as lines:
        assert client.post("/api/explain/stream", json=ASKED).status_code == 200
    assert json.loads(lines[0])["status"] == 500
    assert counts(client)["arcf_requests_total,/api/explain/stream,500"] == 1


@pytest.mark.parametrize("path", ["/", "/api/health", "/api/facts?query=ice", "/page/style.css", "/api/nowhere"])
def test_head_is_get_without_a_body(client: TestClient, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    assert head.headers["content-type"] == got.headers["content-type"]


def test_head_of_what_is_only_posted(client: TestClient) -> None:
    assert client.head("/api/explain").status_code == client.get("/api/explain").status_code == 405
