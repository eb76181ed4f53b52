"""The routes of the API. Each checks, calls and answers; the work is done elsewhere."""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Path, Query, Request, Response

from arcf.serving.corpus import Corpus
from arcf.serving.examples import ASKED, EXPLAINED, GIVEN, STEP
from arcf.serving.gate import BusyError, Gate
from arcf.serving.metrics import Metrics
from arcf.serving.problems import ProblemError, documented
from arcf.serving.running import run, while_connected
from arcf.serving.schemas import (
    DatasetQuestion,
    ExplainRequest,
    ExplanationView,
    FactDetail,
    FactView,
    Health,
    Info,
    NearRequest,
    Page,
    PageRequest,
    RankingView,
    RankRequest,
)
from arcf.serving.search import Search
from arcf.serving.service import Service
from arcf.serving.settings import ServingSettings
from arcf.serving.stream import EventStream

Answer = TypeVar("Answer")
SEARCHING = documented(400, 404, 408, 413, 415, 422, 500, 503, 504)
LOOKING = documented(404, 422, 500, 503, 504)
# What each event of a stream holds, by its name. OpenAPI 3.1 has one schema for a stream: that of its events.
PAYLOADS = {"start": "Opening", "step": "Link", "end": "ExplanationView", "error": "Problem"}
EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": list(PAYLOADS)},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in PAYLOADS.values()]},
        },
    },
}
EVENTS_SHOWN = "".join(
    f"event: {name}\ndata: {json.dumps(data)}\n\n"
    for name, data in (("start", ASKED | {"given": [GIVEN], "max_facts": 9}), ("step", STEP), ("end", EXPLAINED))
)
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `start` (Opening), `step` (Link), `end` (ExplanationView) or `error` (Problem).",
        "content": {"text/event-stream": {"schema": EVENT, "example": EVENTS_SHOWN}},
    }
}


class Waiting:
    """What every request that needs the model goes through: the queue, the time limit, the client's patience."""

    def __init__(self, gate: Gate, seconds: float) -> None:
        self.gate = gate
        self.seconds = seconds

    async def turn(self, request: Request, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Do the work when its turn comes."""

        async def in_turn() -> Answer:
            async with self.gate.turn(self.seconds):
                return await work()

        return await while_connected(request.receive, in_turn)

    async def thread(self, request: Request, work: Callable[[], Answer]) -> Answer:
        """Do the work in a thread when its turn comes."""
        return await self.turn(request, lambda: self.gate.thread(work))


def search_routes(service: Service, waiting: Waiting, metrics: Metrics) -> APIRouter:
    """Explaining and ranking."""
    router = APIRouter(tags=["search"])

    async def answer(request: Request, search: Search, view: Callable[..., Answer], *more: Any) -> Answer:
        async def work() -> Answer:
            explanation = await run(search, waiting.gate)
            metrics.searched(explanation.found.scorings)
            return await waiting.gate.thread(view, explanation, *more)

        return await waiting.turn(request, work)

    @router.post("/explain", summary="Explain an answer", responses=SEARCHING)
    async def explain(body: ExplainRequest, request: Request) -> ExplanationView:
        """The chain of facts that explains an answer, with what each step was chosen over."""
        search = service.search(body)
        return await answer(request, search, search.explanation)

    @router.post(
        "/explain/stream",
        summary="Explain step by step",
        responses=SEARCHING | EVENTS,
        response_class=EventStream,
        status_code=200,
    )
    async def stream(body: ExplainRequest) -> Response:
        """The same as server-sent events: each step as soon as it is found."""
        return EventStream(service.search(body), waiting.gate, waiting.seconds, metrics)

    @router.post("/rank", summary="Rank facts", responses=SEARCHING)
    async def rank(body: RankRequest, request: Request) -> RankingView:
        """The facts of the corpus, best first: the chain, then what was scored, then the rest."""
        _check_size(body.top_k, service.settings)
        search = service.search(body)
        return await answer(request, search, search.ranking, body.top_k)

    return router


def corpus_routes(corpus: Corpus, waiting: Waiting, settings: ServingSettings) -> APIRouter:
    """Facts and questions of the corpus."""
    router = APIRouter(tags=["corpus"])

    @router.get("/facts", summary="Search facts", responses=LOOKING)
    async def facts(request: Request, wanted: Annotated[PageRequest, Query()]) -> Page[FactView]:
        """Facts near the query, nearest first; without a query all of them, in their own order."""
        _check_page(wanted, settings)
        return await waiting.thread(request, lambda: corpus.facts(wanted.query, wanted.page, wanted.size))

    @router.get("/facts/{uid:path}", summary="One fact", responses=LOOKING)
    async def fact(
        request: Request, uid: Annotated[str, Path(examples=["kindof-001"])], wanted: Annotated[NearRequest, Query()]
    ) -> FactDetail:
        """A fact with its nearest neighbors and the words that they share."""
        _check_size(wanted.k, settings)
        return await waiting.thread(request, lambda: corpus.fact(uid, wanted.k))

    @router.get("/questions", summary="Questions of the dataset", responses=documented(422, 500))
    def questions(wanted: Annotated[PageRequest, Query()]) -> Page[DatasetQuestion]:
        """The dataset's questions with their gold facts; with a query, those that contain it."""
        _check_page(wanted, settings)
        return corpus.questions(wanted.query, wanted.page, wanted.size)

    return router


def info_routes(info: Info) -> APIRouter:
    """About the server itself."""
    router = APIRouter(tags=["server"])

    @router.get("/info", summary="Model, corpus, versions", responses=documented(500))
    async def about() -> Info:
        """What the server runs on, and what it allows."""
        return info

    return router


def health_routes(gate: Gate) -> APIRouter:
    """Whether the server is up, and whether it takes more; needs no token."""
    router = APIRouter(tags=["server"])

    @router.get("/health", summary="Is it up?", responses=documented(500))
    async def state() -> Health:
        """How much the server has to do."""
        return Health(status="ok", running=gate.running, waiting=gate.waiting)

    @router.get("/ready", summary="Does it take more?", responses=documented(500, 503))
    async def ready() -> Health:
        """The same, or 503 while the line is full: a load balancer should ask elsewhere."""
        if gate.is_full:
            raise BusyError(gate.moves_on)
        return await state()

    return router


def _check_size(size: int, settings: ServingSettings) -> None:
    if size > settings.page_size:
        raise ProblemError(422, f"At most {settings.page_size} items at once, not {size}.")


def _check_page(wanted: PageRequest, settings: ServingSettings) -> None:
    _check_size(wanted.size, settings)
    if len(wanted.query) > settings.question_chars:
        raise ProblemError(422, f"At most {settings.question_chars} characters, not {len(wanted.query)}.")
