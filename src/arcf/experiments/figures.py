"""The paper's figures, drawn from finished jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arcf.evaluation.panels import breakdown_panels
from arcf.evaluation.plots import Line, plot_breakdowns, plot_cost
from arcf.experiments.measured import Measured
from arcf.experiments.measuring import Ranked
from arcf.experiments.place import Place
from arcf.experiments.tables import Table
from arcf.runs import read_run

ENDINGS = ("svg", "png")


def draw_figures(tables: Mapping[str, Table], cells: Sequence[Measured], place: Place) -> dict[str, Path]:
    """Draw what the tables allow; the SVG file of each figure by its name."""
    drawn = {}
    if "figure-2" in tables and (ranked := _ranked(tables["figure-2"], place)):
        _draw_breakdowns(ranked, place)
        drawn["figure-2"] = place.folder / "figure-2.svg"
    panels = {title: lines for title in ("k", "L") if (lines := _lines(tables, cells, title))}
    if panels:
        for ending in ENDINGS:
            plot_cost(panels, place.folder / f"figure-3.{ending}")
        drawn["figure-3"] = place.folder / "figure-3.svg"
    return drawn


def _ranked(table: Table, place: Place) -> list[Ranked]:
    """The rankings of a table that are there."""
    ranked = [cell.evaluate.ranked for cell in table.cells if cell.evaluate]
    return [job for job in ranked if job.product(place).is_file()]


def _draw_breakdowns(ranked: Sequence[Ranked], place: Place) -> None:
    data = ranked[0].data
    runs = [replace(read_run(job.product(place)), name=job.system) for job in ranked]
    panels = breakdown_panels(runs, data.load(), data.split)
    for ending in ENDINGS:
        plot_breakdowns(panels, place.folder / f"figure-2.{ending}")


def _lines(tables: Mapping[str, Table], cells: Sequence[Measured], swept: str) -> dict[str, Line]:
    """MAP and seconds over a setting that was swept, by what is known of them."""
    table = next((table for table in tables.values() if table.swept == swept and table.name != "table-1"), None)
    if table is None:
        return {}
    places = {cell.name: cell.place for cell in table.cells}
    own = [cell for cell in cells if cell.table == table.name]
    lines = {
        "MAP": {places[cell.name]: cell.map_all for cell in own if cell.map_all is not None},
        "seconds": {places[cell.name]: cell.seconds for cell in own if cell.seconds is not None},
        "seconds, exact": {places[cell.name]: cell.seconds_exact for cell in own if cell.seconds_exact is not None},
    }
    return {name: line for name, line in lines.items() if line}
