import io
import json
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from rich.console import Console

from arcf.cli.output import check_arguments, console, note, plain_errors, print_json, print_line, table_of
from arcf.errors import ArcfWarning, InputError

Capture = pytest.CaptureFixture[str]

FACT = "ice\x1b[2J is “solid” é 雪"


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")


def bytes_of(file: io.TextIOWrapper) -> bytes:
    file.flush()
    assert isinstance(file.buffer, io.BytesIO)
    return file.buffer.getvalue()


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "ice\ufffd[2J is “solid” é 雪\n"),
        ("cp1252", "ice?[2J is “solid” é ?\n"),
        ("ascii", 'ice?[2J is "solid" e ?\n'),
    ],
)
def test_lines_and_tables_in_any_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str, expected: str) -> None:
    out, err = stream(encoding), stream(encoding)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with plain_errors():
        print_line(FACT)
        console().print(FACT)
        print_line(FACT, err=True)
        note(FACT)
    assert bytes_of(out) == bytes_of(err) == expected.encode(encoding) * 2


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii", "latin-1"])
def test_json_is_exact_in_any_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    out = stream(encoding)
    monkeypatch.setattr(sys, "stdout", out)
    record = {"text": FACT + "\x7f\x9b31m", "path": "caf\udce9", "long": "x" * 5_000}
    with plain_errors():
        print_json(record)
    content = bytes_of(out)
    assert json.loads(content.decode(encoding)) == record
    assert not set(content.decode(encoding)) & {"\x1b", "\x7f", "\x9b"}


def test_json_keeps_letters_where_it_can(capsys: Capture) -> None:
    print_json({"text": "é 雪"})
    assert capsys.readouterr().out == '{\n  "text": "é 雪"\n}\n'


def test_an_error_is_one_safe_line(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end, plain_errors():
        raise InputError(f"uid '\x1b[2J\n{'x' * 5_000_000}' is odd.", "f.txt", 3)
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert err.startswith("error: f.txt:3: uid '\ufffd[2J xxx")
    assert err.endswith("xxx... (5,000,028 characters)\n")
    assert err.count("\n") == 1
    assert len(err) < 2_100


def test_a_warning_is_one_safe_line(capsys: Capture) -> None:
    with plain_errors():
        warnings.warn("odd \x1b[2J\nuids", ArcfWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: odd \ufffd[2J uids\n"


def test_arguments_are_text() -> None:
    check_arguments(["explain", "é 雪 \N{GRINNING FACE}", "--top=3", ""])
    with pytest.raises(InputError, match=r"^The argument 'caf\udce9' is not UTF-8 text; write it in UTF-8, or rename"):
        check_arguments(["explain", "caf\udce9"])


@pytest.mark.parametrize(
    ("command", "closed", "code"),
    [
        (("rank", "ice", "--ranker", "bm25"), ">&-", 0),
        (("rank", "ice", "--ranker", "bm25", "--json"), ">&- 2>&-", 0),
        (("rank", "-", "--ranker", "bm25"), "<&-", 2),
    ],
)
def test_closed_streams(command: tuple[str, ...], closed: str, code: int) -> None:
    line = shlex.join([sys.executable, "-m", "arcf", *command])
    result = subprocess.run(["/bin/sh", "-c", f"{line} {closed}"], capture_output=True, check=False)
    assert result.returncode == code
    assert result.stderr == (b"error: standard input: is closed.\n" if code else b"")


def test_a_number_that_does_not_fit_is_not_another_number() -> None:
    table, narrow = table_of("a", "b", "c"), Console(file=io.StringIO(), width=12)
    table.add_row("text", "12,345", "67,890")
    narrow.print(table)
    assert isinstance(narrow.file, io.StringIO)
    numbers = [cell for cell in narrow.file.getvalue().split() if cell[0].isdecimal()]
    assert len(numbers) == 2
    assert all(cell.endswith("…") for cell in numbers)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_real_shell_with_a_small_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps({"uid": "✓\x1b[2J", "text": FACT}) + "\n", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "arcf", "rank", "ice", "--dataset", str(path)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "100"},
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"\x1b" not in result.stdout
    assert "ice?[2J is" in result.stdout.decode(encoding)
