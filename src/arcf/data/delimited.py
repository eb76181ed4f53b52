"""Comma- and tab-separated text with a header line."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise

from arcf.errors import InputError
from arcf.files import lines_of

Cells = list[str]

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


@dataclass(frozen=True, slots=True)
class Table:
    """A header and its rows. Every row has as many cells as the header, and the number of its line in the file."""

    place: str
    header: Cells
    rows: list[tuple[int, Cells]]

    def column(self, *names: str) -> int | None:
        """The position of the first column that has one of the names; letter case and outer spaces do not matter."""
        wanted = {name.lower() for name in names}
        return next((index for index, name in enumerate(self.header) if name.strip().lower() in wanted), None)

    def required(self, *names: str) -> int:
        """The position of a column that must be there.

        Raises:
            InputError: none of the names is in the header.
        """
        index = self.column(*names)
        if index is None:
            found = ", ".join(repr(name) for name in self.header)
            raise InputError(f"has no column {' or '.join(map(repr, names))}; it has {found}.", self.place, 1)
        return index


def read_tsv(text: str, place: str) -> Table:
    """Tab-separated text, one row per line.

    A cell counts as quoted only when it is quoted as a whole ("a ""b"" c" stands for a "b" c). On WorldTree this reads
    what pandas reads, which the official scorer uses; but a lone quotation mark cannot swallow the lines after it.

    Raises:
        InputError: the header is separated by something else, a row has more cells than it, or a quoted cell goes on in
            the next line.
    """
    _check_separator(text, "\t", place)
    lines = [line.removesuffix("\r").split("\t") for line in lines_of(text)]
    _check_breaks(lines, place)
    return _table(((number, list(map(unquote, cells))) for number, cells in enumerate(lines, 1)), place)


def read_csv(text: str, place: str) -> Table:
    """Comma-separated text, quoted as spreadsheets do; a quoted cell may hold line breaks.

    Raises:
        InputError: the header is separated by something else, a row has more cells than it, or a quote never ends.
    """
    _check_separator(text, ",", place)
    reader = csv.reader(StringIO(text, newline=""), strict=True)

    def numbered() -> Iterator[tuple[int, Cells]]:
        begins = 1
        try:
            for cells in reader:
                yield begins, cells
                begins = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"is not proper CSV ({error}).", place, reader.line_num) from error

    return _table(numbered(), place)


def _check_separator(text: str, expected: str, place: str) -> None:
    """Where a comma is the decimal mark, spreadsheets save "CSV" with semicolons."""
    header = lines_of(text)[0]
    found = max(SEPARATORS, key=header.count)
    if found in header and expected not in header:
        name = SEPARATORS[expected]
        raise InputError(f"is separated by {SEPARATORS[found]}, not by {name}; save it with {name}.", place, 1)


def _check_breaks(lines: Sequence[Cells], place: str) -> None:
    """A cell that opens with a quotation mark, and the next line's first that closes with one, were one cell."""
    for number, (line, following) in enumerate(pairwise(lines), 1):
        cell, rest = line[-1], following[0]
        if cell.startswith('"') and rest.endswith('"') and cell.count('"') % 2 and rest.count('"') % 2:
            raise InputError(
                "has a cell that goes on in the next line; save it as CSV, which allows that.", place, number
            )


def unquote(cell: str) -> str:
    """A cell without the quotation marks around it; inner ones are doubled, and a cell that is not so is left alone."""
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"':
        return cell
    inner = cell[1:-1]
    return cell if '"' in inner.replace('""', "") else inner.replace('""', '"')


def _table(numbered: Iterator[tuple[int, Cells]], place: str) -> Table:
    """Rows without any content are dropped; of empty cells at the end, editors write too few or too many."""
    filled = ((line, cells) for line, cells in numbered if any(cell and not cell.isspace() for cell in cells))
    _, header = next(filled, (1, []))
    rows = []
    for line, own in filled:
        cells = own
        while len(cells) > len(header) and not cells[-1]:
            cells = cells[:-1]
        if len(cells) > len(header):
            message = f"has {len(cells)} cells where the header has {len(header)}; quote a cell that holds a separator."
            raise InputError(message, place, line)
        rows.append((line, cells + [""] * (len(header) - len(cells))))
    return Table(place, header, rows)
