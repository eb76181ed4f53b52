import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.data import load
from arcf.data.facts import FORMATS
from arcf.errors import InputError
from arcf.types import Fact


def facts_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"uid": "f1", "text": "moss is green", "table": "PROP", "core": "moss green"}',
        "",
        '{"text": " herons \\n wade "}',
        '{"id": 7, "text": "rain falls", "other": [1]}',
    ]
    dataset = load(facts_file(tmp_path, "mine.jsonl", "\n".join(lines)))
    assert dataset.name == "mine"
    assert dataset.splits == {}
    assert dataset.facts == (
        Fact("f1", "moss is green", "PROP", "moss green"),
        Fact("line-3", "herons wade"),
        Fact("7", "rain falls"),
    )


def test_csv(tmp_path: Path) -> None:
    text = 'ID,Text,table\n1,"salt, dissolved",A\n\n2,"two\nlines",\n'
    expected = (Fact("1", "salt, dissolved", "A"), Fact("2", "two lines"))
    assert load(facts_file(tmp_path, "f.csv", text)).facts == expected


def test_tsv(tmp_path: Path) -> None:
    text = "core\ttext\r\nmoss green\tmoss is green\r\n\tsalt, dissolved\r\n"
    expected = (Fact("line-2", "moss is green", "", "moss green"), Fact("line-3", "salt, dissolved"))
    assert load(facts_file(tmp_path, "f.tsv", text)).facts == expected


def test_plain_text(tmp_path: Path) -> None:
    text = "\ufeffmoss is green\n\n  herons wade\r\n"
    assert load(facts_file(tmp_path, "f.txt", text)).facts == (
        Fact("line-1", "moss is green"),
        Fact("line-3", "herons wade"),
    )


NAMELESS = {
    "plain text": ("moss is green\n\nherons wade\n", ["line-1", "line-3"]),
    "json lines": ('\n {"uid": "a", "text": "moss is green"}\n{"text": "herons wade"}\n', ["a", "line-3"]),
}


@pytest.mark.parametrize(("text", "uids"), NAMELESS.values(), ids=NAMELESS)
def test_a_pipe_is_read_once_and_told_by_its_first_character(text: str, uids: list[str]) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, text.encode())
        os.close(writing)
        dataset = load(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    assert [(fact.uid, fact.text) for fact in dataset.facts] == list(
        zip(uids, ("moss is green", "herons wade"), strict=True)
    )
    assert dataset.name == str(reading)


@pytest.mark.parametrize(("text", "uids"), NAMELESS.values(), ids=NAMELESS)
def test_so_is_a_file_without_ending(tmp_path: Path, text: str, uids: list[str]) -> None:
    assert [fact.uid for fact in load(facts_file(tmp_path, "notes", text)).facts] == uids


def test_a_named_pipe_has_the_format_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    os.mkfifo(path)
    Thread(target=path.write_text, args=["uid,text\n1,moss is green\n"], daemon=True).start()
    dataset = load(path)
    assert (dataset.name, dataset.facts) == ("f", (Fact("1", "moss is green"),))


def test_a_repeated_fact_counts_once(tmp_path: Path) -> None:
    text = "uid,text\n1,moss is green\n2,herons wade\n1,moss  is green\n"
    assert [fact.uid for fact in load(facts_file(tmp_path, "f.csv", text)).facts] == ["1", "2"]


def test_a_uid_with_two_texts_names_both_lines(tmp_path: Path) -> None:
    text = "uid,text\n1,moss is green\n\n1,moss is grey\n"
    with pytest.raises(InputError, match=r"f\.csv:4: uid '1' already stands for another text in line 2; make"):
        load(facts_file(tmp_path, "f.csv", text))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_corpus_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    with pytest.raises(InputError, match=rf"f\{suffix}: holds no facts; there must be at least one\.$"):
        load(facts_file(tmp_path, f"f{suffix}", text))


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("f.csv", "uid,sentence\n1,moss\n", r"f\.csv:1: has no column 'text'; it has 'uid', 'sentence'"),
        ("f.csv", "uid;text\n1;moss\n", r"f\.csv:1: is separated by semicolons, not by commas; save it with commas\.$"),
        ("f.tsv", "uid\ttext\n1\t\n", r"f\.tsv:2: has no 'text'"),
        ("f.jsonl", '{"uid": "1"}', r"f\.jsonl:1: has no 'text'"),
        ("f.jsonl", '{"text": "ok"}\n{"text": 3.5}', r"f\.jsonl:2: 'text' should be text, found 3\.5"),
        ("f.jsonl", '{"text": "ok"}\nmoss', r"f\.jsonl:2: is not JSON"),
        ("f.pdf", "x", r"f\.pdf: is no facts file; its name should end in one of \.jsonl, \.csv, \.tsv, \.txt"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load(facts_file(tmp_path, name, text))


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    path.write_bytes("moss\ncafé".encode("latin-1"))
    with pytest.raises(InputError, match=r"f\.txt:2: is not UTF-8"):
        load(path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: " ".join(text.split())).filter(bool)
CORPORA = st.lists(st.builds(Fact, uid=TEXTS, text=TEXTS, table=TEXTS | st.just(""), core=TEXTS), min_size=1)


@given(CORPORA.filter(lambda facts: len({fact.uid.lower() for fact in facts}) == len(facts)), st.booleans())
def test_json_lines_round_trip_in_any_script(facts: list[Fact], ascii_only: bool) -> None:
    lines = (
        json.dumps(
            {"uid": fact.uid, "text": fact.text, "table": fact.table, "core": fact.core}, ensure_ascii=ascii_only
        )
        for fact in facts
    )
    with TemporaryDirectory() as folder:
        assert load(facts_file(Path(folder), "f.jsonl", "\n".join(lines))).facts == tuple(facts)
