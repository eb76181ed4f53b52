import json
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import load
from arcf.errors import ArcfWarning, InputError, UnknownNameError
from arcf.types import Gold, Option, Question


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "my.corpus"
    folder.mkdir()
    (folder / "facts.txt").write_text("moss is green\nherons wade\n")
    return folder


def ask(folder: Path, *questions: dict[str, object], name: str = "questions.jsonl") -> Path:
    (folder / name).write_text("\n".join(json.dumps(question) for question in questions), encoding="utf-8")
    return folder


def test_facts_alone(corpus: Path) -> None:
    dataset = load(corpus)
    assert dataset.name == "my.corpus"
    assert [fact.text for fact in dataset.facts] == ["moss is green", "herons wade"]
    assert dataset.splits == {}


def test_a_full_question(corpus: Path) -> None:
    fields: dict[str, object] = {
        "id": "q1",
        "stem": "What  wades?",
        "options": {"A": "moss", "B": "a heron"},
        "answer": "B",
        "difficulty": "Easy",
        "split": "dev",
        "gold": [{"uid": "line-2", "role": "CENTRAL"}, "line-1"],
        "flags": "SUCCESS",
    }
    (question,) = load(ask(corpus, fields)).split("dev")
    assert question == Question(
        id="q1",
        stem="What wades?",
        options=(Option("A", "moss"), Option("B", "a heron")),
        answer="a heron",
        difficulty="Easy",
        gold=(Gold("line-2", "CENTRAL"), Gold("line-1")),
        flags="SUCCESS",
    )


def test_the_least_of_a_question(corpus: Path) -> None:
    dataset = load(ask(corpus, {"question": "What wades?"}))
    assert dataset.splits == {"test": (Question(id="test-1", stem="What wades?"),)}


@pytest.mark.parametrize(
    ("options", "answer", "meant"),
    [
        (["moss", "a heron"], "B", "a heron"),
        (["moss", "a heron"], "b", "a heron"),
        (["moss", "a heron"], "A  Heron", "a heron"),
        ({"A": "B", "B": "A"}, "A", "B"),
        ({"1": "moss", "2": "a heron"}, 2, "a heron"),
        (["10", "20"], 20, "20"),
        ({}, "anything", "anything"),
        (["moss"], "", ""),
        (["moss"] * 26 + ["rain"], "27", "rain"),
    ],
)
def test_answers_are_labels_or_texts(corpus: Path, options: object, answer: object, meant: str) -> None:
    (question,) = load(ask(corpus, {"stem": "?", "options": options, "answer": answer})).split("test")
    assert question.answer == meant


def test_splits_by_file_and_by_field(corpus: Path) -> None:
    ask(corpus, {"stem": "a", "split": "train"}, {"stem": "b"})
    ask(corpus, {"stem": "c"}, {"stem": "d", "split": "dev"}, name="questions.dev.jsonl")
    dataset = load(corpus)
    stems = {split: [question.stem for question in questions] for split, questions in dataset.splits.items()}
    assert stems == {"train": ["a"], "test": ["b"], "dev": ["c", "d"]}


def test_an_unknown_split_lists_the_known_ones(corpus: Path) -> None:
    dataset = load(ask(corpus, {"stem": "a", "split": "train"}, {"stem": "b"}))
    with pytest.raises(UnknownNameError, match=r"no split of my\.corpus named 'tests'; choose one of: test, train\."):
        dataset.split("tests")


def test_gold_of_no_fact_is_kept_with_one_warning(corpus: Path) -> None:
    ask(corpus, {"stem": "a", "gold": ["nowhere", "line-1"]}, {"stem": "b", "gold": ["nowhere", 12, "x", "y"]})
    with pytest.warns(
        ArcfWarning, match=r"my\.corpus: 4 gold uids belong to no fact \(12, nowhere, x, \.\.\.\)"
    ) as caught:
        dataset = load(corpus)
    assert len(caught) == 1
    assert dataset.split("test")[0].gold == (Gold("nowhere"), Gold("line-1"))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"id": "q"}, "has no 'stem' or 'question'"),
        ({"stem": "?", "options": "A"}, "'options' should be an object"),
        ({"stem": "?", "options": [["x"]]}, "option 'A' should be text"),
        ({"stem": "?", "options": ["x"], "answer": "y"}, "answer 'y' is neither the label nor the text of an option"),
        ({"stem": "?", "gold": "line-1"}, "'gold' should be a list"),
        ({"stem": "?", "gold": [{"role": "CENTRAL"}]}, "has no 'uid'"),
        ({"stem": "?", "gold": [None]}, "a gold uid should be text, found null"),
    ],
)
def test_bad_questions_are_named_with_their_line(corpus: Path, fields: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=rf"questions\.jsonl:2: {complaint}"):
        load(ask(corpus, {"stem": "fine"}, fields))


def test_a_question_in_the_wrong_file(corpus: Path) -> None:
    ask(corpus, {"stem": "?", "split": "dev"}, name="questions.train.jsonl")
    with pytest.raises(InputError, match=r"questions\.train\.jsonl:1: is of split 'dev' in the file of split 'train'"):
        load(corpus)


def test_a_repeated_question_id_names_both_places(corpus: Path) -> None:
    ask(corpus, {"id": "q", "stem": "a"})
    ask(corpus, {"stem": "b"}, {"id": "q", "stem": "c"}, name="questions.dev.jsonl")
    with pytest.raises(
        InputError, match=r"questions\.dev\.jsonl:2: repeats the question id 'q' of .*questions\.jsonl:1\."
    ):
        load(corpus)


def test_two_files_of_facts_are_refused(corpus: Path) -> None:
    (corpus / "facts.csv").write_text("text\nmoss\n")
    with pytest.raises(InputError, match=r"holds facts\.csv and facts\.txt; keep one"):
        load(corpus)


def test_packed(corpus: Path, pack: Callable[..., Path], tmp_path: Path) -> None:
    ask(corpus, {"stem": "a", "gold": ["line-1"]})
    packed = load(pack(corpus, tmp_path / "packed.zip", "inner/"))
    assert packed.name == "packed"
    assert packed.facts == load(corpus).facts
    assert packed.splits == load(corpus).splits


def test_the_packaged_corpus_reads_without_a_warning() -> None:
    dataset = load()
    assert dataset.name == "science"
    assert dataset.facts
    assert all(question.gold and question.answer for split in dataset.splits.values() for question in split)


def test_names_that_differ_in_case_alone_are_pointed_out(corpus: Path) -> None:
    """Scorers lower-case all ids."""
    (corpus / "facts.txt").unlink()
    (corpus / "facts.jsonl").write_text('{"id": "a1", "text": "moss is green"}\n{"id": "A1", "text": "herons wade"}\n')
    ask(corpus, *({"id": name, "question": "What wades?"} for name in ("q1", "Q1", "q2")))
    with pytest.warns(ArcfWarning) as said:
        load(corpus)
    assert [str(warning.message).partition(": ")[2] for warning in said] == [
        "uids of facts that differ in case alone, such as a1 and A1, are one to every score.",
        "ids of questions that differ in case alone, such as q1 and Q1, are one to every score.",
    ]


def test_gold_that_is_repeated_is_found_once(corpus: Path) -> None:
    repeated = ["line-2", {"uid": "line-2", "role": "CENTRAL"}, "line-1"]
    (question,) = load(ask(corpus, {"question": "What wades?", "gold": repeated})).split("test")
    assert question.gold == (Gold("line-2"), Gold("line-1"))


@pytest.mark.parametrize(
    "name", ["questions.csv", "questions.dev.csv", "questions.tsv", "questions.txt", "questions.json"]
)
def test_questions_that_are_not_read_are_pointed_out(corpus: Path, name: str) -> None:
    (corpus / name).write_text("question\nWhat wades?\n")
    with pytest.warns(ArcfWarning, match=f"{name} is not read: questions of a corpus are JSON lines"):
        assert load(corpus).splits == {}


def test_a_folder_that_cannot_be_looked_into(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "glob", denied)
    with pytest.raises(InputError, match=r"my\.corpus: cannot be read \(Permission denied\)"):
        load(corpus)


def test_lines_that_end_as_on_old_macs(corpus: Path) -> None:
    (corpus / "facts.txt").write_bytes(b"moss is green\rherons wade\r")
    assert [fact.text for fact in load(corpus).facts] == ["moss is green", "herons wade"]
