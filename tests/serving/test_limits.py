"""Queue, time, size, token, host names and headers; clients that leave."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from threading import Event

import httpx
import numpy as np
import pytest
import uvicorn
from fastapi.testclient import TestClient
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.explainer import Explainer
from arcf.rankers import Autoregressive
from arcf.scorer.base import Prefix
from arcf.serving import ServingSettings, server
from arcf.serving.gate import BusyError, Gate
from arcf.serving.settings import LOOPBACK

Client = Callable[..., TestClient]
Running = Callable[[Explainer, ServingSettings], AbstractContextManager[str]]
ASKED = {"id": "science-001"}


class Held:
    """Scores as another scorer, but only while it may."""

    def __init__(self, explainer: Explainer) -> None:
        search = explainer.ranker.search
        self.scorer, self.go, self.begun, self.calls = search.scorer, Event(), Event(), 0
        self.explainer = Explainer(explainer.dataset, Autoregressive(self, search.neighborhood, search.settings))

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        self.calls += 1
        self.begun.set()
        assert self.go.wait(20)
        return self.scorer.score(prefix, candidates)


@pytest.fixture
def held(explainer: Explainer) -> Iterator[Held]:
    scorer = Held(explainer)
    yield scorer
    scorer.go.set()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("path", ["/api/explain", "/api/explain/stream"])
def test_a_full_queue_says_come_back_and_loses_nothing(held: Held, running: Running, path: str) -> None:
    async def crowd(address: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            asked = [asyncio.create_task(client.post(path, json=ASKED)) for _ in range(8)]
            await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            while sum(task.done() for task in asked) < 5:
                await asyncio.sleep(0.005)
            assert (await client.get("/api/health")).json() == {"status": "ok", "running": 1, "waiting": 2}
            held.go.set()
            return list(await asyncio.gather(*asked))

    with running(held.explainer, ServingSettings(workers=1, waiting=2)) as address:
        answers = asyncio.run(crowd(address))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] * 3 + [503] * 5
    for answer in answers:
        if answer.status_code == 503:
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/api/explain", "/api/explain/stream"])
def test_a_client_that_leaves_frees_its_slot(held: Held, running: Running, path: str) -> None:
    def idle(address: str) -> bool:
        return bool(httpx.get(f"{address}api/health").json()["running"] == 0)

    with running(held.explainer, ServingSettings(workers=1, waiting=0)) as address:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}{path[1:]}", json=ASKED, timeout=httpx.Timeout(20, read=0.3))
        assert not idle(address)  # a step that has begun keeps the model busy; and by now the server knows
        held.go.set()
        until(lambda: idle(address))
        assert held.calls == 1
        assert httpx.post(f"{address}{path[1:]}", json=ASKED, timeout=20).status_code == 200


def test_a_client_that_leaves_the_line_frees_its_place(held: Held, running: Running) -> None:
    def waiting(address: str) -> int:
        return int(httpx.get(f"{address}api/health").json()["waiting"])

    async def leave(address: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            first = asyncio.create_task(client.post("/api/explain", json=ASKED))
            await asyncio.to_thread(held.begun.wait, 20)
            second = asyncio.create_task(client.post("/api/explain", json=ASKED))
            await asyncio.to_thread(until, lambda: waiting(address) == 1)
            second.cancel()
            await asyncio.to_thread(until, lambda: waiting(address) == 0)
            held.go.set()
            return await first

    with running(held.explainer, ServingSettings(workers=1, waiting=1)) as address:
        assert asyncio.run(leave(address)).status_code == 200


def test_facts_are_looked_through_while_the_model_is_busy(held: Held, running: Running) -> None:
    async def look(address: str) -> list[int]:
        async with httpx.AsyncClient(base_url=address, timeout=20) as client:
            asked = asyncio.create_task(client.post("/api/explain", json=ASKED))
            await asyncio.to_thread(held.begun.wait, 20)
            found = [await client.get(path) for path in ("/api/facts?query=ice", "/api/facts/kindof-001")]
            held.go.set()
            return [answer.status_code for answer in (*found, await asked)]

    with running(held.explainer, ServingSettings(workers=1, waiting=0)) as address:
        assert asyncio.run(look(address)) == [200, 200, 200]


@pytest.mark.parametrize("sent", [b"Content-Length: 30\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
def test_a_client_that_leaves_in_the_middle_of_its_body_asked_nothing(
    held: Held, running: Running, sent: bytes
) -> None:
    begin = b"POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with running(held.explainer, ServingSettings(metrics=True)) as address:
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port or 0), timeout=20) as client:
            client.sendall(begin + sent)
        line = 'arcf_requests_total{route="/api/explain",status="499"} 1.0'
        until(lambda: line in httpx.get(f"{address}metrics").text)


def test_steps_arrive_while_the_search_goes_on(held: Held, running: Running) -> None:
    held.go.set()
    with (
        running(held.explainer, ServingSettings()) as address,
        httpx.stream("POST", f"{address}api/explain/stream", json=ASKED, timeout=20) as answer,
    ):
        lines = (line for line in answer.iter_lines() if line.startswith("event"))
        assert next(lines) == "event: start"
        assert next(lines) == "event: step"
        assert [*lines][-1] == "event: end"


def test_time_is_limited(held: Held, running: Running) -> None:
    async def slow(address: str) -> tuple[httpx.Response, str]:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            plain = asyncio.create_task(client.post("/api/explain", json=ASKED))
            await asyncio.sleep(0.4)
            held.go.set()
            first = await plain
            held.go.clear()
            stream = asyncio.create_task(client.post("/api/explain/stream", json=ASKED))
            await asyncio.sleep(0.4)
            held.go.set()
            return first, (await stream).text

    with running(held.explainer, ServingSettings(seconds=0.2)) as address:
        plain, stream = asyncio.run(slow(address))
    assert plain.status_code == 504
    assert stream.startswith("event: start")
    assert stream.split("\n\n")[-2].startswith("event: error\n")
    assert '"status":504' in stream


@pytest.mark.parametrize("path", ["/api/explain", "/api/explain/stream"])
def test_a_wait_that_ends_says_so_and_when_to_come_back(held: Held, running: Running, path: str) -> None:
    async def wait(address: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=address, timeout=30) as client:
            first = asyncio.create_task(client.post("/api/explain", json=ASKED))
            await asyncio.to_thread(held.begun.wait, 20)
            answer = await client.post(path, json=ASKED)
            held.go.set()
            assert (await first).status_code == 504
            return answer

    with running(held.explainer, ServingSettings(seconds=0.3)) as address:
        answer = asyncio.run(wait(address))
    assert answer.status_code == 504
    assert answer.json()["detail"].startswith("The request waited in line for 0.3 s")
    assert int(answer.headers["retry-after"]) >= 1
    assert held.calls == 1


@pytest.mark.parametrize("sent", [b"", b"GET /api/health HT", b"GET /api/health HTTP/1.1\r\nHost: loc"])
def test_headers_that_do_not_come(
    explainer: Explainer, running: Running, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr("arcf.serving.connection.HEADERS_SECONDS", 0.2)
    with running(explainer, ServingSettings()) as address:
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port or 0), timeout=20) as slow:
            slow.sendall(sent)
            assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")
            assert slow.recv(1000) == b""


def test_a_kept_connection_waits_longer_than_headers_may_take(
    explainer: Explainer, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcf.serving.connection.HEADERS_SECONDS", 0.2)
    asked = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running(explainer, ServingSettings()) as address:
        url = httpx.URL(address)
        with socket.create_connection((url.host, url.port or 0), timeout=20) as kept:
            for _ in range(2):
                kept.sendall(asked)
                assert kept.recv(5000).startswith(b"HTTP/1.1 200 ")
                time.sleep(0.4)


@pytest.mark.parametrize("path", ["/api/explain", "/api/explain/stream"])
def test_a_mistake_of_ours_is_told_as_a_problem(explainer: Explainer, client_of: Client, path: str) -> None:
    class Broken:
        def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
            raise RuntimeError(f"secret {prefix} {candidates}")

    neighborhood = explainer.ranker.search.neighborhood
    answer = client_of(Explainer(explainer.dataset, Autoregressive(Broken(), neighborhood))).post(path, json=ASKED)
    assert '"status":500' in answer.text
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
    if not path.endswith("stream"):
        assert answer.status_code == 500
        assert answer.headers["content-type"] == "application/problem+json"


def test_bodies_are_limited(explainer: Explainer, client_of: Client) -> None:
    client = client_of(explainer, body_bytes=100)
    assert client.post("/api/explain", json={"question": "x" * 200}).status_code == 413

    def chunks() -> Iterator[bytes]:
        yield from [b"x" * 50] * 10

    answer = client.post("/api/explain", content=chunks(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_limits_hold_for_a_request_that_names_no_settings(explainer: Explainer, client_of: Client) -> None:
    client = client_of(explainer, k=5, max_facts=2)
    explained = client.post("/api/explain", json={"question": "ice"}).json()
    assert len(explained["facts"]) == 2
    assert explained["considered"] <= 10
    settings = client.get("/api/info").json()["settings"]
    assert (settings["k"], settings["max_facts"]) == (5, 2)


def test_a_token(explainer: Explainer, client_of: Client) -> None:
    client = client_of(explainer, token="s3cret")
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": b"Bearer s\xe9"},
        {"Authorization": "Basic abc"},
    ):
        answer = client.post("/api/explain", json=ASKED, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    right = {"Authorization": "Bearer s3cret"}
    assert client.post("/api/explain", json=ASKED, headers=right).status_code == 200
    assert client.get("/api/facts").status_code == 401
    assert client.get("/api/health").status_code == 200
    assert client.get("/").status_code == 200


def test_host_names(explainer: Explainer, client_of: Client) -> None:
    client = client_of(explainer)
    for host in ("localhost:80", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST"):
        assert client.get("/api/health", headers={"Host": host}).status_code == 200
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", ""):
        assert client.get("/api/health", headers={"Host": host}).status_code == 421
    assert client_of(explainer, hosts=()).get("/", headers={"Host": "any.example"}).status_code == 200


@pytest.mark.parametrize(
    ("host", "names", "served"),
    [
        ("127.0.0.2", LOOPBACK, (*LOOPBACK, "127.0.0.2")),
        ("127.0.0.1", (*LOOPBACK, "my.lan"), (*LOOPBACK, "my.lan", "127.0.0.1")),
        ("0.0.0.0", LOOPBACK, ()),
        ("0.0.0.0", (*LOOPBACK, "my.lan"), (*LOOPBACK, "my.lan")),
    ],
)
def test_the_address_that_is_announced_answers(
    explainer: Explainer, monkeypatch: pytest.MonkeyPatch, host: str, names: tuple[str, ...], served: tuple[str, ...]
) -> None:
    given: list[ServingSettings] = []
    monkeypatch.setattr(server, "create_app", lambda _, settings: given.append(settings))
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    with server.listen(host, 0) as listener:
        server.serve(explainer, ServingSettings(hosts=names, token="s3cret"), listener)
    assert given[0].hosts == served


@pytest.mark.parametrize("path", ["/", "/api/info", "/api/nowhere"])
def test_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path, headers={"Origin": "http://evil.example"}).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == ("no-store" if path.startswith("/api") else "no-cache")
    assert not any(name.startswith("access-control") for name in headers)


def test_as_many_searches_run_as_are_allowed_and_nobody_else_waits(held: Held, running: Running) -> None:
    """More than the 40 threads that a process has for everything."""
    many = 42

    async def crowd(address: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            asked = [asyncio.create_task(client.post("/api/explain", json=ASKED)) for _ in range(many)]
            await asyncio.to_thread(until, lambda: held.calls == many)
            questions = await client.get("/api/questions")
            held.go.set()
            return [questions, *await asyncio.gather(*asked)]

    with running(held.explainer, ServingSettings(workers=many)) as address:
        answers = asyncio.run(crowd(address))
    assert {answer.status_code for answer in answers} == {200}


def test_settings_are_checked() -> None:
    for wrong in (
        {"k": 0},
        {"seconds": 0},
        {"seconds": float("inf")},
        {"waiting": -1},
        {"token": ""},
        {"token": "s\u00e9"},
        {"hosts": ("https://arcf.example",)},
        {"hosts": ("arcf.example:8443",)},
        {"hosts": ("[::1]:8443",)},
    ):
        with pytest.raises(SettingError, match="server"):
            ServingSettings(**wrong)  # type: ignore[arg-type]


def test_the_gate() -> None:
    async def check() -> None:
        gate = Gate(workers=1, waiting=0)
        async with gate.slot():
            assert gate.running == 1
            with pytest.raises(BusyError, match="busy"):
                async with gate.slot():
                    pass
        assert gate.inside == 0
        with pytest.raises(ValueError, match="inside"):
            async with gate.slot():
                raise ValueError("inside")
        async with gate.slot():
            pass

    asyncio.run(check())


def test_searches_that_take_too_long_count_in_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr("arcf.serving.gate.perf_counter", lambda: next(clock))

    async def check() -> int:
        gate = Gate(workers=1, waiting=0)
        for _ in range(20):
            with pytest.raises(TimeoutError):
                async with gate.slot():
                    raise TimeoutError
        async with gate.slot():
            return gate.moves_on

    assert asyncio.run(check()) == pytest.approx(50, abs=2)
