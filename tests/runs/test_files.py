"""Run files: what is written comes back, in every format, and bad files are named by line."""

import copy
import gzip
import json
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcf.data.delimited import unquote
from arcf.errors import InputError, UnknownNameError
from arcf.runs.files import FORMATS, Run, read_run, read_runs, write_run
from arcf.runs.run import ChosenUids
from arcf.runs.scores import strictly_decreasing
from arcf.types import Chosen, Dataset, Fact, Ranking

UIDS = ("a1", "b2", "c3", "d4")
DATASET = Dataset("tiny", tuple(Fact(uid, f"fact {uid}") for uid in UIDS))
Write = Callable[..., Path]
LARGEST = float(np.finfo(np.float32).max)

# No white space, no line structure, no quotation marks around it, and not the brace that marks JSON: ids that every
# format can hold.
ids = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters="{"), min_size=1, max_size=8
).filter(lambda name: unquote(name) == name)
finite = st.floats(allow_nan=False, allow_infinity=False)


def ranking(question: str, facts: list[int], scores: list[float] | None = None) -> Ranking:
    values = scores if scores is not None else [float(-place) for place in range(len(facts))]
    return Ranking(question, np.array(facts, dtype=np.int64), np.array(values, dtype=np.float64))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(content: str | bytes, name: str = "run.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("name", FORMATS)
class TestEveryFormat:
    def test_round_trip(self, name: str, ending: str, tmp_path: Path) -> None:
        path = tmp_path / f"mine.{name}{ending}"
        write_run(path, DATASET, iter([ranking("Q1", [2, 0, 3, 1]), ranking("Q2", [1])]), name)
        run = read_run(path)
        assert run == Run("mine", {"Q1": ("c3", "a1", "d4", "b2"), "Q2": ("b2",)})

    def test_equal_runs_are_equal_files(self, name: str, ending: str, tmp_path: Path) -> None:
        paths = [tmp_path / f"{stem}{ending}" for stem in ("one", "two")]
        for path in paths:
            write_run(path, DATASET, [ranking("Q1", [0, 1])], name)
        assert paths[0].read_bytes() == paths[1].read_bytes()

    def test_a_failing_ranker_leaves_the_older_file(self, name: str, ending: str, tmp_path: Path) -> None:
        def failing() -> Iterator[Ranking]:
            yield ranking("Q1", [0])
            raise RuntimeError("ranker broke")

        path = tmp_path / f"run{ending}"
        path.write_text("older")
        with pytest.raises(RuntimeError, match="ranker broke"):
            write_run(path, DATASET, failing(), name)
        assert path.read_text() == "older"
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(data=st.data())
def test_round_trip_of_any_ranking(name: str, tmp_path: Path, data: st.DataObject) -> None:
    uids = data.draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    dataset = Dataset("any", tuple(Fact(uid, "text") for uid in uids))
    questions = data.draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    expected, rankings = {}, []
    for question in questions:
        facts = data.draw(st.permutations(range(len(uids))))
        scores = sorted(data.draw(st.lists(finite, min_size=len(uids), max_size=len(uids))), reverse=True)
        rankings.append(ranking(question, list(facts), scores))
        expected[question] = tuple(uids[fact] for fact in facts)
    path = tmp_path / "run"
    write_run(path, dataset, rankings, name)
    assert read_run(path).rankings == expected


class TestTextGraphs:
    def test_looks_as_the_task_asks(self, tmp_path: Path) -> None:
        write_run(tmp_path / "predict.txt", DATASET, [ranking("Q1", [2, 0]), ranking("Q2", [])])
        assert (tmp_path / "predict.txt").read_text() == "Q1\tc3\nQ1\ta1\n"

    def test_duplicates_blank_lines_and_windows_endings(self, write: Write) -> None:
        run = read_run(write("\ufeffQ1\ta\r\n\r\nQ2\tx\r\nQ1\tb\r\nQ1\ta\r\nQ1\tc"))
        assert run.rankings == {"Q1": ("a", "b", "c"), "Q2": ("x",)}

    def test_fields_may_be_quoted(self, write: Write) -> None:
        """As the official scorers' reader takes them."""
        run = read_run(write('"Q1"\t"a"\nQ1\tb\n"Q1"\t"a"\n"say ""q"""\tx"y\n'))
        assert run.rankings == {"Q1": ("a", "b"), 'say "q"': ('x"y',)}

    def test_ids_may_hold_spaces(self, write: Write) -> None:
        assert read_run(write("my question\tfact one\n")).rankings == {"my question": ("fact one",)}


def test_a_pipe_is_read_as_a_file() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(b"Q1\ta\nQ1\tb\n")
    try:
        assert read_run(f"/dev/fd/{reading}").rankings == {"Q1": ("a", "b")}
    finally:
        os.close(reading)


class TestTrec:
    def test_looks_as_trec_eval_asks(self, tmp_path: Path) -> None:
        write_run(tmp_path / "run", DATASET, [ranking("Q1", [2, 0], [0.5, 0.25]), ranking("Q2", [1], [3])], "trec")
        lines = ["Q1 Q0 c3 1 0.5 arcf", "Q1 Q0 a1 2 0.25 arcf", "Q2 Q0 b2 1 3 arcf"]
        assert (tmp_path / "run").read_text().splitlines() == lines

    def test_score_decides_then_rank_then_place(self, write: Write) -> None:
        lines = ["Q 0 low 1 1.0 t", "Q 0 tie2 3 5e0 t", "Q 0 tie1 2 5 t", "Q\t0\ttie3  3 5.0 t", "Q 0 top 9 inf t"]
        assert read_run(write("\n".join(lines))).rankings == {"Q": ("top", "tie1", "tie2", "tie3", "low")}

    def test_a_duplicate_keeps_its_best_place(self, write: Write) -> None:
        lines = ["Q Q0 a 3 1 t", "Q Q0 b 2 2 t", "Q Q0 a 1 3 t"]
        assert read_run(write("\n".join(lines))).rankings == {"Q": ("a", "b")}

    def test_written_scores_decrease_although_ours_tie(self, tmp_path: Path) -> None:
        write_run(tmp_path / "run", DATASET, [ranking("Q", [0, 1, 2, 3], [0.5, 0.0, 0.0, 0.0])], "trec")
        scores = [float(line.split()[4]) for line in (tmp_path / "run").read_text().splitlines()]
        assert scores[:2] == [0.5, 0.0]
        assert 0.0 > scores[2] > scores[3] > -1e-11


class TestStrictlyDecreasing:
    @pytest.mark.parametrize(
        "scores",
        [
            [0.0] * 9,
            [-0.0, 0.0, -0.0],
            [1.0] * 9,
            [-1.0] * 9,
            [1e300, 1e300, 1e299, 0.0, -1e299, -1e300, -1e300],
            [-LARGEST] * 9,
            [float("inf")] * 3 + [1.0] + [float("-inf")] * 3,
            [1e-300, 1e-301, 0.0, -1e-301],
            [1.0 + 1e-12, 1.0, 1.0 - 1e-12],
            [16777216.5, 16777216.25, 16777216.0],
            [1e-45, 1e-45],
            [5.0],
            [],
        ],
    )
    def test_hard_cases(self, scores: list[float]) -> None:
        self.check(scores)

    @given(st.lists(st.one_of(finite, st.sampled_from([0.0, 1.0, -1.0, 2.0**-40])), max_size=30))
    def test_any_scores(self, scores: list[float]) -> None:
        self.check(sorted(scores, reverse=True))

    def check(self, scores: list[float]) -> None:
        adjusted = strictly_decreasing(np.array(scores, dtype=np.float64))
        printed = [float(f"{value:.9g}") for value in adjusted.tolist()]
        assert np.isfinite(adjusted).all()
        assert all(first > second for first, second in pairwise(printed))
        single = np.array(printed, dtype=np.float32)
        assert (np.diff(single) < 0).all()

    @given(st.lists(st.integers(-1000, 1000), unique=True, max_size=30))
    def test_scores_that_decrease_already_stay(self, scores: list[int]) -> None:
        ordered = sorted(scores, reverse=True)
        assert strictly_decreasing(np.array(ordered, dtype=np.float64)).tolist() == ordered

    def test_a_tie_moves_by_one_float(self) -> None:
        adjusted = strictly_decreasing(np.array([1.0, 1.0, 0.5]))
        assert adjusted.tolist() == [1.0, float(np.nextafter(np.float32(1), np.float32(0))), 0.5]


class TestJson:
    def test_chains_and_scores_are_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        chain = replace(ranking("Q1", [1, 0], [2.0, 0.5]), chosen=Chosen((1,), True, (0.75,)))
        write_run(path, DATASET, [chain, ranking("Q2", [0], [1.5])], "json")
        run = read_run(path)
        uids = [fact.uid for fact in DATASET.facts]
        assert run.chains == {"Q1": ChosenUids((uids[1],), True, (0.75,))}
        assert {name: scores.tolist() for name, scores in run.scores.items()} == {"Q1": [2.0, 0.5], "Q2": [1.5]}
        assert Run.of("run", DATASET, [chain]).chains == run.chains

    def test_files_without_scores_or_chains_are_read(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        entries = [
            {"question": "Q1", "facts": ["a", "b", "a"], "scores": [3, 2, 1]},
            {"question": "Q2", "facts": ["a"]},
        ]
        path.write_text(json.dumps({"rankings": entries}))
        run = read_run(path)
        assert run.rankings == {"Q1": ("a", "b"), "Q2": ("a",)}
        assert {name: scores.tolist() for name, scores in run.scores.items()} == {"Q1": [3.0, 2.0]}
        assert run.chains == {}

    @pytest.mark.parametrize("chain", ['"a"', '["a", 1]', '["a"]'])
    def test_a_broken_chain(self, tmp_path: Path, chain: str) -> None:
        path = tmp_path / "run.json"
        path.write_text(f'{{"rankings": [{{"question": "Q1", "facts": ["a"], "chain": {chain}}}]}}')
        with pytest.raises(InputError, match="entry 1 of 'rankings' has a 'chain'"):
            read_run(path)

    @pytest.mark.parametrize("confidences", ["[0.5, 0.5]", "[1.5]", "[true]", "0.5", "[NaN]"])
    def test_broken_confidences(self, tmp_path: Path, confidences: str) -> None:
        path = tmp_path / "run.json"
        entry = f'{{"question": "Q1", "facts": ["a"], "chain": ["a"], "stopped": true, "confidences": {confidences}}}'
        path.write_text(f'{{"rankings": [{entry}]}}')
        with pytest.raises(InputError, match="entry 1 of 'rankings' needs a number from 0 to 1 for each fact"):
            read_run(path)

    def test_is_one_json_object_with_scores(self, tmp_path: Path) -> None:
        write_run(tmp_path / "run.json", DATASET, [ranking("Q1", [2, 0], [0.5, -np.inf]), ranking("Q2", [])], "json")
        record = json.loads((tmp_path / "run.json").read_text())
        assert (record["format"], record["version"], record["dataset"]) == ("arcf-run", 1, "tiny")
        assert record["rankings"][0]["facts"] == ["c3", "a1"]
        assert record["rankings"][0]["scores"] == [0.5, pytest.approx(-LARGEST)]
        assert record["rankings"][1] == {"question": "Q2", "facts": [], "scores": []}

    def test_quotes_ids(self, tmp_path: Path) -> None:
        dataset = Dataset("odd", (Fact('a "b"\t\n', "text"),))
        write_run(tmp_path / "run.json", dataset, [ranking("Q\t1", [0])], "json")
        assert read_run(tmp_path / "run.json").rankings == {"Q\t1": ('a "b"\t\n',)}


class TestBadFiles:
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", r"run.txt: is empty"),
            (b"\n \n", r"run.txt: is empty"),
            (b"Q1 a\n", r"run.txt:1: has 2 column"),
            (b"\n\njust some words\n", r"run.txt:3: has 3 column"),
            (b"Q1\ta\nQ1\ta\tb\n", r"run.txt:2: has 3 column"),
            (b"Q1\ta\nQ1\n", r"run.txt:2: has 1 column"),
            (b"Q1\ta\nQ1\t\n", r"run.txt:2: has an empty column"),
            (b"Q1\ta\n\ta\n\tb\n", r"run.txt:3: has an empty column"),
            (b"Q1\ta\nQ1\t\xff\n", r"run.txt:2: is not UTF-8"),
            (b"Q1\ta\nQ\xe9\ta\n", r"run.txt:2: is not UTF-8"),
            (b"Q Q0 a 1 2.0 t\nQ Q0 b 2 1.0\n", r"run.txt:2: has 5 column"),
            (b"Q Q0 a 1 2.0 t\nQ Q0 b 2 one t\n", r"run.txt:2: has rank '2' and score 'one'"),
            (b"Q Q0 a first 2.0 t\n", r"run.txt:1: has rank 'first'"),
            (b"Q Q0 a 99999999999999999999 2.0 t\n", r"run.txt:1: has rank '9+'"),
            (b"Q Q0 a 1 nan t\nQ Q0 b 2 1 t\n", r"run.txt: has a score for question 'Q'"),
            (b"Q Q0 a 1 2.0 t\nQ Q0 \xff 2 1 t\n", r"run.txt:2: is not UTF-8"),
            (b'{"rankings": [\n{"question": }]}', r"run.txt:2: is broken JSON"),
            (b'{"rankings": {}}', r"run.txt: is JSON without a list 'rankings'"),
            (b'{"rankings": []}', r"run.txt: holds no ranking"),
            (b'{"rankings": [{"question": "Q", "facts": []}, {"question": "Q", "facts": [1]}]}', r"entry 2"),
            (b'{"rankings": [7]}', r"entry 1 of 'rankings'"),
            (b'{"a":\n"\xff"}', r"run.txt:2: is not UTF-8"),
            (b'{"a":' + b"[" * 200_000, r"run.txt: is JSON nested too deeply"),
        ],
    )
    def test_says_where_and_what(self, write: Write, content: bytes, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_run(write(content))

    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            read_run(tmp_path / "none.txt")

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            read_run(tmp_path)

    @pytest.mark.parametrize("content", [b"Q1\ta\n", gzip.compress(b"Q1\ta\n" * 1000, mtime=0)[:-20], b""])
    def test_broken_gzip(self, write: Write, content: bytes) -> None:
        with pytest.raises(InputError, match=r"run.txt.gz: (cannot be read|is empty)"):
            read_run(write(content, "run.txt.gz"))

    @pytest.mark.parametrize(("name", "uid"), [("trec", "a b"), ("textgraphs", "a\tb"), ("trec", ""), ("trec", "\n")])
    def test_ids_that_a_format_cannot_hold(self, tmp_path: Path, name: str, uid: str) -> None:
        dataset = Dataset("odd", (Fact(uid, "text"),))
        with pytest.raises(InputError, match="cannot hold the id"):
            write_run(tmp_path / "run", dataset, [ranking("Q", [0])], name)
        assert list(tmp_path.iterdir()) == []

    def test_unknown_format(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownNameError, match="run format"):
            write_run(tmp_path / "run", DATASET, [], "xml")


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    paths = [tmp_path / "one" / "predict.txt", tmp_path / "two" / "predict.txt", tmp_path / "other.txt"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        write_run(path, DATASET, [ranking("Q", [0])])
    assert [run.name for run in read_runs(paths)] == [str(paths[0]), str(paths[1]), "other"]


@pytest.mark.parametrize("name", ['"a1"', '""', '"say ""a"""'])
def test_textgraphs_loses_quotation_marks(tmp_path: Path, name: str) -> None:
    dataset = Dataset("quoted", (Fact(name, "text"),))
    for own, asked in ((dataset, "Q1"), (DATASET, name)):
        with pytest.raises(InputError, match=r"The textgraphs format cannot hold the id .*; write the run as json"):
            write_run(tmp_path / "run", own, [ranking(asked, [0])])
    write_run(tmp_path / "run", dataset, [ranking(name, [0])], "json")
    assert read_run(tmp_path / "run").rankings == {name: (name,)}


@pytest.mark.parametrize("name", ["json", "trec"])
def test_a_score_that_is_no_number_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="ranking of question 'Q7' has a score that is not a number"):
        write_run(tmp_path / "run", DATASET, [ranking("Q7", [0, 1], [1.0, float("nan")])], name)
    assert not (tmp_path / "run").exists()


def test_a_run_travels() -> None:
    run = Run("mine", {"Q1": ("a1",)}, {"Q1": np.array([1.0])}, {"Q1": ChosenUids(("a1",), True)})
    for copied in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):  # noqa: S301
        assert copied == run
        assert copied.scores["Q1"].tolist() == [1.0]
