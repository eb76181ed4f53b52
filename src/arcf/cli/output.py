"""What all commands share: the consoles, how an error or a warning looks, and how JSON is printed."""

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import typer

from arcf.errors import ArcfError, ArcfWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FAILED = 1
WRONG_USAGE = 2


def console() -> "Console":
    """The terminal, for tables and pictures."""
    from rich.console import Console

    return Console(highlight=False)


def progress_console() -> "Console":
    """Standard error, for progress bars: standard output stays clean for pipes."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def table_of(*headers: str, texts: int = 1) -> "Table":
    """A table without lines: the first `texts` columns are text, the others are numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for index, header in enumerate(headers):
        number = index >= texts
        table.add_column(header, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return table


def print_json(record: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    typer.echo(json.dumps(record, ensure_ascii=False, indent=2))


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn arcf's errors into one sentence and an exit code, and its warnings into one line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ArcfWarning)
        warnings.showwarning = _show_warning
        try:
            yield
        except ArcfError as error:
            _say("error", str(error))
            raise SystemExit(WRONG_USAGE) from error
        except BrokenPipeError:
            sys.stderr.close()
            raise SystemExit(FAILED) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            _say("error", f"{place}{error.strerror or error}.")
            raise SystemExit(FAILED) from error


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del filename, lineno, file, line
    _say("warning" if issubclass(category, ArcfWarning) else category.__name__, str(message))


def _say(kind: str, text: str) -> None:
    typer.secho(f"{kind}: ", fg="red" if kind == "error" else "yellow", bold=True, nl=False, err=True)
    typer.echo(text, err=True)
