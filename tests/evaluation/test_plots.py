import sys
from pathlib import Path

import pytest

from arcf.errors import InputError, MissingExtraError
from arcf.evaluation.plots import check_picture, plot_growth, plot_learning, plot_reachability, plot_trade_off

LINES = {"tfidf": {290: 0.99, 90: 0.93}, "bm25": {90: 0.9, 290: 0.98}}
PANELS = {"time": {"build": {10: 0.1, 1000: 2.0}, "search": {10: 0.1}}, "memory": {"index": {10: 5.0}}}


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")])
def test_pictures(tmp_path: Path, ending: str, start: bytes) -> None:
    pytest.importorskip("matplotlib")
    plot_reachability(LINES, "made up, train", tmp_path / f"reach.{ending}")
    plot_growth(PANELS, "facts", tmp_path / f"growth.{ending}")
    plot_trade_off({"16": (0.5, 0.51), "exact": (3.0, 0.521)}, "exact", tmp_path / f"trade.{ending}")
    plot_learning(
        {"one": {"loss": {1: 2.0, 9: 1.0}, "held-out MAP": {9: 0.4}}, "two": {}}, tmp_path / f"curve.{ending}"
    )
    for name in ("reach", "growth", "trade", "curve"):
        assert (tmp_path / f"{name}.{ending}").read_bytes().startswith(start)


def test_the_picture_names_every_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none"}):
        plot_reachability(LINES, "made up, train", tmp_path / "reach.svg")
    picture = (tmp_path / "reach.svg").read_text()
    for words in ("tfidf", "bm25", "made up, train", "290"):
        assert words in picture


@pytest.mark.parametrize("name", ["reach", "reach.docx"])
def test_an_ending_that_is_no_picture(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(InputError, match=r"end the name in one of: .*png"):
        check_picture(tmp_path / name)
    with pytest.raises(InputError, match=r"end the name in one of: .*png"):
        plot_reachability(LINES, "", tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'arcf\[plot\]'"):
        plot_reachability(LINES, "", tmp_path / "reach.png")
