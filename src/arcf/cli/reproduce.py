"""`arcf reproduce`: the paper's tables and figures, made again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.cluster import Ray
from arcf.cli.output import console, note, print_json, progress_console, table_of
from arcf.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from arcf.experiments.budget import Budget
    from arcf.experiments.findings import Finding
    from arcf.experiments.place import Job
    from arcf.experiments.reproduction import Outcome, Planned, Reproduction
    from arcf.experiments.running import Progress

HOUR = 3600


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table-1, table-2a, ..., table-2e, figure-2, figure-3, examples, significance, or all of them: all."
        ),
    ],
    output: Annotated[Path, typer.Option(help="The folder of the report and of all that it is made from.")],
    budget: Annotated[
        str, typer.Option(help="smoke (minutes, packaged corpus), small (two CPU cores) or paper (one GPU).")
    ] = "smoke",
    plan: Annotated[
        bool, typer.Option("--plan", help="Only list the jobs, their commands and estimated times.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Only cells with this in their name, such as RankNet; repeat it.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Jobs that are done at once [default: 1; as many as a cluster takes].")
    ] = None,
    ray: Ray = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds of the systems whose significance is tested.")] = None,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Rank a fixed sample of the split instead of what the budget says.")
    ] = None,
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Do nothing more: write the report of what is finished.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the cells, or the plan, as JSON.")] = False,
) -> None:
    """Make tables and figures of the paper again, beside the paper's own figures.

    Every cell is made by jobs (train, rank, evaluate, ...), which tables share and which are never done twice: after a
    kill, the same command goes on. The report says by which commands a cell is made without this one.

    On a cluster (--ray), OUTPUT is a folder that all of its machines share.

    Example: arcf reproduce table-2a --budget smoke --output reproduction
    """
    try:
        from arcf.experiments.budget import read_budget
        from arcf.experiments.reproduction import prepare
    except ModuleNotFoundError as error:
        raise MissingExtraError("Reproducing the paper", "train") from error

    # Other machines have other working folders.
    folder = output if ray is None else output.absolute()
    made = prepare(what, _narrowed(read_budget(budget), seeds, questions), folder, only or ())
    if plan:
        planned = made.plan()
        if as_json:
            print_json({"jobs": [asdict(job) for job in planned], "seconds": _left(planned)})
        else:
            _print_plan(planned)
        return
    if so_far:
        outcome = made.report()
    elif ray is None:
        with _watched() as tell:
            outcome = made.run(jobs or 1, tell)
    else:
        outcome = _run_on(ray, made, jobs)
    if as_json:
        print_json(outcome.to_dict())
    elif outcome.findings:
        _print_findings(outcome.findings)
    note(f"The report is {output / 'report.md'}")


def _run_on(address: str, made: "Reproduction", jobs: int | None) -> "Outcome":
    from arcf.cluster import RayExecutor, connected

    with connected(address):
        executor = RayExecutor()
        with _watched() as tell:
            return made.run(jobs or executor.size, tell, executor)


def _narrowed(budget: "Budget", seeds: int | None, questions: int | None) -> "Budget":
    budget = budget if seeds is None else replace(budget, seeds=seeds)
    return budget if questions is None else replace(budget, questions=questions)


@contextmanager
def _watched() -> "Iterator[Callable[[Progress], None]]":
    """Tells of jobs: a line for each as it begins and as it ends. A terminal shows those that run below the lines."""
    from rich.markup import escape
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[about]}"))
    terminal = progress_console()
    with Bars(*columns, console=terminal, transient=True) as bars:
        whole = bars.add_task("Jobs", about="")
        running: dict[Job, TaskID] = {}  # by job: those of other seeds have the same name

        def tell(progress: "Progress") -> None:
            name = f"{progress.job.kind} {progress.job.title}"
            left = f"about {_duration(progress.left)} left" if progress.left else ""
            said = f"Jobs ({progress.done} of {progress.total})"
            bars.update(whole, completed=progress.done, total=progress.total, description=said, about=left)
            if progress.state == "begun":
                about = f"of about {_duration(progress.seconds)}"
                running[progress.job] = bars.add_task(escape(name), total=None, about=about)
            elif progress.job in running:
                bars.remove_task(running.pop(progress.job))
            if progress.state != "begun" or terminal.quiet:
                note(f"[{progress.done}/{progress.total}] {name}: {progress.state}{left and ', '}{left}")

        yield tell


def _print_findings(findings: "Sequence[Finding]") -> None:
    from rich.markup import escape

    table = table_of("the paper's finding", "here", texts=2)
    for finding in findings:
        table.add_row(escape(finding.claim), finding.verdict)
    console().print(table)


def _print_plan(planned: "Sequence[Planned]") -> None:
    from rich.markup import escape

    terminal = console()
    table = table_of("job", "about", "", texts=1)
    for job in planned:
        table.add_row(escape(f"{job.kind} {job.title}"), _duration(job.seconds), "done" if job.done else "")
    terminal.print(table)
    terminal.print(f"\n{len(planned)} jobs, about {_duration(_left(planned))} left\n")
    for job in planned:
        typer.echo(job.command)


def _left(planned: "Sequence[Planned]") -> float:
    return sum(job.seconds for job in planned if not job.done)


def _duration(seconds: float) -> str:
    if seconds >= HOUR:
        return f"{seconds / HOUR:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"
