"""`arcf reproduce` with the smallest budget, from beginning to end."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from arcf.cli import reproduce
from arcf.cli.console import SafeConsole
from arcf.files import locked

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from arcf.experiments.budget import read_budget
from arcf.experiments.reproduction import prepare

Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]

KEPT = ("result.json", "reproduction.json")


def check_differences(cells: list[dict[str, Any]]) -> None:
    reference = next(cell for cell in cells if cell["name"] == "ARCF, RankNet")
    for cell in cells:
        if cell is reference:
            assert cell["difference"] is cell["paper_difference"] is None
            continue
        assert cell["difference"] == pytest.approx(cell["map_all"] - reference["map_all"])
        assert cell["difference_interval"][0] <= cell["difference"] <= cell["difference_interval"][1]
        assert cell["paper_difference"] == pytest.approx(cell["paper"] - reference["paper"])


def check_findings(folder: Path, capsys: Capture) -> None:
    """The same jobs, as if they were of a budget that says something."""
    budget = replace(read_budget("smoke"), questions=2)
    made = prepare("table-2a", budget, folder)
    before = (folder / "report.md").read_text()
    outcome = replace(made, budget=replace(budget, tiny=False)).report()
    found = outcome.to_dict()["findings"]
    assert [one["claim"] for one in found] == [
        "ARCF is above all baselines on science",
        "Losses and CN differ from RankNet by at most 0.02 on science",
    ]
    assert {one["verdict"] for one in found} == {"not settled"}  # two questions settle nothing
    assert json.loads((folder / "cells.json").read_text())["findings"] == found
    assert "## What holds here" in (folder / "report.md").read_text()
    reproduce._print_findings(outcome.findings)
    assert "ARCF is above all baselines on science\tnot settled" in capsys.readouterr().out
    made.report()
    assert (folder / "report.md").read_text() == before


def check_commands(arcf: Arcf, cells: list[dict[str, Any]], folder: Path, capsys: Capture) -> None:
    """A cell is made by its commands in an empty folder, and its difference beside the reference's run."""
    first, reference = cells[0], next(cell for cell in cells if cell["name"] == "ARCF, RankNet")
    assert reference["difference_command"] is None
    for line in first["command"].split(" && "):
        capsys.readouterr()
        name, *words = shlex.split(line)
        assert subprocess.run([name, *words], check=True) if name == "mkdir" else arcf(*words) == 0
    assert json.loads(capsys.readouterr().out)["map_all"] == first["map_all"]
    _, *words = shlex.split(first["difference_command"])
    shutil.copytree(folder / Path(words[1]).relative_to("again").parent, Path(words[1]).parent)
    assert arcf(*words, "--json") == 0
    (_, compared) = json.loads(capsys.readouterr().out)["runs"]
    assert compared["difference"]["map"] == pytest.approx(first["difference"])
    assert list(compared["difference"]["interval"].values()) == pytest.approx(first["difference_interval"])


def test_a_table_from_beginning_to_end_and_never_twice(
    arcf: Arcf, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "out"
    arguments = ("reproduce", "table-2a", "--budget", "smoke", "--output", folder, "--json", "--questions", 2)
    assert arcf(*arguments) == 0
    output = capsys.readouterr()
    record = json.loads(output.out)
    assert (record["budget"], record["split"], record["questions"]) == ("smoke", "dev", 2)
    names = [cell["name"] for cell in record["cells"]]
    assert names[:4] == ["TF-IDF", "Single fact", "Path re-rank", "Ensemble"]
    for cell in record["cells"]:
        assert {"name", "map_all", "map_official", "paper", "seconds", "command"} <= set(cell)
        assert 0 <= cell["interval"][0] <= cell["map_all"] <= cell["interval"][1] <= 1
        assert "arcf rank" in cell["command"]
        assert cell["seconds"] > 0
    assert record["cells"][1]["paper"] == 0.4992
    check_differences(record["cells"])
    assert record["findings"] == []  # a tiny random model says nothing of the paper
    check_findings(folder, capsys)
    report = (folder / "report.md").read_text()
    for words in ("Single fact", "Path re-rank", "Ensemble", "RankNet", "NCE", "CN", "Budget: smoke", "arcf train"):
        assert words in report
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    manifests = list((folder / "jobs").glob("*/result.json"))
    assert len(manifests) == len(list((folder / "jobs").iterdir()))
    assert all(json.loads(path.read_text())["command"] for path in manifests)
    assert ": begun" in output.err

    assert arcf(*arguments) == 0
    again = capsys.readouterr()
    assert ": begun" not in again.err
    assert json.loads(again.out) == record
    check_commands(arcf, record["cells"], folder, capsys)

    # Another table shares what is done, and draws its figure.
    figure = ("reproduce", "figure-2", "--budget", "smoke", "--output", folder, "--questions", 2)
    assert arcf(*figure) == 0
    begun = [line for line in capsys.readouterr().err.splitlines() if ": begun" in line]
    assert len(begun) == 2
    assert all("breakdown" in line for line in begun)
    assert {"figure-2.svg", "figure-2.png"} <= {path.name for path in folder.iterdir()}
    assert "<svg" in (folder / "report.html").read_text()
    parts = (folder / "report.md").read_text()
    assert "| MAP by |  | questions | ARCF, RankNet | Single fact |" in parts
    assert "| role | CENTRAL | 2 | 0." in parts

    assert arcf("reproduce", "table-1", "--budget", "paper", "--output", folder) == 2

    # The results alone, without weights and rankings, are enough for the report.
    for path in [path for path in folder.rglob("*") if path.is_file() and path.name not in KEPT]:
        path.unlink()
    assert arcf(*arguments) == 0
    alone = capsys.readouterr()
    assert ": begun" not in alone.err
    assert json.loads(alone.out) == record
    assert "Not all is done" not in (folder / "report.md").read_text()
    assert arcf(*figure, "--so-far") == 0
    assert (folder / "figure-2.svg").is_file()
    assert (folder / "report.md").read_text() == parts


def test_a_report_of_what_is_finished(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "out"
    arguments = ("reproduce", "table-2a", "--output", folder, "--questions", 2)
    assert arcf(*arguments, "--only", "TF-IDF") == 0
    assert arcf(*arguments, "--so-far", "--json") == 0
    output = capsys.readouterr()
    assert [cell["name"] for cell in json.loads(output.out)["cells"]] == ["TF-IDF"]
    report = (folder / "report.md").read_text()
    assert "Not all is done yet: " in report
    assert "| TF-IDF |" in report
    assert "Single fact" not in report

    assert arcf("reproduce", "all", "--output", tmp_path / "new", "--so-far", "--json") == 0
    assert json.loads(capsys.readouterr().out)["cells"] == []


def test_a_terminal_shows_what_runs(arcf: Arcf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    terminal = SafeConsole()
    terminal.file, terminal.width = StringIO(), 120
    monkeypatch.setattr(reproduce, "progress_console", lambda: terminal)
    assert arcf("reproduce", "table-1", "--output", tmp_path / "out") == 0
    shown = terminal.file.getvalue()
    for words in ("Jobs (0 of 1)", "reachability science", "of about 5 s", "[1/1] reachability science: done"):
        assert words in shown
    assert ": begun" not in shown


def test_a_sweep_draws_figure_3(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    only = ("--only", "k = 90", "--only", "L = 2", "--questions", 1, "--json")
    assert arcf("reproduce", "figure-3", "--output", tmp_path / "out", *only) == 0
    first, second = json.loads(capsys.readouterr().out)["cells"]
    assert (first["table"], second["name"]) == ("table-2d", "L = 2")
    assert first["seconds_exact"] > 0
    assert first["paper"] == 0.567
    assert (tmp_path / "out" / "figure-3.png").is_file()


def test_reachability_and_examples(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    assert arcf("reproduce", "table-1", "--output", tmp_path / "one", "--json") == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [cell["paper"] for cell in cells] == [0.90, 0.95, 0.97, 0.99]
    assert all(0.9 < cell["reachable"] <= 1 for cell in cells)
    assert arcf("reproduce", "examples", "--output", tmp_path / "two") == 0
    assert "examples: science-001 (6 gold facts)" in (tmp_path / "two" / "report.md").read_text()


def test_a_plan_does_nothing(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("reproduce", "table-2b", "--budget", "smoke", "--output", tmp_path / "out", "--plan")
    assert arcf(*arguments) == 0
    shown = capsys.readouterr().out
    assert "jobs, about" in shown
    assert "arcf train --preset minilm" in shown
    assert arcf(*arguments, "--json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["seconds"] == pytest.approx(sum(job["seconds"] for job in planned["jobs"]))
    assert not any(job["done"] for job in planned["jobs"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-9"], "There is no table or figure named 'table-9'"),
        (["table-1", "--budget", "tiny"], "There is no budget named 'tiny'"),
        (["table-1", "--budget", "small"], "worldtree-2020 is not installed"),
        (["table-2a", "--only", "nothing"], "No cell of table-2a has nothing"),
    ],
)
def test_wrong_usage(
    arcf: Arcf, data_home: Path, tmp_path: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    del data_home
    assert arcf("reproduce", *arguments, "--output", tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out" / "jobs").exists()


def test_one_command_at_a_time_works_in_a_folder(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("reproduce", "table-1", "--output", tmp_path / "out")
    assert arcf(*arguments) == 0
    with locked(tmp_path / "out" / "reproduction.json"):
        assert arcf(*arguments) == 2
        assert "reproduction.json: is being written by another command" in capsys.readouterr().err
        assert arcf(*arguments, "--so-far") == 0


def test_a_folder_of_something_else(arcf: Arcf, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert arcf("reproduce", "table-1", "--output", tmp_path) == 2
    assert "something other than a reproduction" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore:::ray")
def test_jobs_may_be_done_on_a_cluster(
    arcf: Arcf, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for folder, more in (("here", ()), ("there", ("--ray", "auto"))):
        assert arcf("reproduce", "table-1", "--budget", "smoke", "--output", folder, "--json", *more) == 0
        cells = json.loads(capsys.readouterr().out)["cells"]
        found.append([(cell["name"], cell["reachable"]) for cell in cells])
    assert found[0] == found[1]
    assert (tmp_path / "there" / "report.md").exists()
