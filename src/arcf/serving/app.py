"""The application: the API under /api, and the page."""

import sys
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from secrets import compare_digest
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import FileResponse, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.staticfiles import StaticFiles

from arcf.explainer import Explainer
from arcf.serving import problems
from arcf.serving.corpus import Corpus
from arcf.serving.gate import Gate
from arcf.serving.guard import Guard
from arcf.serving.metrics import Metrics
from arcf.serving.problems import Problem, ProblemError, documented
from arcf.serving.routes import Waiting, corpus_routes, health_routes, info_routes, search_routes
from arcf.serving.running import GoneError
from arcf.serving.schemas import Info, Opening
from arcf.serving.service import Service
from arcf.serving.settings import ServingSettings
from arcf.serving.watch import Watch

LIMITS = ("body_bytes", "question_chars", "k", "max_facts", "seconds", "workers", "waiting", "page_size")

UNDOCUMENTED = ("/", "/page/{file}", "/metrics", "/api/openapi.json")
"""The paths that are not of the API."""

PAGE = Path(str(files("arcf.serving") / "page"))
FONTS = Path(str(files("arcf.picture") / "fonts"))


def create_app(explainer: Explainer, settings: ServingSettings | None = None) -> FastAPI:
    """The ASGI application of one explainer. Run it in one process: the queue in front of the model is its own."""
    settings = settings or ServingSettings()
    app = FastAPI(
        title="arcf",
        summary="Explain answers with chains of facts.",
        version=version("arcf"),
        openapi_url="/api/openapi.json",
        docs_url=None,  # their scripts come from elsewhere, which the content security policy forbids
        redoc_url=None,
        redirect_slashes=False,  # behind a proxy, it would lead to http, without the proxy's prefix
    )
    gate = Gate(settings.workers, settings.waiting)
    metrics, waiting = Metrics(gate), Waiting(gate, settings.seconds)
    # Looking through facts takes no model: it has a line of its own, which is as long.
    looking = Waiting(Gate(settings.workers, settings.waiting), settings.seconds)
    corpus = Corpus(explainer)
    locks = [Depends(_lock(settings.token))] if settings.token is not None else []
    shared = documented(401, 421) if locks else documented(421)
    service = Service(explainer, settings)
    for router in (
        search_routes(service, waiting, metrics),
        corpus_routes(corpus, looking, settings),
        info_routes(_info(service, corpus)),
    ):
        app.include_router(router, prefix="/api", dependencies=locks, responses=shared)
    app.include_router(health_routes(gate), prefix="/api", responses=documented(421))
    app.mount("/page/fonts", StaticFiles(directory=FONTS), name="fonts")
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    app.add_api_route("/", _front, include_in_schema=False)
    if settings.metrics:
        app.add_api_route("/metrics", metrics.page, include_in_schema=False, dependencies=locks)
    problems.install(app)
    app.add_exception_handler(GoneError, _nobody_reads)
    app.add_middleware(Guard, settings=settings)
    _describe_problems(app)
    app.add_middleware(Watch, metrics=metrics, routes=(*app.openapi()["paths"], *UNDOCUMENTED))
    return app


def _lock(token: str) -> Any:
    """A dependency that lets through whoever has the token."""
    bearer = HTTPBearer(auto_error=False)

    async def check(given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> None:
        if given is None or not compare_digest(given.credentials.encode(), token.encode()):
            raise ProblemError(401, "Send the token of the server as a bearer token.", {"WWW-Authenticate": "Bearer"})

    return check


def _info(service: Service, corpus: Corpus) -> Info:
    dataset, limits = service.explainer.dataset, asdict(service.settings)
    return Info(
        versions={"arcf": version("arcf"), "python": sys.version.partition(" ")[0]},
        model=service.settings.model,
        corpus=dataset.name,
        facts=len(dataset.facts),
        questions=corpus.size,
        settings=asdict(service.chain_settings),
        limits={name: limits[name] for name in LIMITS},
    )


async def _front() -> FileResponse:
    return FileResponse(PAGE / "index.html")


async def _nobody_reads(request: Request, error: Exception) -> Response:
    del request, error
    return Response(status_code=499)


def _describe_problems(app: FastAPI) -> None:
    """Add to OpenAPI what no route returns as its model: the problems, and how a stream opens."""
    written = app.openapi

    def described() -> dict[str, Any]:
        document = written()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        for model in (Problem, Opening):
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[model.__name__] = schema
        return document

    app.openapi = described  # type: ignore[method-assign]
