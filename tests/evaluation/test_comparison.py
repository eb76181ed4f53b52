"""Runs side by side."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from arcf.errors import InputError, SettingError
from arcf.evaluation import Interval, compare
from arcf.runs.files import Run
from arcf.runs.run import ChosenUids
from arcf.types import Dataset, Fact, Gold, Question

SIZE = 40
UIDS = tuple("abcdefgh")
DATASET = Dataset(
    "tiny",
    tuple(Fact(uid, uid) for uid in UIDS),
    {"dev": tuple(Question(f"Q{number}", "?", gold=(Gold("a"), Gold("b"))) for number in range(SIZE))},
)


def random_run(name: str, seed: int) -> Run:
    generator = np.random.default_rng(seed)
    return Run(name, {f"Q{number}": tuple(generator.permutation(UIDS).tolist()) for number in range(SIZE)})


def test_numbers_agree_with_scipy() -> None:
    runs = [random_run("base", 1), random_run("one", 3), Run("best", {f"Q{n}": UIDS for n in range(SIZE)})]
    result = compare(runs, DATASET, "dev")
    scores = {}
    for run in runs:
        places = [
            sorted((run.rankings[f"Q{n}"].index("a") + 1, run.rankings[f"Q{n}"].index("b") + 1)) for n in range(SIZE)
        ]
        scores[run.name] = np.array([(1 / low + 2 / high) / 2 for low, high in places])
    for row in result.runs:
        assert row.map_all == pytest.approx(scores[row.name].mean())
        assert row.map_official is None
        assert row.interval.low <= row.map_all <= row.interval.high
    assert result.runs[0].difference is None
    one, best = (row.difference for row in result.runs[1:])
    assert one is not None
    assert best is not None
    for difference, name in ((one, "one"), (best, "best")):
        assert difference.map == pytest.approx(scores[name].mean() - scores["base"].mean())
        assert difference.p == pytest.approx(stats.ttest_rel(scores[name], scores["base"]).pvalue)
        assert difference.interval.low <= difference.map <= difference.interval.high
        assert difference.wins + difference.ties + difference.losses == SIZE
        assert difference.wins == np.sum(scores[name] > scores["base"])
    assert best.p_corrected == pytest.approx(2 * best.p)
    assert best.significant
    assert one.p_corrected == one.p
    assert one.significant == (one.p < 0.05)
    assert (best.losses, result.questions_all, result.questions_official) == (0, SIZE, 0)


def test_parts_are_paired() -> None:
    gold = [(Gold("a", "CENTRAL"), Gold("b", "LEXGLUE")), (Gold("a", "CENTRAL"),)]
    questions = tuple(Question(f"Q{number}", "?", gold=gold[number % 2]) for number in range(SIZE))
    dataset = replace(DATASET, splits={"dev": questions})
    worst = Run("worst", {f"Q{n}": UIDS[::-1] for n in range(SIZE)})
    best = Run("best", {f"Q{n}": UIDS for n in range(SIZE)})
    parts = {f"{part.breakdown} {part.name}": part for part in compare([worst, best], dataset, "dev").parts}
    assert {name: part.questions for name, part in parts.items()} == {
        "role CENTRAL": SIZE,
        "role LEXGLUE": SIZE // 2,
        "gold_facts 1": SIZE // 2,
        "gold_facts 2-3": SIZE // 2,
    }
    # Without the other gold fact, b of the worst ranking is at place 7 of 7, and a, where b is gold, as well.
    assert parts["role LEXGLUE"].values == pytest.approx((1 / 7, 1))
    assert parts["role CENTRAL"].values == pytest.approx(((1 / 7 + 1 / 8) / 2, 1))
    (interval,) = parts["gold_facts 1"].intervals
    assert (interval.low, interval.high) == pytest.approx((7 / 8, 7 / 8))


def test_chains_are_compared_where_all_runs_have_them() -> None:
    chains = {f"Q{n}": ChosenUids(("a", "c"), stopped=True) for n in range(SIZE)}
    half = {f"Q{n}": ChosenUids(("a", "b"), stopped=True) for n in range(0, SIZE, 2)}
    runs = [replace(random_run("one", 1), chains=chains), replace(random_run("two", 2), chains=half)]
    part = compare(runs, DATASET, "dev").parts[0]
    assert (part.breakdown, part.name, part.questions, part.values) == ("chains", "F1", SIZE // 2, (0.5, 1.0))
    assert part.intervals == (Interval(0.5, 0.5),)
    assert all(own.breakdown != "chains" for own in compare([runs[0], random_run("none", 3)], DATASET, "dev").parts)


def test_a_run_against_itself() -> None:
    run = random_run("same", 1)
    _, row = compare([run, run], DATASET, "dev").runs
    assert row.difference is not None
    assert (row.difference.map, row.difference.p, row.difference.t, row.difference.ties) == (0, 1, None, SIZE)
    assert (row.difference.interval.low, row.difference.interval.high) == (0, 0)


def test_json_holds_plain_values() -> None:
    record = json.loads(json.dumps(compare([random_run("x", 1), random_run("y", 2)], DATASET, "dev").to_dict()))
    assert [row["name"] for row in record["runs"]] == ["x", "y"]
    assert record["runs"][0]["difference"] is None
    assert set(record["runs"][1]["difference"]["interval"]) == {"low", "high"}


def test_one_run_is_no_comparison() -> None:
    with pytest.raises(SettingError, match="at least two"):
        compare([random_run("x", 1)], DATASET, "dev")


def test_every_run_must_fit() -> None:
    with pytest.raises(InputError, match="'odd' has no question"):
        compare([random_run("x", 1), Run("odd", {"Z": ("a",)})], DATASET, "dev")
