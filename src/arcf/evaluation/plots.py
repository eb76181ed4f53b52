"""Pictures of measurements. The only place that knows matplotlib, which is loaded when a picture is drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from arcf.errors import InputError, MissingExtraError
from arcf.evaluation.calibration import Bin
from arcf.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = Mapping[int, float]
PANELS_A_ROW = 3
FEW = 10
"""Groups whose names have room below their bars."""
LEAST = 0.05
"""What an axis of MAP spans at least."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars of one or several runs over the same groups: run -> group -> value. A run may lack a group.

    `questions` says how many there are in a group, where the bars do not: a high bar may stand for one of them.
    """

    title: str
    quantity: str
    groups: tuple[str, ...]
    bars: Mapping[str, Mapping[str, float]]
    questions: Mapping[str, int] = field(default_factory=dict)


def write_pictures(draw: Callable[[Path], None], path: Path) -> Path:
    """Draw a picture as PNG and SVG, under a path without ending; where the SVG is."""
    for ending in ("png", "svg"):
        written = path.with_name(f"{path.name}.{ending}")
        draw(written)
    return written


def plot_reachability(lines: Mapping[str, Mapping[int, float]], title: str, path: Path) -> None:
    """The fraction of gold facts within reach over k, one line per distance. The file's ending decides its format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    figure = _figure((6.4, 4.4))
    axes = figure.add_subplot(xlabel="k", ylabel="mean fraction of gold facts reachable", title=title)
    for name, line in lines.items():
        points = sorted(line.items())
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set_xticks(sorted({k for line in lines.values() for k in line}))
    axes.set_ylim(top=1.0)
    axes.grid(alpha=0.3)
    axes.legend()
    _write(figure, path)


def plot_growth(panels: Mapping[str, Mapping[str, Line]], quantity: str, path: Path) -> None:
    """One log-log panel per measurement (title -> line -> size -> value) over the same growing quantity.

    A straight line of slope 1 is linear growth; a dotted one shows it, from the first point of the first line on.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    figure = _figure((4.2 * len(panels), 4.0))
    for place, (title, lines) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(1, len(panels), place, xlabel=quantity, title=title, xscale="log", yscale="log")
        for name, line in lines.items():
            axes.plot(*zip(*sorted(line.items()), strict=True), marker="o", label=name)
        first = next(iter(lines.values()))
        size, last = min(first), max(first)
        axes.plot([size, last], [first[size], first[size] * last / size], ":", color="gray", label="linear")
        axes.grid(alpha=0.3, which="both")
        axes.legend()
    _write(figure, path)


def plot_trade_off(points: Mapping[str, tuple[float, float]], reference: str, path: Path) -> None:
    """MAP over seconds a question, one point for each way to explain; the reference's MAP is a line across.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    figure = _figure((6.4, 4.4))
    axes = figure.add_subplot(xlabel="seconds a question", ylabel="MAP")
    for name, point in points.items():
        axes.plot(*point, marker="s" if name == reference else "o", color="C1" if name == reference else "C0")
        axes.annotate(name, point, textcoords="offset points", xytext=(8, 0), va="center")
    axes.axhline(points[reference][1], linestyle=":", color="gray")
    axes.margins(x=0.15, y=0.15)
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    _write(figure, path)


def plot_reliability(lines: Mapping[str, Sequence[Bin]], path: Path) -> None:
    """The reliability diagram: the share of facts that is right over their probability, one line per corpus.

    A point's size follows the number of its facts; on the diagonal, probabilities can be taken at their word.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    figure = _figure((5.4, 5.0))
    axes = figure.add_subplot(xlabel="probability", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.plot([0, 1], [0, 1], ":", color="gray")
    for name, bins in lines.items():
        chances, right = [one.probability for one in bins], [one.right for one in bins]
        (line,) = axes.plot(chances, right, label=name, alpha=0.7)
        axes.scatter(chances, right, s=[4 + one.count for one in bins], color=line.get_color(), alpha=0.7)
    axes.grid(alpha=0.3)
    axes.legend()
    _write(figure, path)


def plot_learning(runs: Mapping[str, Mapping[str, Line]], path: Path) -> None:
    """Learning curves over samples seen: a panel for everything that was measured of a run, such as its loss.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    panels = list(dict.fromkeys(measured for lines in runs.values() for measured in lines))
    rows = -(-len(panels) // 2)
    figure = _figure((6.4 if len(panels) < 2 else 10.0, 3.4 * max(rows, 1)))
    for place, measured in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, min(len(panels), 2), place, xlabel="prefixes", ylabel=measured)
        for name, lines in runs.items():
            points = sorted(lines.get(measured, {}).items())
            if points:
                axes.plot(*zip(*points, strict=True), marker="." if len(points) < 50 else None, label=name)
        axes.grid(alpha=0.3)
        axes.legend()
    _write(figure, path)


def plot_breakdowns(panels: Sequence[Panel], path: Path) -> None:
    """Bars side by side in a grid of panels, three a row: one bar per run and group, the group's questions below it.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    rows = -(-len(panels) // PANELS_A_ROW)
    figure = _figure((4.4 * PANELS_A_ROW, 3.4 * rows))
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, PANELS_A_ROW, place, xlabel=panel.title, ylabel=panel.quantity)
        width = 0.8 / max(len(panel.bars), 1)
        for number, (name, bars) in enumerate(panel.bars.items()):
            found = [place for place, group in enumerate(panel.groups) if group in bars]
            shift = (number - (len(panel.bars) - 1) / 2) * width
            heights = [bars[panel.groups[place]] for place in found]
            axes.bar([place + shift for place in found], heights, width, label=name)
        names = [f"{group}\n({panel.questions[group]})" if panel.questions else group for group in panel.groups]
        axes.set_xticks(range(len(names)), names, fontsize=8 if len(names) <= FEW else 6)
        axes.grid(axis="y", alpha=0.3)
        if len(panel.bars) > 1:
            axes.margins(y=0.2)  # room for the legend
            axes.legend(fontsize=8)
    _write(figure, path)


def plot_cost(panels: Mapping[str, Mapping[str, Line]], path: Path) -> None:
    """MAP (left axis, solid) and seconds (right axis, dashed) over a setting: title -> {"MAP" or a time -> line}.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the file cannot be written, or its ending is no format.
    """
    figure = _figure((5.6 * len(panels), 4.0))
    for place, (title, lines) in enumerate(panels.items(), start=1):
        left = figure.add_subplot(1, len(panels), place, xlabel=title, ylabel="MAP")
        right = left.twinx()
        right.set_ylabel("seconds a question")
        drawn = []
        for number, (name, line) in enumerate(lines.items()):
            axes, style = (left, "-o") if name.startswith("MAP") else (right, "--s")
            drawn += axes.plot(*zip(*sorted(line.items()), strict=True), style, color=f"C{number}", label=name)
        right.set_ylim(bottom=0)
        low, high = left.get_ylim()
        if high - low < LEAST:  # What is as good as flat should look flat.
            left.set_ylim((low + high - LEAST) / 2, (low + high + LEAST) / 2)
        left.grid(alpha=0.3)
        left.legend(handles=drawn, fontsize=8, loc="upper left")
    _write(figure, path)


def check_picture(path: Path) -> None:
    """Fail early: call it before the work whose result is to be drawn.

    Raises:
        MissingExtraError: matplotlib is not installed.
        InputError: the path's ending is no format.
    """
    known = _figure((1.0, 1.0)).canvas.get_supported_filetypes()
    if _ending(path) not in known:
        raise InputError(f"is no picture that can be drawn; end the name in one of: {', '.join(sorted(known))}.", path)


def _figure(size: tuple[float, float]) -> "Figure":
    """A figure of its own, without pyplot: no window system, no state that threads share."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("Drawing a plot", "plot") from error
    return Figure(figsize=size, layout="constrained")


def _write(figure: "Figure", path: Path) -> None:
    check_picture(path)
    with atomic_write(path) as file:
        figure.savefig(file, format=_ending(path), dpi=150)


def _ending(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()
