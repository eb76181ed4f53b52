"""Replicas on a real Ray Serve: the same answers, also while one is killed."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from threading import Event

import httpx
import pytest

from arcf.chain import ChainSettings
from arcf.data import load
from arcf.errors import ArcfWarning, InputError, SettingError
from arcf.explainer import Explainer, load_explainer
from arcf.explanation import Explanation
from arcf.rankers import RankerSettings
from arcf.serving import ServingSettings
from arcf.serving.replicas import Found, ReplicaSettings, ReplicatedExplainer, _check_room, replicated
from arcf.types import Question, Step

Running = Callable[[Explainer, ServingSettings], AbstractContextManager[str]]
RANKER = RankerSettings(chain=ChainSettings(k=60, max_facts=4), threads=1)
ASKED = {"id": "science-001"}

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore:::ray")]


@pytest.fixture(scope="module")
def replicas(cluster: object) -> Iterator[ReplicatedExplainer]:
    assert cluster
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arcf.scorer.loading.load_network", lambda *_: pytest.fail("the front has loaded the model"))
        with replicated(RANKER, load("science"), ReplicaSettings(2, "auto")) as explainer:
            patch.undo()
            yield explainer


@pytest.fixture(scope="module")
def alone() -> Explainer:
    return load_explainer(RANKER, load("science"))


def untimed(record: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name != "seconds"}


def pids(explainer: ReplicatedExplainer) -> set[int]:
    """The processes of the replicas that answer; asked often enough to meet both."""
    return {explainer._handle.options(stream=False).pid.remote().result() for _ in range(20)}


def test_the_answers_are_those_of_one_process(
    replicas: ReplicatedExplainer, alone: Explainer, running: Running
) -> None:
    settings = {"settings": {"max_facts": 3, "k": 50}, "start": ["kindof-001"]}
    assert logging.getLogger("ray.serve").level == logging.WARNING
    with running(replicas, ServingSettings(workers=2)) as there, running(alone, ServingSettings()) as here:
        for path, body in (
            ("api/explain", ASKED),
            ("api/explain", ASKED | settings),
            ("api/rank", ASKED | {"top_k": 50}),
        ):
            answers = [httpx.post(f"{address}{path}", json=body, timeout=60).json() for address in (there, here)]
            assert untimed(answers[0]) == untimed(answers[1])
        streams = [
            httpx.post(f"{address}api/explain/stream", json=ASKED, timeout=60).text.split('"considered"')[0]
            for address in (there, here)
        ]
        assert streams[0] == streams[1]
        wrong = httpx.post(f"{there}api/explain", json=ASKED | {"start": ["nowhere"]}, timeout=60)
        assert (wrong.status_code, wrong.headers["content-type"]) == (404, "application/problem+json")


def test_a_replica_is_killed_and_nobody_notices(replicas: ReplicatedExplainer, running: Running) -> None:
    async def crowd(address: str) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=address, timeout=120) as client:
            asked = [asyncio.create_task(client.post("/api/explain", json=ASKED)) for _ in range(12)]
            await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            os.kill(min(before), signal.SIGKILL)
            return list(await asyncio.gather(*asked))

    before = pids(replicas)
    with running(replicas, ServingSettings(workers=2, seconds=120)) as address:
        answers = [answer.json() for answer in asyncio.run(crowd(address))]
    assert all(untimed(answer) == untimed(answers[0]) for answer in answers)
    assert answers[0]["facts"]
    assert min(before) not in pids(replicas)


class Scripted:
    """What a handle of Ray Serve gives, in the order of a script: answers of an explainer, cut short by errors."""

    def __init__(self, explainer: Explainer, *ends: tuple[int, Exception] | None) -> None:
        self.explainer, self.ends, self.cancelled = explainer, list(ends), 0
        self.steps = self

    def remote(self, question: Question, settings: ChainSettings, *more: tuple[str, ...]) -> "Scripted":
        self.asked = question, settings, more
        return self

    def __iter__(self) -> Iterator[Step | Found]:
        question, settings, more = self.asked
        explained = self.explainer.with_settings(settings).explain(question, "", (), *more)
        end = self.ends.pop(0)
        for place, step in enumerate(explained.chain.steps):
            if end is not None and place == end[0]:
                raise end[1]
            yield step
        yield Found(explained.found, explained.seconds)

    def cancel(self) -> None:
        self.cancelled += 1


def test_a_stream_goes_on_where_it_was(explainer: Explainer) -> None:
    died = ray.exceptions.RayActorError()
    handle = Scripted(explainer, (2, died), (1, died), None)
    question = explainer.dataset.question("science-001")
    steps = ReplicatedExplainer(explainer.dataset, explainer.ranker, handle).steps(question)
    ends: list[Explanation] = []

    def collected() -> Iterator[Step]:
        ends.append((yield from steps))

    whole = explainer.explain(question)
    assert [step.chosen for step in collected()] == [step.chosen for step in whole.chain.steps]
    assert [end.facts for end in ends] == [whole.facts]
    assert handle.cancelled == 3


@pytest.mark.parametrize("name", ["OutOfMemoryError", "NodeDiedError", "ObjectLostError", "ActorUnavailableError"])
def test_whatever_ends_a_replica_another_is_asked(explainer: Explainer, name: str) -> None:
    kind = getattr(ray.exceptions, name, None)
    if kind is None:
        pytest.skip(f"this Ray has no {name}")
    died = kind.__new__(kind, "It is gone.")  # Each is made from other things, and says nothing that we need.
    handle = Scripted(explainer, (1, died), None)
    question = explainer.dataset.question("science-001")
    found = ReplicatedExplainer(explainer.dataset, explainer.ranker, handle).explain(question)
    assert found.facts == explainer.explain(question).facts


class Nobody:
    """A handle of Ray Serve while no replica is there: whoever asks waits until he gives up."""

    def __init__(self, error: Exception) -> None:
        self.error, self.given_up = error, Event()
        self.steps = self

    def remote(self, *_: object) -> "Nobody":
        return self

    def __iter__(self) -> Iterator[Step | Found]:
        assert self.given_up.wait(20)
        raise self.error
        yield

    def cancel(self) -> None:
        self.given_up.set()


@pytest.mark.parametrize("name", ["RayActorError", "TaskCancelledError"])
@pytest.mark.parametrize("path", ["api/explain", "api/explain/stream"])
def test_a_search_that_no_replica_takes_ends_in_time(
    explainer: Explainer, running: Running, path: str, name: str
) -> None:
    handle = Nobody(getattr(ray.exceptions, name)())
    alone = ReplicatedExplainer(explainer.dataset, explainer.ranker, handle, 0.2)
    with running(alone, ServingSettings(seconds=0.2)) as address:
        answer = httpx.post(f"{address}{path}", json=ASKED, timeout=60)
        assert httpx.get(f"{address}api/health").json()["running"] == 0
    assert answer.status_code == 504 or '"status":504' in answer.text


def test_time_that_is_over_is_no_death(explainer: Explainer) -> None:
    handle = Nobody(ray.exceptions.RayActorError())
    with pytest.raises(TimeoutError, match="no answer came in"):
        ReplicatedExplainer(explainer.dataset, explainer.ranker, handle, 0.05).explain("What melts?")


def test_a_cluster_that_is_too_small_so_far() -> None:
    with pytest.warns(ArcfWarning, match=r"want 9 processors, and there are 2; nothing is served until the cluster"):
        _check_room(9, 2, "10.0.0.1:6379")


def test_a_question_that_kills_every_replica(explainer: Explainer) -> None:
    handle = Scripted(explainer, *[(0, ray.exceptions.RayActorError())] * 4)
    with pytest.raises(InputError, match="4 replicas died over this question"):
        ReplicatedExplainer(explainer.dataset, explainer.ranker, handle).explain("What melts?")


def test_what_a_replica_raises_is_raised_here(explainer: Explainer) -> None:
    failed = ray.exceptions.RayTaskError("steps", "a long traceback", InputError("It is empty."))
    handle = Scripted(explainer, (0, failed))
    with pytest.raises(InputError, match=r"^It is empty\.$"):
        ReplicatedExplainer(explainer.dataset, explainer.ranker, handle).explain("What melts?")


@pytest.mark.usefixtures("cluster")
def test_more_replicas_than_processors() -> None:
    with (
        pytest.raises(SettingError, match=r"The replicas want 9 processors, and there are .; ask for fewer"),
        replicated(RANKER, load("science"), ReplicaSettings(3, "local", 3)),
    ):
        pass


def test_no_replicas() -> None:
    with pytest.raises(SettingError, match="At least 1 replica"):
        ReplicaSettings(0, "auto")
