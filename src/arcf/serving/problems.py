"""Errors as RFC 9457 problem details: one shape, whatever went wrong."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from arcf.errors import ArcfError

MEDIA_TYPE = "application/problem+json"
MEANINGS = {
    400: "The request cannot be read.",
    401: "The bearer token is missing or wrong.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    413: "The body is larger than the server allows.",
    415: "The body is no JSON, or compressed.",
    421: "The server does not answer to this host name.",
    422: "The request can be read, but not answered.",
    500: "An error of the server itself.",
    503: "The queue is full; come back after Retry-After seconds.",
    504: "The request took longer than the server allows; with Retry-After, its turn did not come.",
}


class Mistake(BaseModel):
    """One thing that is wrong with a request."""

    pointer: str = Field(description="Where: the parts of the path, with slashes.", examples=["/body/question"])
    detail: str = Field(examples=["Field required"])


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(default="about:blank", examples=["about:blank"])
    title: str = Field(examples=["Unprocessable Entity"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["The question is empty; write what is to be explained."])
    errors: list[Mistake] = Field(default_factory=list)


class ProblemError(Exception):
    """A request that cannot be answered, with the status that says so."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


def problem(status: int, detail: str, errors: Iterable[Mistake] = ()) -> Problem:
    """A problem with the title that its status has in HTTP."""
    try:
        title = HTTPStatus(status).phrase
    except ValueError:
        title = "Error"
    return Problem(title=title, status=status, detail=detail, errors=list(errors))


def as_problem(error: Exception) -> tuple[Problem, Mapping[str, str]]:
    """The problem that an exception is, and the headers that go with it."""
    if isinstance(error, ProblemError):
        return problem(error.status, str(error)), error.headers or {}
    if isinstance(error, RequestValidationError):
        return problem(422, "The request is not what it should be.", map(_mistake, error.errors())), {}
    if isinstance(error, HTTPException):
        return problem(error.status_code, str(error.detail)), error.headers or {}
    if isinstance(error, ArcfError):
        return problem(422, str(error)), {}
    if isinstance(error, TimeoutError):
        return problem(504, "The search took too long; ask for less (k, max_facts), or try again later."), {}
    return problem(500, "The server made a mistake; its log has the details."), {}


def response(error: Exception) -> JSONResponse:
    """The answer to a request that failed."""
    found, headers = as_problem(error)
    return ProblemResponse(found.model_dump(), status_code=found.status, headers=dict(headers))


class ProblemResponse(JSONResponse):
    """A problem as JSON in plain ASCII: names from a request may hold what UTF-8 cannot."""

    media_type = MEDIA_TYPE

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of the problems that a route may answer with."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answers: dict[int | str, dict[str, Any]] = {
        status: {"description": MEANINGS[status], "content": content} for status in statuses
    }
    for status in answers.keys() & {503, 504}:
        schema = {"type": "integer", "minimum": 1}
        answers[status]["headers"] = {"Retry-After": {"description": "Seconds.", "schema": schema}}
    return answers


def install(app: FastAPI) -> None:
    """Let the app answer every error with a problem."""

    async def answer(request: Request, error: Exception) -> JSONResponse:
        del request
        return response(error)

    for kind in (HTTPException, RequestValidationError, ProblemError, ArcfError, TimeoutError):
        app.add_exception_handler(kind, answer)


def _mistake(error: Mapping[str, Any]) -> Mistake:
    return Mistake(pointer="".join(f"/{part}" for part in error["loc"]), detail=str(error["msg"]))
