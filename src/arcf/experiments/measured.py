"""What the finished jobs say of a cell, in plain values."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from arcf.evaluation.significance import Scores, bootstrap_means, percentile_interval
from arcf.experiments.budget import Budget
from arcf.experiments.commands import command
from arcf.experiments.measuring import FuseJob, RankJob
from arcf.experiments.place import Place
from arcf.experiments.running import in_order
from arcf.experiments.tables import Cell, Table

#: Where printed commands write to: beside nothing that is there already.
AGAIN = Path("again")


@dataclass(frozen=True, slots=True)
class Measured:
    """A cell with its figures. What does not apply to it, or was not measured, is None.

    `map_all` is over all questions, with a 95% `interval`; `map_official` over those that the official scorer counts.
    `difference` is that of `map_all` from the table's reference, question by question, and `paper_difference` the
    paper's; `difference_command` tells it by hand, once the runs of both are made.
    `seconds` are those of a question, `seconds_exact` with every visible fact scored in every iteration; unless they
    were `timed` with nothing beside them, they are those of the whole ranking. `paper` is the paper's figure for the
    same thing, measured on `paper_on`; `command` makes the cell by hand.
    """

    table: str
    name: str
    dataset: str
    split: str
    seed: int
    questions: int | None
    map_all: float | None
    map_official: float | None
    interval: tuple[float, float] | None
    difference: float | None
    difference_interval: tuple[float, float] | None
    reachable: float | None
    chain_f1: float | None
    seconds: float | None
    seconds_exact: float | None
    timed: bool
    chains: float | None
    train_seconds: float | None
    paper: float | None
    paper_on: str
    paper_difference: float | None
    paper_seconds: float | None
    paper_hours: float | None
    command: str
    difference_command: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def measure(table: Table, cell: Cell, place: Place, budget: Budget) -> Measured:
    """The figures of a cell whose jobs are done."""
    scores = (place.result(cell.evaluate) if cell.evaluate else None) or {}
    reach = (place.result(cell.reach) if cell.reach else None) or {}
    trained = (place.result(cell.train) if cell.train else None) or {}
    times = {name: place.result(job) or {} for name, job in cell.times}
    interval, reference = scores.get("interval"), table.reference_of(cell)
    differences = _differences(cell, reference, place) if reference else None
    fast, exact = times.get("", {}), times.get("exact", {})
    return Measured(
        table=table.name,
        name=cell.name,
        dataset=cell.dataset,
        split="train" if cell.reach else budget.split,
        seed=cell.seed,
        questions=scores.get("questions_all") or reach.get("questions"),
        map_all=scores.get("map_all"),
        map_official=scores.get("map_official"),
        interval=(interval[0], interval[1]) if interval else None,
        difference=float(differences.mean()) if differences is not None else None,
        difference_interval=_interval(differences) if differences is not None else None,
        reachable=reach.get("fractions", {}).get(str(cell.place)),
        chain_f1=(scores.get("chains") or {}).get("f1"),
        seconds=fast.get("seconds") or _seconds(cell, place),
        seconds_exact=exact.get("seconds"),
        timed=bool(times) and all("seconds" in result for result in times.values()),
        chains=fast.get("chains"),
        train_seconds=trained.get("train_seconds"),
        paper=cell.theirs.value if cell.theirs else None,
        paper_on=cell.theirs.where if cell.theirs else "",
        paper_difference=_paper_difference(cell, reference) if reference else None,
        paper_seconds=cell.their_seconds,
        paper_hours=cell.their_hours,
        command=commands(cell, place),
        difference_command=_comparison(cell, reference, place) if differences is not None else None,
    )


def commands(cell: Cell, place: Place) -> str:
    """The commands that make a cell, in order."""
    printed = replace(place, folder=AGAIN)
    return " && ".join(job.command(printed) for job in in_order(cell.jobs))


def _comparison(cell: Cell, reference: Cell | None, place: Place) -> str:
    """The command that compares two cells' runs."""
    assert cell.evaluate is not None
    assert reference is not None
    assert reference.evaluate is not None
    printed, ranked = replace(place, folder=AGAIN), cell.evaluate.ranked
    runs = (reference.evaluate.ranked.product(printed), ranked.product(printed))
    return command("arcf", "compare", *runs, *ranked.data.options())


def measure_all(tables: Sequence[Table], place: Place, budget: Budget) -> list[Measured]:
    """The figures of all cells."""
    return [measure(table, cell, place, budget) for table in tables for cell in table.cells]


def _differences(cell: Cell, reference: Cell, place: Place) -> Scores | None:
    """The differences in average precision, question by question, where both are evaluated."""
    ours, theirs = _scores(cell, place), _scores(reference, place)
    return None if ours is None or theirs is None else ours - theirs


def _scores(cell: Cell, place: Place) -> Scores | None:
    """The average precision of every question."""
    result = place.result(cell.evaluate) if cell.evaluate else None
    return None if result is None else np.array([row["average_precision"] for row in result["per_question"]])


def _interval(differences: Scores) -> tuple[float, float]:
    interval = percentile_interval(bootstrap_means(differences[None])[0])
    return interval.low, interval.high


def _paper_difference(cell: Cell, reference: Cell) -> float | None:
    """The paper's difference, of two figures that were measured on the same split."""
    if cell.theirs is None or reference.theirs is None or cell.theirs.split != reference.theirs.split:
        return None
    return round(cell.theirs.value - reference.theirs.value, 4)


def _seconds(cell: Cell, place: Place) -> float | None:
    """The seconds a question that ranking took, all told; less exact than a time of its own."""
    if cell.evaluate is None:
        return None
    ranked = cell.evaluate.ranked
    parts = [_of_ranking(part, place) for part in (ranked.parts if isinstance(ranked, FuseJob) else (ranked,))]
    known = [seconds for seconds in parts if seconds is not None]
    return sum(known) if len(known) == len(parts) else None


def _of_ranking(job: RankJob, place: Place) -> float | None:
    """What the job itself took. One that went on after a kill took longer than is known, and tells nothing."""
    seconds, result = place.seconds(job), place.result(job)
    if seconds is None or result is None or result["ranked"] < result["questions"]:
        return None
    return seconds / max(int(result["questions"]), 1)
