"""The API: what it answers, and how it says no."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arcf.explainer import Explainer
from arcf.serving import ServingSettings
from arcf.serving.schemas import ExplainRequest, RankRequest
from arcf.serving.service import Service

QUESTION = "Which process turned the ice cube to water?"


def explained(client: TestClient, **request: Any) -> dict[str, Any]:
    answer = client.post("/api/explain", json=request)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for block in text.strip().split("\n\n"):
        kind, data = block.split("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def assert_problem(answer: Any, status: int, words: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert words in answer.text


def test_an_explanation_is_the_explainers(client: TestClient, explainer: Explainer) -> None:
    record = explained(client, question=QUESTION, answer="melting")
    expected = explainer.explain(QUESTION, "melting").to_dict()
    assert [fact["uid"] for fact in record["facts"]] == [fact["uid"] for fact in expected["facts"]]
    for name in ("seen_from", "runners_up", "score", "stop_score"):
        assert record["facts"][1][name] == expected["facts"][1][name]
    assert record["left_out"] == expected["left_out"]
    assert record["ending"].startswith("stopped after")
    assert record["average_precision"] is None


def test_a_question_of_the_dataset_has_gold(client: TestClient) -> None:
    record = explained(client, id="science-001")
    assert record["question"] == QUESTION
    assert len(record["options"]) == 4
    assert len(record["gold"]) == 6
    assert 0 < record["average_precision"] < 1


def test_settings_start_and_excluded(client: TestClient) -> None:
    plain = explained(client, id="science-001")
    first, second = (fact["uid"] for fact in plain["facts"][:2])
    settings = {"max_facts": 4, "min_facts": 4, "runners_up": 2, "k": 50, "exact": True}
    record = explained(client, id="science-001", start=[second], excluded=[first], settings=settings)
    uids = [fact["uid"] for fact in record["facts"]]
    assert uids[0] == second
    assert first not in uids
    assert len(uids) == 4
    given, chosen = record["facts"][:2]
    assert (given["given"], given["score"], chosen["given"]) == (True, None, False)
    assert given["seen_from"][0]["source"] is None
    assert len(chosen["runners_up"]) == 2


def test_a_runner_up_can_be_taken_instead(client: TestClient) -> None:
    plain = explained(client, id="science-001")
    other = plain["facts"][1]["runners_up"][0]["uid"]
    start = [plain["facts"][0]["uid"], other]
    assert [fact["uid"] for fact in explained(client, id="science-001", start=start)["facts"]][:2] == start


def test_the_stream_tells_the_same(client: TestClient) -> None:
    answer = client.post("/api/explain/stream", json={"id": "science-001", "start": ["kindof-001"]})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    found = events(answer.text)
    assert [kind for kind, _ in found] == ["start", *["step"] * (len(found) - 2), "end"]
    opening, end = found[0][1], found[-1][1]
    assert [link["uid"] for link in opening["given"]] == ["kindof-001"]
    assert opening["gold"] == end["gold"]
    whole = explained(client, id="science-001", start=["kindof-001"])
    assert [*opening["given"], *(data for _, data in found[1:-1])] == end["facts"] == whole["facts"]


def test_a_ranking(client: TestClient) -> None:
    record = client.post("/api/rank", json={"id": "science-001", "top_k": 30}).json()
    chain = [fact["uid"] for fact in explained(client, id="science-001")["facts"]]
    assert [fact["uid"] for fact in record["facts"]][: len(chain)] == chain
    scores = [fact["score"] for fact in record["facts"]]
    assert len(scores) == 30
    assert scores == sorted(scores, reverse=True)


def test_only_who_is_told_of_a_ranking_waits_for_it(explainer: Explainer) -> None:
    service = Service(explainer, ServingSettings())
    asked = [ExplainRequest(question="ice"), ExplainRequest(id="science-001"), RankRequest(question="ice")]
    assert [service.search(request).explainer.settings.whole for request in asked] == [False, True, True]


def test_facts_are_searched_by_page(client: TestClient, explainer: Explainer) -> None:
    everything = client.get("/api/facts").json()
    assert everything["total"] == len(explainer.dataset.facts)
    assert everything["items"][0]["uid"] == explainer.dataset.facts[0].uid
    first = client.get("/api/facts", params={"query": "ice melting", "size": 3}).json()
    second = client.get("/api/facts", params={"query": "ice melting", "size": 3, "page": 2}).json()
    assert len(first["items"]) == 3
    assert "ice" in first["items"][0]["text"]
    assert not {fact["uid"] for fact in first["items"]} & {fact["uid"] for fact in second["items"]}
    beyond = client.get("/api/facts", params={"query": "ice", "page": 10_000}).json()
    assert (beyond["items"], beyond["page"]) == ([], 10_000)


def test_a_fact_has_neighbors(client: TestClient) -> None:
    record = client.get("/api/facts/kindof-001", params={"k": 4}).json()
    assert record["uid"] == "kindof-001"
    assert len(record["neighbors"]) == 4
    assert all(neighbor["words"] for neighbor in record["neighbors"])
    assert_problem(client.get("/api/facts/nothing/at%20all"), 404, "nothing/at all")


def test_questions(client: TestClient) -> None:
    page = client.get("/api/questions", params={"size": 5}).json()
    assert len(page["items"]) == 5
    assert all(question["gold"] for question in page["items"])
    found = client.get("/api/questions", params={"query": "ICE CUBE"}).json()
    assert [question["id"] for question in found["items"]] == ["science-001"]


def test_info_and_health(client: TestClient) -> None:
    info = client.get("/api/info").json()
    assert (info["model"], info["corpus"]) == ("stand-in", "science")
    assert info["limits"]["max_facts"] == 20
    assert client.get("/api/health").json() == {"status": "ok", "running": 0, "waiting": 0}


@pytest.mark.parametrize(
    ("request_", "status", "words"),
    [
        ({}, 422, "either a question or the id"),
        ({"question": "ice", "id": "science-001"}, 422, "either a question or the id"),
        ({"id": "science-001", "answer": "ice"}, 422, "its own answer"),
        ({"id": "science-999"}, 404, "science-999"),
        ({"question": "  "}, 422, "The question is empty"),
        ({"question": "ice", "answer": "C", "options": ["a", "b"]}, 422, "neither the letter nor the text"),
        ({"question": "x" * 2_001}, 422, "at most 2000"),
        ({"question": "ice", "start": ["nothing"]}, 404, "no fact 'nothing'"),
        ({"question": "ice", "start": ["kindof-001"], "excluded": ["kindof-001"]}, 422, "both in start and"),
        ({"question": "ice", "settings": {"k": 1_001}}, 422, "k: at most 1000"),
        ({"question": "ice", "settings": {"max_facts": 21}}, 422, "max_facts: at most 20"),
        ({"question": "ice", "settings": {"max_facts": 0}}, 422, "/body/settings/max_facts"),
        ({"question": "ice", "settings": {"k": True}}, 422, "is a boolean, not a number"),
        ({"question": "ice", "settings": {"min_confidence": False}}, 422, "is a boolean, not a number"),
        ({"question": "ice", "settings": {"exact": 1}}, 422, "/body/settings/exact"),
        ({"question": "ice", "settings": {"min_facts": 5, "max_facts": 2}}, 422, "at most 2 facts"),
        ({"question": "ice", "settings": {"min_facts": 15}}, 422, "cannot have at least 15"),
        ({"question": "ice", "surprise": 1}, 422, "/body/surprise"),
        ({"question": 7}, 422, "/body/question"),
        ({"question": "ice", "options": ["x"] * 27}, 422, "/body/options"),
    ],
)
def test_wrong_requests(client: TestClient, request_: dict[str, Any], status: int, words: str) -> None:
    for path in ("/api/explain", "/api/explain/stream"):
        assert_problem(client.post(path, json=request_), status, words)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nowhere", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/page/%2e%2e/app.py", 404),
        ("GET", "/api/explain", 405),
        ("OPTIONS", "/api/explain", 405),
        ("GET", "/api/facts?page=0", 422),
        ("GET", "/api/facts?size=101", 422),
        ("GET", "/api/questions?size=101", 422),
        ("GET", "/api/facts/kindof-001?k=101", 422),
        ("GET", "/api/facts?q=ice", 422),
        ("GET", "/api/facts/kindof-001?size=3", 422),
        ("GET", "/api/questions?split=dev", 422),
        ("GET", "/api/facts/", 404),
        ("GET", "/api/questions/", 404),
    ],
)
def test_wrong_paths(client: TestClient, method: str, path: str, status: int) -> None:
    assert_problem(client.request(method, path), status)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[1]", b'{"question": NaN}', b"9" * 5000, b"[" * 5000])
def test_bodies_that_are_no_request(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/explain", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert_problem(answer, answer.status_code)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_foreign_page_cannot_post(client: TestClient, content_type: str) -> None:
    """Such types need no preflight in a browser, so they must not be read as JSON."""
    answer = client.post("/api/explain", content=b'{"id": "science-001"}', headers={"Content-Type": content_type})
    assert_problem(answer, 415, "Content-Type: application/json")


def test_a_compressed_body_is_not_read(client: TestClient) -> None:
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert_problem(client.post("/api/explain", content=b"\x1f\x8b", headers=packed), 415)
    kept = {"Content-Type": "application/json; charset=utf-8", "Content-Encoding": "identity"}
    assert client.post("/api/explain", content=b'{"id": "science-001"}', headers=kept).status_code == 200


def test_ids_are_looked_up_whatever_their_length(client: TestClient) -> None:
    long = "u" * 300
    assert_problem(client.get(f"/api/facts/{long}"), 404, "no fact")
    assert_problem(client.post("/api/explain", json={"id": long}), 404, "no question")
    assert_problem(client.post("/api/explain", json={"question": "ice", "start": [long]}), 404, "no fact")


HOSTILE = [
    "<script>alert(1)</script> ice",
    "ice \x00\x01\x1b[31m\x7f",
    "ice \u202e\u2066 \u05d0\u05d1 \u0627\u0644\u062b\u0644\u062c",
    "ice" * 600,
    "\U0001f9ca ice \ufffe\uffff",
    "'; DROP TABLE facts; -- ice",
    "ice {{7*7}} ${7*7} %s %n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_comes_back_as_it_was(client: TestClient, text: str) -> None:
    record = explained(client, question=text, answer=text)
    assert record["question"] == text.strip()
    assert record["facts"] or "iceice" in text
    assert client.get("/api/facts", params={"query": text}).status_code == 200
    for kind, _ in events(client.post("/api/explain/stream", json={"question": text}).text):
        assert kind != "error"


def test_text_that_is_no_unicode(client: TestClient) -> None:
    for body in (
        b'{"question": "\\ud800"}',
        b'{"question": "ice", "answer": "\\ud800"}',
        b'{"question": "ice", "\\ud800": 1}',
        b'{"id": "\\udfff"}',
    ):
        assert_problem(client.post("/api/explain", content=body, headers={"Content-Type": "application/json"}), 422)
