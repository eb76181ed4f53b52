"""`arcf cache`: what is kept of corpora on this machine, and throwing it away."""

from collections.abc import Mapping, Sequence
from time import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcf.cli.output import console, print_json, print_line, table_of
from arcf.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from arcf.kept.folder import Entry

app = typer.Typer(name="cache", invoke_without_command=True)


@app.callback()
def cache(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is kept of corpora, of which ones, by which model, how large it is and when it was last used.

    On a machine of a cluster, models that came from another one are kept and shown as well.

    Nothing of it is needed: what is thrown away is made again. It is bounded without being asked, too: whenever
    something is added, what was not used for 90 days goes, and what is beyond 20 GB. ARCF_CACHE names another folder
    for it.

    Example: arcf cache

    Example: arcf cache prune --older-than 30
    """
    from arcf.kept.folder import cache_folder, entries

    if context.invoked_subcommand is not None:
        return
    found = entries()
    if as_json:
        print_json({"folder": str(cache_folder()), "files": [entry_record(entry) for entry in found]})
        return
    if found:
        console().print(entry_table(found))
    print_line(f"{_megabytes(found)} in {cache_folder()}")


@app.command()
def prune(
    older_than: Annotated[float | None, typer.Option(min=0, help="What was not used for so many days.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Throw away what is kept of corpora, all of it or what was not used for some time.

    Example: arcf cache prune --older-than 30

    Example: arcf cache prune --all
    """
    from arcf.kept.folder import prune as delete

    if everything == (older_than is not None):
        raise SettingError("Say what to throw away: --older-than DAYS, or --all.")
    deleted = delete(older_than=older_than) if older_than is not None else delete(limit=0)
    if as_json:
        print_json({"deleted": [entry_record(entry) for entry in deleted]})
    else:
        print_line(f"{_megabytes(deleted)} thrown away")


def entry_record(entry: "Entry") -> Mapping[str, Any]:
    """A file of the cache as plain values, for JSON."""
    from dataclasses import asdict

    about = asdict(entry.about) if entry.about else {"what": "unknown"}
    return {**about, "path": str(entry.path), "bytes": entry.bytes, "days_unused": round(_days(entry), 2)}


def entry_table(found: "Sequence[Entry]") -> "Table":
    """Files of the cache for people. A file that does not know its corpus's name has that of the same texts."""
    from rich.text import Text

    from arcf.display import shown

    names = {entry.about.texts: entry.about.corpus for entry in found if entry.about and entry.about.corpus}
    table = table_of("corpus", "what", "model", "facts", "MB", "days unused", texts=3)
    for entry in found:
        about = entry.about
        corpus, what, model, facts = (
            (about.corpus or names.get(about.texts, ""), about.what, about.model, _count(about.facts))
            if about
            else ("", f"unknown: {entry.path.name}", "", "")
        )
        texts = (Text(shown(text)) for text in (corpus, what, model))
        table.add_row(*texts, facts, f"{entry.bytes / 1e6:,.1f}", f"{_days(entry):.1f}")
    return table


def _count(facts: int) -> str:
    """How many facts; nothing for a model, which is of no corpus."""
    return f"{facts:,}" if facts else ""


def _days(entry: "Entry") -> float:
    from arcf.kept.folder import DAY

    return max(0.0, (time() - entry.used) / DAY)


def _megabytes(found: "Sequence[Entry]") -> str:
    files = "1 file" if len(found) == 1 else f"{len(found):,} files"
    return f"{files}, {sum(entry.bytes for entry in found) / 1e6:,.1f} MB"
