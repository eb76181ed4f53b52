"""The whole of it: from the name of a table to a folder with its report."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from arcf.errors import SettingError
from arcf.evaluation.plots import check_picture
from arcf.experiments.breakdowns import side_by_side
from arcf.experiments.budget import Budget
from arcf.experiments.figures import draw_figures
from arcf.experiments.findings import Finding, Results, findings
from arcf.experiments.measured import AGAIN, Measured, measure_all
from arcf.experiments.pace import Pace
from arcf.experiments.place import Job, Place
from arcf.experiments.report import Details, make_report
from arcf.experiments.running import Progress, due, in_order, run_jobs
from arcf.experiments.seeds import seed_tests
from arcf.experiments.tables import Cell, Table, tables_of
from arcf.files import locked, write_text


@dataclass(frozen=True, slots=True)
class Planned:
    """A job of a plan: what it is, about how many seconds it takes, the command that does the same."""

    key: str
    kind: str
    title: str
    seconds: float
    done: bool
    command: str


@dataclass(frozen=True)
class Outcome:
    """What a reproduction has led to: the cells with their figures, and which of the paper's findings hold."""

    budget: Budget
    cells: Sequence[Measured]
    findings: Sequence[Finding]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        head = {"budget": self.budget.name, "split": self.budget.split, "questions": self.budget.questions}
        cells, findings = [cell.to_dict() for cell in self.cells], [asdict(finding) for finding in self.findings]
        return head | {"cells": cells, "findings": findings}


@dataclass(frozen=True)
class Reproduction:
    """Tables within a budget, and the folder that they are made in."""

    budget: Budget
    tables: Mapping[str, Table]
    place: Place

    @property
    def jobs(self) -> tuple[Job, ...]:
        """All jobs, in order."""
        return in_order(job for table in self.tables.values() for cell in table.cells for job in cell.jobs)

    def plan(self) -> list[Planned]:
        """The jobs, what they are and what they cost."""
        printed = replace(self.place, folder=AGAIN)
        left, pace = due(self.jobs, self.place), Pace.of(self.jobs, self.place, self.budget.speed)
        return [
            Planned(
                key=self.place.of(job).name,
                kind=job.kind,
                title=job.title,
                seconds=pace.seconds(job),
                done=job not in left,
                command=job.command(printed),
            )
            for job in self.jobs
        ]

    def run(
        self,
        processes: int = 1,
        report: Callable[[Progress], None] = lambda _: None,
        executor: Executor | None = None,
    ) -> Outcome:
        """Do what is not done, here or by an executor, and write the report.

        Raises:
            ArcfError: a job failed, or the folder is another's, or another command works in it; what is finished stays.
        """
        check_picture(self.place.folder / "figure.svg")
        self.place.begin()
        with locked(self.place.mark):
            run_jobs(self.jobs, self.place, self.budget.speed, processes, report, executor)
        return self.report()

    def report(self) -> Outcome:
        """Write the report of what is finished.

        Raises:
            InputError: the folder is another's, or cannot be written to.
        """
        self.place.begin()
        begun = {name: replace(table, cells=self._begun(table)) for name, table in self.tables.items()}
        cells = measure_all(tuple(begun.values()), self.place, self.budget)
        tests = seed_tests([cell for cell in cells if cell.table == "significance"])
        panels = side_by_side(self._results(lambda cell: cell.breakdown))
        # What a tiny random model does says nothing of the paper.
        found = [] if self.budget.tiny else findings(Results(cells, tests, panels))
        details = Details(self._results(lambda cell: cell.example), tests, panels, found)
        outcome = Outcome(self.budget, cells, found)
        self._write(begun, outcome, details)
        return outcome

    def _begun(self, table: Table) -> tuple[Cell, ...]:
        """The cells of which anything is known."""
        return tuple(cell for cell in table.cells if any(self.place.result(job) is not None for job in cell.jobs))

    def _write(self, begun: Mapping[str, Table], outcome: Outcome, details: Details) -> None:
        folder, jobs = self.place.folder, self.jobs
        left = sum(self.place.result(job) is None for job in jobs)
        report = make_report(self.budget, tuple(begun.values()), outcome.cells, details)
        report = replace(report, figures=draw_figures(begun, outcome.cells, details.panels, folder))
        if left:
            missing = f"Not all is done yet: {left} of {len(jobs)} jobs are missing, and what they would tell."
            report = replace(report, introduction=(*report.introduction, missing))
        write_text(folder / "report.md", report.markdown())
        write_text(folder / "report.html", report.html())
        write_text(folder / "cells.json", json.dumps(outcome.to_dict(), indent=1) + "\n")

    def _results(self, job_of: Callable[[Cell], Job | None]) -> dict[str, dict[str, Any]]:
        """The results of the finished ones among a certain job of every cell, by the names of the cells."""
        cells = [cell for table in self.tables.values() for cell in table.cells]
        jobs = {cell.name: job for cell in cells if (job := job_of(cell))}
        found = {name: self.place.result(job) for name, job in jobs.items()}
        return {name: result for name, result in found.items() if result is not None}


def prepare(what: str, budget: Budget, output: Path, only: Sequence[str] = ()) -> Reproduction:
    """Tables of the paper, or only the cells whose names have one of some words in them.

    Raises:
        UnknownNameError: there is no such table or figure.
        SettingError: no cell has such a name.
    """
    tables = tables_of(what, budget)
    if only:
        kept = {name: replace(table, cells=_named(table, only)) for name, table in tables.items()}
        tables = {name: table for name, table in kept.items() if table.cells}
    if not tables:
        raise SettingError(f"No cell of {what} has {' or '.join(only)} in its name; see --plan for the names.")
    return Reproduction(budget, tables, Place(output, budget.name, budget.preset))


def _named(table: Table, only: Sequence[str]) -> tuple[Any, ...]:
    wanted = [word.lower() for word in only]
    return tuple(cell for cell in table.cells if any(word in cell.name.lower() for word in wanted))
