"""`arcf data`: install datasets, and look at what there is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcf.cli.output import console, note, print_json, print_line, progress_console
from arcf.display import shown

if TYPE_CHECKING:
    from arcf.data.install import Installed

app = typer.Typer(name="data", help="Install datasets, and look at what there is.", no_args_is_help=True)


@app.command()
def install(
    name: Annotated[str, typer.Argument(help="worldtree-2020 or worldtree-2019.")],
    origin: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="A local archive instead of a download (for 2019, or a folder)."),
    ] = None,
) -> None:
    """Install a published dataset into the data directory ($ARCF_DATA, or the user's own).

    The archive is checked by its sha256. A dataset that is there already is replaced only if all goes well.

    Example: arcf data install worldtree-2020 --from tg2020task-dataset.zip
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from arcf.data.install import install as install_dataset
    from arcf.data.releases import RELEASES

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=progress_console(), transient=True, disable=origin is not None) as bar:
        task = bar.add_task(name, total=None)
        path = install_dataset(name, origin, lambda done, total: bar.update(task, completed=done, total=total))
    print_line(f"{name} is installed in {path}")
    note(RELEASES[name].licence)


@app.command("list")
def list_datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the datasets that commands know by name: the packaged one, and those in the data directory.

    Example: arcf data list --json
    """
    from arcf.data.directory import data_directory
    from arcf.data.install import installed

    entries = installed()
    if as_json:
        print_json({"directory": str(data_directory()), "datasets": [_as_json(entry) for entry in entries]})
    else:
        _print_table(entries)


@app.command()
def show(
    dataset: Annotated[str, typer.Argument(help="A dataset's name, or the path of a folder, archive or facts file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Read a dataset and tell what it holds; a way to check a corpus of your own.

    Example: arcf data show facts.jsonl
    """
    from arcf.data.install import summary

    entry = summary(dataset)
    if as_json:
        print_json(_as_json(entry))
    else:
        _print_table([entry])


def _as_json(entry: "Installed") -> dict[str, Any]:
    record = {"name": entry.name, "path": str(entry.path), "facts": entry.facts, "questions": entry.questions or {}}
    return record | ({"problem": entry.problem} if entry.problem else {})


def _print_table(entries: "list[Installed]") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table("dataset", "facts", "questions", box=None, pad_edge=False)
    table.add_column("path", overflow="fold")
    for entry in entries:
        questions = ", ".join(f"{split} {count:,}" for split, count in (entry.questions or {}).items())
        where = f"{entry.path} (cannot be read: {entry.problem})" if entry.problem else str(entry.path)
        cells = (entry.name, f"{entry.facts:,}", questions, where)
        table.add_row(*(escape(shown(cell)) for cell in cells))
    console().print(table)
