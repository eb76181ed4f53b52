"""Which of the paper's findings hold, by figures that are made up."""

from dataclasses import fields, replace
from typing import Any

import pytest

pytest.importorskip("torch")


from arcf.evaluation.plots import Panel
from arcf.experiments.findings import Results, findings
from arcf.experiments.measured import Measured
from arcf.experiments.seeds import SeedTest
from arcf.experiments.tables import Cell, Table

#: A cell of which nothing is known.
NOTHING: dict[str, Any] = dict.fromkeys(field.name for field in fields(Measured))
CELL = Measured(**NOTHING | {"table": "", "name": "", "dataset": "science"})


def compared(table: str, name: str, low: float, high: float) -> Measured:
    middle = (low + high) / 2
    return replace(
        CELL, table=table, name=name, difference=middle, difference_interval=(low, high), paper_difference=-0.05
    )


def verdicts(
    *cells: Measured, tests: tuple[SeedTest, ...] = (), panels: tuple[Panel, ...] = (), sweep: str = ""
) -> dict[str, str]:
    values = {cell.name: int(cell.name.split()[-1]) for cell in cells} if sweep else {}
    swept = tuple(Cell(name, "science", place=value) for name, value in values.items())
    reference = {"table-2d": "k = 180", "table-2e": "L = 8"}.get(sweep, "")
    tables = {sweep: Table(sweep, "", swept, reference=reference)} if sweep else {}
    return {found.claim: found.verdict for found in findings(Results(tables, cells, tests, panels))}


def test_nothing_is_found_without_figures() -> None:
    assert verdicts() == {}
    assert verdicts(replace(CELL, table="table-2a")) == {}


@pytest.mark.parametrize(
    ("second", "verdict"),
    [((-0.03, -0.01), "holds"), ((-0.03, 0.01), "not settled"), ((0.01, 0.02), "does not hold")],
)
def test_all_baselines_must_be_below(second: tuple[float, float], verdict: str) -> None:
    first = compared("table-2a", "TF-IDF", -0.2, -0.1)
    assert verdicts(first, compared("table-2a", "Ensemble", *second)) == {
        "ARCF is above all baselines on science": verdict
    }


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
    found = verdicts(compared("table-2a", "ARCF, NCE", *interval))
    assert found == {"RankNet, NCE and CN are about equal on science (within 0.02)": verdict}


def test_datasets_are_judged_apart() -> None:
    first = compared("table-2a", "TF-IDF", -0.2, -0.1)
    assert verdicts(first, replace(first, dataset="other", difference_interval=(-0.1, 0.1))) == {
        "ARCF is above all baselines on science": "holds",
        "ARCF is above all baselines on other": "not settled",
    }


def test_ablations() -> None:
    found = verdicts(
        compared("table-2b", "ARCF, SF train", -0.1, -0.05),
        compared("table-2b", "ARCF, bXENT", -0.01, 0.01),
        compared("table-2b", "ARCF, without R3", -0.0001, 0.0),
    )
    assert found == {
        "bXENT is slightly worse": "not settled",
        "Trained on single facts, Algorithm 1 fails": "holds",
        "Ranking the rest by distance (R3) is worth nothing (within 0.001)": "holds",
    }


def test_the_evidence_has_the_figures() -> None:
    cell = compared("table-2b", "ARCF, SF train", -0.1, -0.05)
    (found,) = findings(Results({}, [cell], (), ()))
    assert found.evidence == "ARCF, SF train -0.0750 (-0.1000 to -0.0500, the paper -0.0500)"


@pytest.mark.parametrize(("power", "verdict"), [(1.8, "holds"), (1.3, "does not hold")])
def test_the_cost_by_its_exponent(power: float, verdict: str) -> None:
    cells = [
        replace(compared("table-2e", f"L = {length}", -0.1, 0.001), seconds=0.5, seconds_exact=0.1 * length**power)
        for length in (2, 4, 8, 14)
    ]
    found = verdicts(*cells, sweep="table-2e")
    assert found == {"MAP is flat above L = 8 (within 0.01)": "not settled", "The cost is quadratic in L": verdict}


def test_the_cost_of_a_budget_that_searches_exactly_anyway() -> None:
    cells = [replace(CELL, table="table-2d", name=f"k = {k}", seconds=k / 100) for k in (90, 180, 290)]
    table = Table("table-2d", "", tuple(Cell(cell.name, "science", place=int(cell.name[4:])) for cell in cells))
    (found,) = findings(Results({"table-2d": table}, cells, (), ()))
    assert found.verdict == "holds"
    assert found.evidence == "0.9 s a question at k = 90, 2.9 s at k = 290, so as k^1.00"


def test_two_times_tell_no_exponent() -> None:
    cells = [replace(CELL, table="table-2d", name=f"k = {k}", seconds=k / 100) for k in (90, 180)]
    assert verdicts(*cells, sweep="table-2d") == {}


@pytest.mark.parametrize(("central", "verdict"), [(0.5, "holds"), (0.7, "does not hold")])
def test_roles(central: float, verdict: str) -> None:
    ours = {"CENTRAL": central, "GROUNDING": 0.4, "LEXGLUE": 0.3}
    theirs = {"CENTRAL": 0.5, "GROUNDING": 0.3, "LEXGLUE": 0.2}
    panel = Panel("role", "MAP", tuple(ours), {"a": ours, "b": theirs})
    assert verdicts(panels=(panel,)) == {"Most is gained on lexical glue and grounding": verdict}


def test_a_role_that_no_question_has() -> None:
    panel = Panel("role", "MAP", ("CENTRAL",), {"a": {"CENTRAL": 1.0}, "b": {"CENTRAL": 0.5}})
    assert verdicts(panels=(panel,)) == {}


@pytest.mark.parametrize(
    ("p", "verdict"), [(0.01, ["holds"]), (0.3, ["not settled"]), (0.99, ["does not hold"]), (None, [])]
)
def test_seeds(p: float | None, verdict: list[str]) -> None:
    test = SeedTest("ARCF, RankNet", "Single fact", (0.5, 0.4), (0.01, 0.01), (2, 2), p)
    assert list(verdicts(tests=(test, replace(test, second="ARCF, NCE"))).values()) == verdict
