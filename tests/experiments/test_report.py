"""The report's text, and the test over seeds."""

import re
from dataclasses import replace

import pytest
from scipy.stats import t as student

pytest.importorskip("torch")

from arcf.experiments.budget import read_budget
from arcf.experiments.findings import Finding
from arcf.experiments.measured import Measured
from arcf.experiments.rendering import Report, Section, Whisker
from arcf.experiments.report import Details, make_report
from arcf.experiments.seeds import seed_tests
from arcf.experiments.tables import Table

CELL = Measured(
    table="significance",
    name="ARCF | <b>",
    dataset="science",
    split="dev",
    seed=1,
    questions=3,
    map_all=0.5,
    map_official=None,
    interval=(0.4, 0.6),
    difference=None,
    difference_interval=None,
    reachable=None,
    chain_f1=None,
    seconds=1.5,
    seconds_exact=None,
    timed=False,
    chains=None,
    train_seconds=7200.0,
    paper=0.5815,
    paper_on="2020 test",
    paper_difference=None,
    paper_seconds=None,
    paper_hours=None,
    command="arcf rank --set 'a=<1>'",
    difference_command=None,
)


def cells(name: str, *maps: float) -> list[Measured]:
    return [replace(CELL, name=name, map_all=value, seed=seed) for seed, value in enumerate(maps, 1)]


def test_student_by_hand() -> None:
    (test,) = seed_tests([*cells("a", 0.5, 0.52, 0.54), *cells("b", 0.4, 0.41, 0.42)])
    pooled = (0.02**2 + 0.01**2) / 2
    expected = student.sf(0.11 / (pooled * 2 / 3) ** 0.5, 4)
    assert test.p == pytest.approx(expected)
    assert test.means == pytest.approx((0.52, 0.41))
    assert test.deviations == pytest.approx((0.02, 0.01))


def test_one_seed_and_equal_seeds_prove_nothing() -> None:
    assert [test.p for test in seed_tests([*cells("a", 0.5), *cells("b", 0.4, 0.3)])] == [None]
    assert [test.p for test in seed_tests([*cells("a", 0.5, 0.5), *cells("b", 0.5, 0.5)])] == [None]
    assert seed_tests([]) == []


def test_columns_that_nothing_has_are_left_out_and_text_is_escaped() -> None:
    measured = [CELL, replace(CELL, seed=2, map_all=0.6)]
    tests = seed_tests([*measured, replace(CELL, name="b", map_all=0.1), replace(CELL, name="b", map_all=0.2)])
    report = make_report(read_budget("smoke"), [Table("significance", "Seeds", ())], measured, Details(tests=tests))
    text, page = report.markdown(), report.html()
    header = next(line for line in text.splitlines() if line.startswith("|"))
    assert "official MAP" not in header
    assert "training hours" in header
    assert r"ARCF \| <b>" in text
    assert "0.400 to 0.600" in text
    assert "science; 3 questions; the paper's figures are of 2020 test." in text
    assert "| 0.5815 |" in text
    assert "One-tailed independent t-test" in text
    assert "ARCF | &lt;b&gt;" in page
    assert not re.search(r"<(script|link|img)", page)


def test_differences_are_told_with_what_they_are_from() -> None:
    table = Table("table-2b", "Ablations", (), reference="ARCF, RankNet")
    other = replace(
        CELL, table="table-2b", difference=-0.04, difference_interval=(-0.05, 0.01), paper_difference=-0.041
    )
    report = make_report(read_budget("smoke"), [table], [replace(CELL, table="table-2b"), other], Details())
    assert "| -0.0400 (-0.050 to +0.010) | -0.0410 |" in report.markdown()
    assert "Differences are from ARCF, RankNet, on the same questions; the last line of a row's" in report.markdown()
    assert report.html().count('<svg class="whisker"') == 1
    assert "<title>-0.0400, -0.0500 to +0.0100; the paper's -0.0410</title>" in report.html()


def test_the_papers_p_stands_only_beside_the_pair_that_it_tested() -> None:
    table = [Table("significance", "Seeds", ())]
    for other, told in (("Single fact", True), ("ARCF, NCE", False)):
        measured = [*cells("ARCF, RankNet", 0.5, 0.6), *cells(other, 0.3, 0.4)]
        text = make_report(read_budget("smoke"), table, measured, Details(tests=seed_tests(measured))).markdown()
        assert ("The paper: p < 0.001" in text) is told


def test_what_is_the_same_for_all_rows_is_said_once() -> None:
    named = replace(CELL, table="table-2a", paper_on="2020 test, a-model")
    rows = [named, replace(named, paper_on="2020 test"), replace(named, paper=None, paper_on="")]
    table = [Table("table-2a", "Main", ())]
    (section,) = make_report(read_budget("smoke"), table, rows, Details()).sections
    assert (
        section.caption
        == "science; 3 questions; the paper's figures are of 2020 test, a-model (where there is a model)."
    )
    assert "the paper's is of" not in section.headers
    (section,) = make_report(
        read_budget("smoke"), table, [named, replace(named, questions=30, paper_on="2020 val")], Details()
    ).sections
    assert section.caption == "science."
    assert "the paper's is of" in section.headers
    assert "questions" in section.headers


def test_the_commands_of_seeds_are_told_apart() -> None:
    cells = [replace(CELL, name="a", seed=seed, command=f"arcf --seed {seed}") for seed in (1, 2)]
    text = make_report(read_budget("smoke"), [Table("significance", "Seeds", ())], cells, Details()).markdown()
    assert "# a, seed 1\narcf --seed 1\n# a, seed 2\narcf --seed 2\n" in text


@pytest.mark.parametrize(
    ("whiskers", "places"),
    [
        ([Whisker(-0.1, -0.2, 0.0, None), Whisker(0.2, 0.1, 0.2, 0.0)], ["44.0", "152.0", "80.0"]),
        ([Whisker(0.0, 0.0, 0.0, 0.0)], ["8.0", "8.0"]),
    ],
)
def test_differences_are_drawn_to_one_scale(whiskers: list[Whisker], places: list[str]) -> None:
    rows = (("a",),) * len(whiskers)
    page = Report("", (), (Section("", ("",), rows, whiskers=tuple(whiskers)),), {}).html()
    assert re.findall(r'cx="([^"]*)"', page) == places


def test_only_seconds_that_were_timed_are_shown() -> None:
    table = [Table("table-2d", "k", ())]
    for timed in (True, False):
        cell = replace(CELL, table="table-2d", seconds=1.5, timed=timed)
        (section,) = make_report(read_budget("smoke"), table, [cell], Details()).sections
        assert ("seconds a question" in section.headers) is timed


def test_every_dataset_has_a_table() -> None:
    cells = [replace(CELL, table="table-2a"), replace(CELL, table="table-2a", dataset="other")]
    report = make_report(read_budget("smoke"), [Table("table-2a", "Main", ())], cells, Details())
    assert [section.title for section in report.sections] == ["table-2a: Main, science", "table-2a: Main, other"]


def test_a_command_is_listed_once_and_shown_with_its_row() -> None:
    cells = [replace(CELL, table="table-1", name=name) for name in ("k = 1", "k = 2")]
    report = make_report(read_budget("smoke"), [Table("table-1", "Reach", ())], cells, Details())
    assert "# k = 1; k = 2\narcf rank --set 'a=<1>'\n```" in report.markdown()
    assert report.html().count("<pre>arcf rank --set &#x27;a=&lt;1&gt;&#x27;</pre>") == 2


def test_findings_come_first() -> None:
    found = [Finding("MAP is flat | everywhere", "not settled", "a < b")]
    report = make_report(read_budget("smoke"), [Table("table-1", "Reach", ())], [], Details(findings=found))
    assert report.sections[0].title == "What holds here"
    assert r"| MAP is flat \| everywhere | not settled | a < b |" in report.markdown()
    assert "<td class=whole>a &lt; b</td>" in report.html()


def test_sentences_may_be_broken_into_lines_and_short_words_may_not() -> None:
    told = Finding("MAP is flat above k = 180: within 0.01", "not settled", "-0.0001 (-0.0079 to +0.0075)")
    report = make_report(read_budget("smoke"), [Table("table-1", "Reach", ())], [], Details(findings=[told]))
    kinds = ("sentence", told.claim), ("whole", told.verdict), ("whole", told.evidence)
    assert "".join(f"<td class={kind}>{text}</td>" for kind, text in kinds) in report.html()


def test_a_table_without_cells_is_left_out() -> None:
    report = make_report(read_budget("paper"), [Table("table-1", "Reach", ())], [], Details())
    assert report.sections == ()
    assert "all questions" in report.markdown()
