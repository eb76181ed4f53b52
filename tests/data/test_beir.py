import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load
from arcf.errors import ArcfWarning, InputError
from arcf.types import Fact, Gold, Question

DOCUMENTS = [
    {"_id": "d1", "title": "Moss", "text": "It is green."},
    {"_id": "d2", "title": "", "text": "Herons wade.", "metadata": {}},
    {"_id": "d3", "title": "", "text": ""},
]
QUERIES = [{"_id": "q1", "text": "what wades"}, {"_id": "q2", "text": "what is green"}]


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "wetland"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, QUERIES)))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t2\nq2\td2\t0\nq1\td2\t1\n")
    (folder / "qrels" / "dev.tsv").write_text("q1\td2\t1\nq2\td2\t0\n")
    return folder


EXPECTED = {
    "dev": (Question("q1", "what wades", gold=(Gold("d2"),)), Question("q2", "what is green")),
    "test": (Question("q2", "what is green", gold=(Gold("d1"),)), Question("q1", "what wades", gold=(Gold("d2"),))),
}


def test_documents_queries_and_judgements(beir: Path) -> None:
    dataset = load(beir)
    assert dataset.facts == (Fact("d1", "Moss It is green."), Fact("d2", "Herons wade."))
    assert dataset.splits == EXPECTED


def test_packed_in_a_folder_as_beir_distributes_it(beir: Path, pack: Callable[..., Path], tmp_path: Path) -> None:
    assert load(pack(beir, tmp_path / "wetland.zip", "wetland/")).splits == EXPECTED


def test_without_judgements_all_queries_are_the_test_split(beir: Path) -> None:
    for path in (beir / "qrels").iterdir():
        path.unlink()
    assert [question.id for question in load(beir).split("test")] == ["q1", "q2"]
    (beir / "queries.jsonl").unlink()
    assert load(beir).splits == {}


def test_a_repeated_judgement_counts_once(beir: Path) -> None:
    (beir / "qrels" / "dev.tsv").write_text("q1\td2\t1\nq1\td2\t1\n")
    assert load(beir).split("dev")[0].gold == (Gold("d2"),)


def test_unknown_queries_are_left_out_with_a_warning(beir: Path) -> None:
    (beir / "qrels" / "dev.tsv").write_text("q9\td1\t1\n")
    with pytest.warns(ArcfWarning, match=r"1 queries of qrels/dev\.tsv are not in queries\.jsonl \(q9"):
        assert load(beir).split("dev") == ()


def test_unknown_documents_are_kept_with_a_warning(beir: Path) -> None:
    (beir / "qrels" / "dev.tsv").write_text("q1\td3\t1\n")
    with pytest.warns(ArcfWarning, match=r"1 gold uids belong to no fact \(d3\)"):
        assert load(beir).split("dev")[0].gold == (Gold("d3"),)


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("qrels/dev.tsv", "q1\td1\t1\nq1\td2\thigh\n", r"qrels/dev\.tsv:2: should be query id, document id"),
        ("qrels/dev.tsv", "q1 0 d1 1\n", r"qrels/dev\.tsv:1: should be query id, document id"),
        ("corpus.jsonl", '{"text": "x"}', r"corpus\.jsonl:1: has no '_id'"),
        ("corpus.jsonl", '{"_id": 1, "text": "x"}\n{"_id": "1"}', r"corpus\.jsonl:2: repeats the _id '1' of line 1"),
        ("corpus.jsonl", "", "holds no facts"),
        ("queries.jsonl", '{"_id": "q1"}', r"queries\.jsonl:1: has no 'text'"),
        (
            "queries.jsonl",
            '{"_id": "q1", "text": "a"}\n{"_id": "q1", "text": "b"}',
            r"queries\.jsonl:2: has the _id 'q1' of an earlier query",
        ),
    ],
)
def test_bad_files(beir: Path, file: str, text: str, complaint: str) -> None:
    (beir / file).write_text(text)
    with pytest.raises(InputError, match=complaint):
        load(beir)


def test_grades_may_have_a_point(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t2.0\nq2\td2\t0.0\nq1\td2\t1\n")
    assert load(beir).splits == EXPECTED
