"""The OpenAPI document against the server: schemathesis makes requests up, right ones and wrong ones."""

from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks
from schemathesis.specs.openapi import checks as openapi

from arcf.explainer import Explainer
from arcf.serving import ServingSettings, create_app
from arcf.serving.schemas import ExplanationView, Link, Opening, RankingView

EXAMPLES = 25
CHECKS = [
    checks.not_a_server_error,
    openapi.status_code_conformance,
    openapi.content_type_conformance,
    openapi.response_headers_conformance,
    openapi.response_schema_conformance,
    openapi.negative_data_rejection,
    openapi.unsupported_method,
]
OPERATIONS = [
    ("POST", "/api/explain"),
    ("POST", "/api/explain/stream"),
    ("POST", "/api/rank"),
    ("GET", "/api/facts"),
    ("GET", "/api/facts/{uid}"),
    ("GET", "/api/questions"),
    ("GET", "/api/info"),
    ("GET", "/api/health"),
    ("GET", "/api/ready"),
]
NOTHING_TAKEN = {"/api/info", "/api/health", "/api/ready"}


@pytest.fixture(scope="module")
def app(explainer: Explainer) -> FastAPI:
    return create_app(explainer, ServingSettings(hosts=()))


@pytest.fixture(scope="module")
def schema(app: FastAPI) -> Any:
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        (method, path, mode)
        for method, path in OPERATIONS
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        if mode == GenerationMode.POSITIVE or path not in NOTHING_TAKEN
    ],
)
def test_every_answer_is_documented(schema: Any, method: str, path: str, mode: GenerationMode) -> None:
    operation = schema[path][method]

    @settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)

    ask()


def test_the_document(app: FastAPI) -> None:
    document = app.openapi()
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert len(operations) == len(OPERATIONS)
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
    for name in ("ExplainRequest", "RankRequest"):
        assert document["components"]["schemas"][name]["examples"]
    assert {"Problem", "Opening", "Link"} <= set(document["components"]["schemas"])


def test_the_examples_are_answers_that_could_be(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    for name, model in (("ExplanationView", ExplanationView), ("RankingView", RankingView)):
        for example in document["components"]["schemas"][name]["examples"]:
            assert model.model_validate(example).model_dump(exclude_unset=True) == example
    stream = document["paths"]["/api/explain/stream"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    kinds = {"start": Opening, "step": Link, "end": ExplanationView}
    for block in stream["example"].strip().split("\n\n"):
        event, data = (line.partition(": ")[2] for line in block.split("\n"))
        assert kinds.pop(event).model_validate_json(data)
    assert not kinds
