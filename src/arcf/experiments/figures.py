"""The paper's figures, drawn from finished jobs."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from arcf.evaluation.plots import Line, Panel, plot_breakdowns, plot_cost, write_pictures
from arcf.experiments.measured import Measured
from arcf.experiments.tables import Table


def draw_figures(
    tables: Mapping[str, Table], cells: Sequence[Measured], panels: Sequence[Panel], folder: Path
) -> dict[str, Path]:
    """Draw what there is, the `panels` of figure 2 among it; the SVG file of each figure by its name."""
    drawn = {}
    if panels:
        drawn["figure-2"] = write_pictures(partial(plot_breakdowns, panels), folder / "figure-2")
    sweeps = {title: lines for title in ("k", "L") if (lines := _lines(tables, cells, title))}
    if sweeps:
        drawn["figure-3"] = write_pictures(partial(plot_cost, sweeps), folder / "figure-3")
    return drawn


def _lines(tables: Mapping[str, Table], cells: Sequence[Measured], swept: str) -> dict[str, Line]:
    """MAP and seconds over a setting that was swept, by what is known of them."""
    table = next((table for table in tables.values() if table.swept == swept and table.name != "table-1"), None)
    if table is None:
        return {}
    places = {cell.name: cell.place for cell in table.cells}
    own = [cell for cell in cells if cell.table == table.name]
    lines = {
        "MAP": {places[cell.name]: cell.map_all for cell in own if cell.map_all is not None},
        # What was not timed alone has the time of other jobs in it.
        "seconds": {places[cell.name]: cell.seconds for cell in own if cell.seconds is not None and cell.timed},
        "seconds, exact": {places[cell.name]: cell.seconds_exact for cell in own if cell.seconds_exact is not None},
    }
    return {name: line for name, line in lines.items() if line}
