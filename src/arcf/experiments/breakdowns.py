"""The six breakdowns of figure 2: a job for each run, and their results side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from arcf.evaluation.panels import breakdown_panels
from arcf.evaluation.plots import Panel
from arcf.experiments.commands import command
from arcf.experiments.measuring import Ranked
from arcf.experiments.place import Job, Place
from arcf.runs import read_run

OWN = "run"
"""What a result calls its run: jobs that differ in their labels alone are one."""


@dataclass(frozen=True, slots=True)
class BreakdownJob(Job):
    """A run's MAP on parts of the questions and of the gold facts."""

    ranked: Ranked
    kind: ClassVar[str] = "breakdown"

    @property
    def title(self) -> str:
        """What it is about."""
        return self.ranked.title

    def command(self, place: Place) -> str:
        """`arcf evaluate`, which draws it."""
        run, options = self.ranked.product(place), self.ranked.data.options()
        return command("arcf", "evaluate", run, *options, "--plot", place.of(self))

    def run(self, place: Place) -> dict[str, Any]:
        """Evaluate by parts."""
        data, run = self.ranked.data, replace(read_run(self.ranked.product(place)), name=OWN)
        return {"panels": [asdict(panel) for panel in breakdown_panels([run], data.load(), data.split)]}


def side_by_side(results: Mapping[str, Mapping[str, Any]]) -> tuple[Panel, ...]:
    """The panels of several systems, each with the bars of all: system -> result of its job."""
    panels = [[_panel(name, values) for values in result["panels"]] for name, result in results.items()]
    return tuple(_joined(same) for same in zip(*panels, strict=True))


def _panel(name: str, values: dict[str, Any]) -> Panel:
    """A panel of one system. That of how many questions there are belongs to none."""
    bars = {name if own == OWN else own: heights for own, heights in values["bars"].items()}
    return Panel(**values | {"groups": tuple(values["groups"]), "bars": bars})


def _joined(panels: Sequence[Panel]) -> Panel:
    """All are of the same questions, and so have the same groups."""
    return replace(panels[0], bars={name: bars for panel in panels for name, bars in panel.bars.items()})
