"""The six breakdowns of figure 2."""

from pathlib import Path

import pytest

from arcf.data import load
from arcf.evaluation import evaluate, hop_groups
from arcf.evaluation.panels import breakdown_panels
from arcf.evaluation.plots import Panel, plot_breakdowns, plot_cost
from arcf.rankers import RankerSettings, build_ranker
from arcf.runs import Run, rank_questions


def test_two_runs_side_by_side_agree_with_their_evaluations(tmp_path: Path) -> None:
    dataset = load()
    runs = [
        Run.of(name, dataset, rank_questions(build_ranker(RankerSettings(name), dataset), dataset.split("dev")))
        for name in ("tfidf", "bm25-iterated")
    ]
    panels = breakdown_panels(runs, dataset, "dev", k=20)
    assert [panel.quantity for panel in panels] == ["questions", *["MAP"] * 5]
    counted, by_gold = panels[0].bars["questions"], panels[3].bars
    assert sum(counted.values()) == len(dataset.split("dev"))
    for run in runs:
        groups = {"near": hop_groups(dataset, "dev", 20)}
        result = evaluate(run, dataset, "dev", groups)
        weighted = sum(by_gold[run.name][size] * counted[size] for size in counted) / sum(counted.values())
        assert weighted == pytest.approx(result.map_all)
        for place, title in ((1, "difficulty"), (2, "role"), (4, "near")):
            groups_of = result.breakdowns[title]
            assert panels[place].bars[run.name] == {group.name: group.map for group in groups_of}
            assert panels[place].questions == {group.name: group.questions for group in groups_of}
    assert panels[5].groups[0] == "1"
    pytest.importorskip("matplotlib")
    plot_breakdowns(panels, tmp_path / "b.svg")
    drawn = (tmp_path / "b.svg").read_text()
    assert all(word in drawn for word in ("tfidf", "bm25-iterated", "difficulty", "share a word"))


def test_no_groups_and_groups_that_a_run_lacks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    panels = [Panel("role", "MAP", (), {}), Panel("x", "MAP", ("1", "2"), {"a": {"1": 0.5}, "b": {"2": 0.1}})]
    plot_breakdowns(panels, tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


def test_cost(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot_cost({"k": {"MAP": {90: 0.5, 290: 0.6}, "seconds, exact": {90: 1.0}}}, tmp_path / "c.svg")
    assert "seconds, exact" in (tmp_path / "c.svg").read_text()
