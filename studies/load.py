"""The server under load, on loopback: python studies/load.py [--model DIR] [--stand-in MILLISECONDS].

Latency at several numbers of clients; a crowd that is larger than the queue, where whoever gets a 503 comes back;
clients that leave in the middle; and the server's memory over 2,000 requests. Every answer is compared with the one
that the same question gets on an idle server. The exit code is 1 if an answer is lost or wrong, or the server is.
"""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, sleep
from typing import Annotated, Any

import httpx
import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from arcf.data import load
from arcf.explainer import Explainer
from arcf.explainer import load as load_explainer
from arcf.neighborhood import Neighborhood, recipe
from arcf.neighborhood.text import Analyzer
from arcf.rankers import Autoregressive
from arcf.scorer.base import STOP, Prefix
from arcf.serving import ServingSettings, serve
from arcf.serving.server import listen

QUESTIONS = 40
CLIENTS = (1, 4, 16)
CROWD = 100
WAITING = 16
LEAVERS = 100


class StandIn:
    """Counts shared words, and takes as long as it is told to: for where there is no model."""

    def __init__(self, facts: Sequence[str], milliseconds: float) -> None:
        self._analyzer, self._seconds = Analyzer(), milliseconds / 1000
        self._terms = [frozenset(self._analyzer.terms(fact)) for fact in facts]

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """Words shared with the question that the chain does not have yet; stopping is worth half a word."""
        sleep(self._seconds)
        missing = set(self._analyzer.terms(prefix.query)).difference(*(self._terms[fact] for fact in prefix.facts))
        scores = [0.5 if one == STOP else len(missing & self._terms[one]) for one in candidates.tolist()]
        return np.array(scores, dtype=np.float32)


class Server:
    """A server in a process of its own."""

    def __init__(self, model: str | None, stand_in: float | None) -> None:
        options = [*(["--model", model] if model else []), *(["--stand-in", str(stand_in)] if stand_in else [])]
        command = [sys.executable, __file__, "--serve", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def megabytes(self) -> float:
        """Memory that the process holds now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def idle(self) -> bool:
        """Whether it answers and has nothing to do."""
        health = httpx.get(f"{self.address}api/health", timeout=10).json()
        return bool(health == {"status": "ok", "running": 0, "waiting": 0})

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=20)


class Load:
    """Clients of one server."""

    def __init__(self, server: Server, expected: dict[str, list[str]]) -> None:
        self.server = server
        self.expected = expected
        self.ids = list(expected)
        self.wrong = 0

    async def ask(self, client: httpx.AsyncClient, number: int) -> tuple[float, int]:
        """Ask until there is an answer; how long the last try took, and how often the server was busy."""
        question, busy = self.ids[number % len(self.ids)], 0
        while True:
            begun = perf_counter()
            try:
                answer = await client.post("/api/explain", json={"id": question})
            except httpx.TransportError:
                self.wrong += 1
                return perf_counter() - begun, busy
            if answer.status_code != 503:
                break
            busy += 1
            await asyncio.sleep(float(answer.headers["Retry-After"]) * (0.5 + (number % 10) / 10))
        if answer.status_code != 200 or facts(answer.json()) != self.expected[question]:
            self.wrong += 1
        return perf_counter() - begun, busy

    async def many(self, requests: int, clients: int) -> list[tuple[float, int]]:
        """So many requests from so many clients, each waiting for its answer before it asks again."""
        numbers = iter(range(requests))

        async def one(client: httpx.AsyncClient) -> list[tuple[float, int]]:
            return [await self.ask(client, number) for number in numbers]

        limits = httpx.Limits(max_connections=clients)
        async with httpx.AsyncClient(base_url=self.server.address, timeout=120, limits=limits) as client:
            return [done for found in await asyncio.gather(*(one(client) for _ in range(clients))) for done in found]

    async def leave(self, clients: int) -> None:
        """Clients that ask and go away."""

        async def one(number: int) -> None:
            async with httpx.AsyncClient(base_url=self.server.address, timeout=0.001 * (1 + number % 40)) as client:
                try:
                    path = ("/api/explain", "/api/explain/stream")[number % 2]
                    await client.post(path, json={"id": self.ids[number % len(self.ids)]})
                except httpx.TransportError:
                    pass

        await asyncio.gather(*map(one, range(clients)))
        while not await asyncio.to_thread(self.server.idle):
            await asyncio.sleep(0.05)


def facts(record: dict[str, Any]) -> list[str]:
    """The uids of a chain."""
    return [fact["uid"] for fact in record["facts"]]


def explainer_of(model: str | None, stand_in: float | None) -> Explainer:
    """The packaged facts with a model, or with a stand-in."""
    if stand_in is None:
        return load_explainer(model)
    dataset = load()
    neighborhood = Neighborhood(dataset.facts, recipe("tfidf").build(dataset.facts, ()))
    return Explainer(dataset, Autoregressive(StandIn([fact.text for fact in dataset.facts], stand_in), neighborhood))


def report(console: Console, load: Load, requests: int) -> None:
    """Latency, crowd, leavers and memory."""
    table = Table(
        "clients", "requests", "p50 ms", "p95 ms", "p99 ms", "requests/s", title="Latency", title_justify="left"
    )
    for clients in CLIENTS:
        begun = perf_counter()
        done = asyncio.run(load.many(100, clients))
        seconds = perf_counter() - begun
        p50, p95, p99 = np.percentile([took * 1000 for took, _ in done], [50, 95, 99])
        table.add_row(str(clients), "100", f"{p50:.0f}", f"{p95:.0f}", f"{p99:.0f}", f"{100 / seconds:.1f}")
    console.print(table)
    done = asyncio.run(load.many(CROWD, CROWD))
    refused = sum(busy for _, busy in done)
    places = f"{CROWD} clients at once, {WAITING + 1} places"
    console.print(f"Crowd: {places}: {refused} refusals (503), {len(done)} answers in the end")
    asyncio.run(load.leave(LEAVERS))
    console.print(f"{LEAVERS} clients left in the middle: the server is idle again")
    memory = [load.server.megabytes()]
    for _ in range(8):
        asyncio.run(load.many(requests // 8, 8))
        memory.append(load.server.megabytes())
    console.print(f"Memory over {requests} requests: {', '.join(f'{one:.0f}' for one in memory)} MB")
    console.print(f"Wrong or lost answers: {load.wrong}")


def main(
    model: Annotated[str | None, typer.Option(help="Folder of a trained model.")] = None,
    stand_in: Annotated[float | None, typer.Option(help="Milliseconds of a scoring, without a model.")] = None,
    requests: Annotated[int, typer.Option(min=8, help="Requests of the memory test.")] = 2_000,
    serving: Annotated[bool, typer.Option("--serve", hidden=True)] = False,
) -> None:
    """Put the server under load."""
    if serving:
        settings = ServingSettings(workers=1, waiting=WAITING, seconds=120)
        with listen("127.0.0.1", 0) as listener:
            serve(explainer_of(model, stand_in), settings, listener, lambda address: print(address, flush=True))
        return
    server = Server(model, stand_in)
    try:
        ids = [question.id for split in load().splits.values() for question in split][:QUESTIONS]
        url = f"{server.address}api/explain"
        expected = {one: facts(httpx.post(url, json={"id": one}, timeout=120).json()) for one in ids}
        found = Load(server, expected)
        report(Console(), found, requests)
        is_alive = server.process.poll() is None and server.idle()
    finally:
        server.stop()
    if found.wrong or not is_alive:
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
