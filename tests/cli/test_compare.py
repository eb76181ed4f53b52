import json
from collections.abc import Callable
from pathlib import Path

import pytest

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

SIZE = 30


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of four facts and many questions, all explained by the fact f1."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    facts = [{"uid": f"f{number}", "text": f"fact {number}"} for number in range(1, 5)]
    questions = [{"id": f"q{number}", "stem": "Why?", "split": "dev", "gold": ["f1"]} for number in range(SIZE)]
    for name, records in (("facts", facts), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Callable[[int], int]], Path]:
    """Writes a run that ranks the gold fact of question n at place(n), and returns it."""

    def make(name: str, place: Callable[[int], int]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        others = ["f2", "f3", "f4"]
        with path.open("w") as file:
            for number in range(SIZE):
                ranking = [*others[: place(number) - 1], "f1", *others[place(number) - 1 :]]
                file.writelines(f"q{number}\t{uid}\n" for uid in ranking)
        return path

    return make


Write = Callable[[str, Callable[[int], int]], Path]


def test_a_sample_is_compared_without_the_questions_that_nobody_ranked(
    arcf: Arcf, tmp_path: Path, capsys: Capture
) -> None:
    sample = ("--split", "dev", "--questions", "3")
    runs = [tmp_path / f"{ranker}.txt" for ranker in ("tfidf", "bm25")]
    for run in runs:
        assert arcf("rank", *sample, "--ranker", run.stem, "--output", run) == 0
    capsys.readouterr()
    assert arcf("compare", *runs, *sample, "--json") == 0
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    assert record["questions_all"] == 3
    assert record["runs"][0]["map_all"] > 0.1
    assert "warning" not in printed.err


def test_json(arcf: Arcf, corpus: Path, write: Write, capsys: Capture) -> None:
    runs = [
        write("base.txt", lambda n: 2 + n % 3),
        write("same.txt", lambda n: 2 + n % 3),
        write("best.txt", lambda _: 1),
    ]
    assert arcf("compare", *runs, "--dataset", corpus, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    base, same, best = record["runs"]
    assert (record["questions_all"], record["questions_official"], base["name"]) == (SIZE, 0, "base")
    assert base["map_all"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert base["difference"] is None
    assert (same["difference"]["ties"], same["difference"]["p"], same["difference"]["significant"]) == (SIZE, 1, False)
    assert (best["map_all"], best["difference"]["wins"], best["difference"]["significant"]) == (1, SIZE, True)


def test_table(arcf: Arcf, corpus: Path, write: Write, capsys: Capture) -> None:
    runs = [write("a/run.txt", lambda n: 2 + n % 3), write("b/run.txt", lambda _: 1)]
    assert arcf("compare", *runs, "--dataset", corpus) == 0
    output = capsys.readouterr().out
    for words in ("corpus, dev: 30 questions", "+0.6389", "<0.0001", "*", "30/0/0", "official MAP"):
        assert words in output


def test_parts(arcf: Arcf, corpus: Path, write: Write, capsys: Capture) -> None:
    runs = [write("base.txt", lambda n: 2 + n % 3), write("best.txt", lambda _: 1)]
    assert arcf("compare", *runs, "--dataset", corpus, "--hops", 2) == 0
    output = capsys.readouterr().out
    assert "gold_facts 1\t30\t0.3611\t1.0000\t+0.6389" in output
    assert "hops" in output
    assert arcf("compare", *runs, "--dataset", corpus, "--json") == 0
    assert json.loads(capsys.readouterr().out)["parts"][0]["values"] == [pytest.approx(0.36111, abs=1e-5), 1]


def test_one_run(arcf: Arcf, corpus: Path, write: Write, capsys: Capture) -> None:
    assert arcf("compare", write("one.txt", lambda _: 1), "--dataset", corpus) == 2
    assert capsys.readouterr().err == "error: A comparison needs at least two runs; name the baseline first.\n"


def test_bad_run(arcf: Arcf, corpus: Path, write: Write, tmp_path: Path, capsys: Capture) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("q1\tf1\textra\tcolumns\n")
    assert arcf("compare", write("one.txt", lambda _: 1), bad, "--dataset", corpus) == 2
    assert "bad.txt:1: has 4 column(s)" in capsys.readouterr().err
    bad.write_text("other\tf1\n")
    assert arcf("compare", write("one.txt", lambda _: 1), bad, "--dataset", corpus) == 2
    assert "The run 'bad' has no question of the split 'dev' of corpus" in capsys.readouterr().err
