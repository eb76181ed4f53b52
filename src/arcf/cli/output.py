"""What all commands share: the consoles, how an error or a warning looks, and how text and JSON are printed."""

import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from arcf.cli.verbosity import CHOSEN
from arcf.display import PLAIN, clean, shown
from arcf.errors import ArcfError, ArcfWarning, InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FAILED = 1
WRONG_USAGE = 2


# JSON escapes the control characters of ASCII, but neither this one nor those of eight bits.
_CONTROL = re.compile("[\x7f-\x9f]")


def console() -> "Console":
    """The terminal, for tables and pictures."""
    from arcf.cli.console import SafeConsole

    return SafeConsole()


def progress_console() -> "Console":
    """Standard error, for progress bars: standard output stays clean for pipes.

    With -q it shows nothing, nor in a file or pipe, where nothing moves.
    """
    from arcf.cli.console import SafeConsole

    terminal = SafeConsole(stderr=True)
    terminal.quiet = CHOSEN.quiet or not terminal.is_terminal
    return terminal


def note(text: str) -> None:
    """One line on standard error about what a command has done; none with -q."""
    if not CHOSEN.quiet:
        print_line(text, err=True)


def table_of(*headers: str, texts: int = 1) -> "Table":
    """A table without lines: the first `texts` columns are text, the others are numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for index, header in enumerate(headers):
        if index >= texts:  # Half of one would be another one.
            table.add_column(header, justify="right", no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(header, overflow="fold")
    return table


def print_line(text: str, *, err: bool = False) -> None:
    """One line for people, on standard output or standard error, fit for any terminal."""
    stream = sys.stderr if err else sys.stdout
    stream.write(f"{shown(text)}\n")
    stream.flush()


def print_text(text: str) -> None:
    """Lines of our own making on standard output, as they are but for what a terminal must not see."""
    sys.stdout.write(clean(text))
    sys.stdout.flush()


def print_json(record: Mapping[str, Any], indent: int | None = 2) -> None:
    """One JSON object on standard output, with escapes for what its encoding does not have: never other characters.

    Without `indent` it is one line.
    """
    text = json.dumps(record, ensure_ascii=False, indent=indent)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(record, indent=indent)
    sys.stdout.write(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def own_question(question: str | None) -> str:
    """A question of the command line, which may be standard input's."""
    from arcf.files import read_input

    return read_input(Path("-"))[0] if question == "-" else question or ""


def open_streams() -> None:
    """Where standard output or standard error is closed, as of a daemon, what is written there goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def check_arguments(arguments: Iterable[str]) -> None:
    """Refuse what cannot be read as text before anything is done with it: Python passes it on as half characters.

    Raises:
        InputError: an argument of the command line holds bytes of another encoding than the system's.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            encoding = sys.getfilesystemencoding().upper()
            message = f"The argument '{argument}' is not {encoding} text; write it in {encoding}, or rename the file."
            raise InputError(message) from error


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn arcf's errors into one sentence and an exit code, and its warnings into one line each.

    Characters that the terminal's encoding does not have are no error: similar ones are printed.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAIN)
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
    print_line(text, err=True)
