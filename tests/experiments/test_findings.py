"""Which of the paper's findings hold, by figures that are made up."""

from dataclasses import fields, replace
from typing import Any, get_args

import pytest

pytest.importorskip("torch")

from arcf.evaluation.plots import Panel
from arcf.experiments import paper
from arcf.experiments.findings import FINDINGS, Results, Verdict, findings
from arcf.experiments.measured import Measured
from arcf.experiments.seeds import SeedTest

#: A cell of which nothing is known.
NOTHING: dict[str, Any] = dict.fromkeys(field.name for field in fields(Measured))
CELL = Measured(**NOTHING | {"table": "", "name": "", "dataset": "science", "timed": False, "questions": 200})
BASELINES = "ARCF is above all baselines on science"


def compared(table: str, name: str, low: float, high: float) -> Measured:
    middle = (low + high) / 2
    return replace(
        CELL, table=table, name=name, difference=middle, difference_interval=(low, high), paper_difference=-0.05
    )


def verdicts(*cells: Measured, tests: tuple[SeedTest, ...] = (), panels: tuple[Panel, ...] = ()) -> dict[str, str]:
    return {found.claim: found.verdict for found in findings(Results(cells, tests, panels))}


def everything() -> Results:
    """Results that say something to every rule."""
    names = {"table-2a": paper.MAIN, "table-2b": [*paper.ABLATIONS, "ARCF, random weights"]}
    cells = [replace(compared(table, name, -0.1, 0.1), map_all=0.4) for table, own in names.items() for name in own]
    for table, setting, theirs in (("table-2d", "k", paper.BY_K), ("table-2e", "L", paper.BY_L)):
        cells += [
            replace(compared(table, f"{setting} = {value}", -0.1, 0.1), timed=True, seconds=0.5, seconds_exact=seconds)
            for value, (_, seconds) in theirs.items()
        ]
    bars = dict.fromkeys(("CENTRAL", "GROUNDING", "LEXGLUE"), 0.5)
    panel = Panel("role", "MAP", tuple(bars), {"a": bars, "b": bars}, dict.fromkeys(bars, 9))
    test = SeedTest("ARCF, RankNet", "Single fact", (0.5, 0.4), (0.01, 0.01), (2, 2), 0.01)
    return Results(cells, (test,), (panel,))


@pytest.mark.parametrize("name", FINDINGS)
def test_every_rule_says_something_of_all_results_and_nothing_of_none(name: str) -> None:
    assert list(FINDINGS[name](Results(()))) == []
    assert list(FINDINGS[name](Results([replace(CELL, table=f"table-2{letter}") for letter in "abde"]))) == []
    found = list(FINDINGS[name](everything()))
    assert found
    assert all(one.claim and one.evidence and one.verdict in get_args(Verdict) for one in found)


@pytest.mark.parametrize(
    ("last", "verdict"),
    [((-0.03, -0.01), "holds"), ((-0.03, 0.01), "not settled"), ((0.01, 0.02), "does not hold")],
)
def test_all_baselines_must_be_below(last: tuple[float, float], verdict: str) -> None:
    others = [compared("table-2a", name, -0.2, -0.1) for name in ("TF-IDF", "Single fact", "Path re-rank")]
    assert verdicts(*others, compared("table-2a", "Ensemble", *last)) == {BASELINES: verdict}


def test_what_is_missing_settles_nothing_but_a_contradiction() -> None:
    (found,) = findings(Results([compared("table-2a", "TF-IDF", -0.2, -0.1)]))
    assert found.verdict == "not settled"
    assert found.evidence == (
        "TF-IDF -0.1500 (-0.2000 to -0.1000, the paper -0.0500); missing: Single fact, Path re-rank, Ensemble"
    )
    assert verdicts(compared("table-2a", "TF-IDF", 0.1, 0.2)) == {BASELINES: "does not hold"}


@pytest.mark.parametrize("questions", [1, 29, None])
def test_few_questions_settle_nothing(questions: int | None) -> None:
    cell = replace(compared("table-2b", "ARCF, SF inf", -0.1, -0.1), questions=questions)
    assert verdicts(cell) == {"A single pass is worse than chains": "not settled"}
    assert verdicts(replace(cell, questions=30)) == {"A single pass is worse than chains": "holds"}


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((-0.02, 0.019), "holds"),
        ((-0.015, -0.005), "holds"),
        ((-0.03, 0.01), "not settled"),
        ((-0.05, -0.021), "does not hold"),
        ((0.021, 0.03), "does not hold"),
    ],
)
def test_level_systems_are_within_the_margin(interval: tuple[float, float], verdict: str) -> None:
    others = [compared("table-2a", name, 0.0, 0.01) for name in ("ARCF, RankNet, CN", "ARCF, NCE, CN")]
    found = verdicts(*others, compared("table-2a", "ARCF, NCE", *interval))
    assert found == {"Losses and CN differ from RankNet by at most 0.02 on science": verdict}


def test_datasets_are_judged_apart() -> None:
    first = [compared("table-2a", name, -0.2, -0.1) for name in ("TF-IDF", "Single fact", "Path re-rank", "Ensemble")]
    second = [replace(cell, dataset="other", difference_interval=(-0.1, 0.1)) for cell in first]
    assert verdicts(*first, *second) == {BASELINES: "holds", "ARCF is above all baselines on other": "not settled"}


@pytest.mark.parametrize(
    ("name", "interval", "verdict"),
    [
        ("ARCF, bXENT", (-0.015, -0.001), "holds"),
        ("ARCF, bXENT", (-0.3, -0.2), "does not hold"),
        ("ARCF, bXENT", (-0.01, 0.01), "not settled"),
        ("ARCF, SF train", (-0.1, -0.05), "holds"),
        ("ARCF, SF train", (-0.003, -0.001), "does not hold"),
        ("ARCF, without R3", (-0.0001, 0.0), "holds"),
        ("ARCF, without R3 and S2", (-0.0001, 0.0), "does not hold"),
        ("ARCF, without R3 and S2", (-0.08, -0.07), "holds"),
    ],
)
def test_ablations(name: str, interval: tuple[float, float], verdict: str) -> None:
    assert list(verdicts(compared("table-2b", name, *interval)).values()) == [verdict]


@pytest.mark.parametrize(("half", "verdict"), [(0.31, "holds"), (0.02, "does not hold"), (0.25, "not settled")])
def test_without_pretraining_most_is_lost(half: float, verdict: str) -> None:
    cell = compared("table-2b", "ARCF, random weights", -half - 0.01, -half + 0.01)
    found = verdicts(replace(cell, map_all=0.5 - half))  # the reference has 0.5
    assert found == {"Without pretraining, most of MAP is lost": verdict}


def sweep(power: float, noise: float = 0.0, *, exact: bool = True) -> list[Measured]:
    """The cells of table 2e, whose costs grow with a power of L."""
    times = {value: value**power * (1 + noise * (-1) ** place) for place, value in enumerate(paper.BY_L)}
    return [
        replace(
            CELL,
            table="table-2e",
            name=f"L = {value}",
            timed=True,
            seconds=0.5 if exact else seconds,
            seconds_exact=seconds if exact else None,
        )
        for value, seconds in times.items()
    ]


COST = "The cost is quadratic in L"


@pytest.mark.parametrize("exact", [True, False])
def test_the_cost_by_its_exponent(exact: bool) -> None:
    assert verdicts(*sweep(1.8, exact=exact)) == {COST: "holds"}
    assert verdicts(*sweep(1.3, exact=exact)) == {COST: "does not hold"}
    assert verdicts(*sweep(2.0, noise=0.5, exact=exact)) == {COST: "not settled"}
    (found,) = findings(Results(sweep(2.0, exact=exact)))
    assert found.evidence.startswith("4 s a question at L = 2, 196 s at L = 14, so as L^2.00 (± 0.00)")
    assert ("with fast search" in found.evidence) is exact


def test_a_cost_waits_until_all_is_timed() -> None:
    cells = sweep(2.0)
    assert verdicts(*cells[1:]) == {}
    assert verdicts(replace(cells[0], timed=False, seconds_exact=None), *cells[1:]) == {}


def test_a_sweep_is_flat_if_all_above_the_usual_value_are_level() -> None:
    level = [compared("table-2d", f"k = {k}", -0.005, 0.005) for k in (210, 290)]
    claim = "MAP is flat above k = 180: within 0.01"
    assert verdicts(compared("table-2d", "k = 90", -0.2, -0.1), *level) == {claim: "holds"}
    assert verdicts(level[0]) == {claim: "not settled"}


@pytest.mark.parametrize(("central", "verdict"), [(0.5, "holds"), (0.6, "not settled"), (0.7, "does not hold")])
def test_roles(central: float, verdict: str) -> None:
    ours = {"CENTRAL": central, "GROUNDING": 0.4, "LEXGLUE": 0.3}
    theirs = {"CENTRAL": 0.5, "GROUNDING": 0.3, "LEXGLUE": 0.2}
    panel = Panel("role", "MAP", tuple(ours), {"a": ours, "b": theirs}, dict.fromkeys(ours, 70))
    (found,) = findings(Results((), (), (panel,)))
    assert found.verdict == verdict
    assert found.evidence.endswith("grounding +0.100 (70 questions), lexglue +0.100 (70 questions)")
    assert verdicts(panels=(replace(panel, questions=dict.fromkeys(ours, 7)),)) == {found.claim: "not settled"}


def test_what_is_as_good_is_not_below() -> None:
    (verdict,) = verdicts(compared("table-2b", "ARCF, SF inf", 0.0, 0.0)).values()
    assert verdict == "does not hold"
    (verdict,) = verdicts(compared("table-2b", "ARCF, SF inf", -0.01, 0.0)).values()
    assert verdict == "not settled"


def test_a_role_that_no_question_has() -> None:
    panel = Panel("role", "MAP", ("CENTRAL",), {"a": {"CENTRAL": 1.0}, "b": {"CENTRAL": 0.5}})
    assert verdicts(panels=(panel,)) == {}


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.01, ["holds"]), (0.3, ["not settled"]), (0.99, ["does not hold"]), (None, [])]
)
def test_seeds(p: float | None, verdict: list[str]) -> None:
    test = SeedTest("ARCF, RankNet", "Single fact", (0.5, 0.4), (0.01, 0.01), (2, 2), p)
    assert list(verdicts(tests=(test, replace(test, second="ARCF, NCE"))).values()) == verdict
