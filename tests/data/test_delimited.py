import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.data.delimited import read_csv, read_tsv
from arcf.errors import InputError

CELLS = st.text(st.characters(exclude_characters="\t\r\n", exclude_categories=["Cs"]), max_size=12)
TABLES = st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=6)


def has_content(row: list[str]) -> bool:
    return any(cell.strip() for cell in row)


@given(TABLES)
def test_tsv_reads_back_what_pythons_csv_writes(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, "excel-tab", quoting=csv.QUOTE_ALL).writerows([["a", "b", "c"], *rows])
    assert [cells for _, cells in read_tsv(text.getvalue(), "x").rows] == list(filter(has_content, rows))


@given(TABLES)
def test_csv_reads_back_what_pythons_csv_writes(rows: list[list[str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["a", "b", "c"], *rows])
    assert [cells for _, cells in read_csv(text.getvalue(), "x").rows] == list(filter(has_content, rows))


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        ('"the ""big"" one"', 'the "big" one'),
        ('"quoted" at first', '"quoted" at first'),
        ('"a" and "b"', '"a" and "b"'),
        ('"never closed', '"never closed'),
        ('"', '"'),
        ('""', ""),
    ],
)
def test_tsv_cells_are_quoted_as_a_whole_or_not_at_all(cell: str, meant: str) -> None:
    table = read_tsv(f"a\tb\n{cell}\tx\nnext\ty\n", "x")
    assert [cells for _, cells in table.rows] == [[meant, "x"], ["next", "y"]]


def test_rows_know_their_lines_and_are_filled_up() -> None:
    table = read_tsv("a\tb\r\n1\r\n\r\n \t \n2\t3\n", "x")
    assert table.header == ["a", "b"]
    assert table.rows == [(2, ["1", ""]), (5, ["2", "3"])]


def test_a_tsv_cell_that_goes_on_in_the_next_line_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\.tsv:2: has a cell that goes on in the next line; save it as CSV"):
        read_tsv('text\tuid\n"line one\nline two"\ta\nsalt\tb\n', "x.tsv")


def test_csv_rows_are_named_after_the_line_that_they_begin_in() -> None:
    table = read_csv('text,uid\n"line one\nline two",a\n\nsalt,b\n', "x.csv")
    assert table.rows == [(2, ["line one\nline two", "a"]), (5, ["salt", "b"])]


def test_a_row_with_too_many_cells_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\.csv:3: has 3 cells where the header has 2; quote"):
        read_csv("uid,text\n1,fine\n2,salt, dissolved\n", "x.csv")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("uid;text", "semicolons"),
        ('"uid";"text"', "semicolons"),
        ("sep=;", "semicolons"),
        ("uid\ttext\r", "tabs"),
        ("uid|text|core", "bars"),
    ],
)
def test_csv_with_another_separator_names_it(header: str, found: str) -> None:
    with pytest.raises(InputError, match=rf"^x\.csv:1: is separated by {found}, not by commas; save it with commas\.$"):
        read_csv(f"{header}\n1;salt, dissolved\n", "x.csv")


def test_tsv_with_another_separator_names_it() -> None:
    with pytest.raises(InputError, match=r"^x\.tsv:1: is separated by commas, not by tabs; save it with tabs\.$"):
        read_tsv("uid,text\n1,moss\n", "x.tsv")


def test_one_column_needs_no_separator() -> None:
    assert read_csv("text\nmoss; green | grey\n", "x").rows == [(2, ["moss; green | grey"])]
    assert read_tsv("text\nsalt, dissolved\n", "x").rows == [(2, ["salt, dissolved"])]


def test_an_unclosed_quote_in_csv_is_refused() -> None:
    with pytest.raises(InputError, match=r"x\.csv:3: is not proper CSV"):
        read_csv('text\n"open\nmore\n', "x.csv")


def test_columns_are_found_regardless_of_case() -> None:
    table = read_tsv("QuestionID \tAnswerKey\tAnswerKey\n", "x")
    assert table.column("questionid") == 0
    assert table.required("answerkey") == 1
    assert table.column("fold", "arcset") is None
    with pytest.raises(InputError, match=r"x:1: has no column 'fold' or 'arcset'; it has 'QuestionID ', 'AnswerKey'"):
        table.required("fold", "arcset")


def test_what_editors_add_is_no_content() -> None:
    """Empty rows before the header, and empty cells at the end of rows."""
    for read, text in ((read_csv, ",,\n\nid,text\n1,ice,,\n"), (read_tsv, "\t\nid\ttext\n1\tice\t\n")):
        table = read(text, "here")
        assert (table.header[:2], [row[:2] for _, row in table.rows]) == (["id", "text"], [["1", "ice"]])
