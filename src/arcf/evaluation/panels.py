"""The six breakdowns of the paper's figure 2, for one run or several side by side."""

from collections.abc import Mapping, Sequence

from arcf.evaluation.breakdown import FactGroups, Group, by_difficulty, by_fact, by_role
from arcf.evaluation.judgement import Judgement, judge
from arcf.evaluation.plots import Panel
from arcf.evaluation.reachability import hop_groups
from arcf.runs.run import Run
from arcf.types import Dataset

K = 180
"""The size of the neighborhoods that hops are counted in unless told otherwise: that of the paper's training."""

Judged = Mapping[str, Sequence[Judgement]]


def breakdown_panels(runs: Sequence[Run], dataset: Dataset, split: str, k: int = K) -> tuple[Panel, ...]:
    """Questions by number of gold facts; then MAP by difficulty, role, number of gold facts, and hops of two kinds.

    Hops are moves to one of the `k` nearest facts, or to any fact that shares a word; see `evaluation.reachability`.

    Raises:
        UnknownNameError: the dataset has no such split.
        InputError: the split has no gold, or a run no question of the split.
    """
    judged = {run.name: judge(run, dataset, split) for run in runs}
    near, overlap = hop_groups(dataset, split, k), hop_groups(dataset, split, len(dataset.facts), "overlap")
    sizes = {name: by_size(judgements) for name, judgements in judged.items()}
    counted = {group.name: float(group.questions) for group in next(iter(sizes.values()))}
    return (
        Panel("gold facts", "questions", tuple(counted), {"questions": counted}),
        _panel("difficulty", {name: by_difficulty(judgements) for name, judgements in judged.items()}),
        _panel("role", {name: by_role(judgements) for name, judgements in judged.items()}),
        _panel("gold facts", sizes),
        _hops(f"hops to the {k} nearest facts", judged, near),
        _hops("hops to facts that share a word", judged, overlap),
    )


def by_size(judgements: Sequence[Judgement]) -> tuple[Group, ...]:
    """MAP by the exact number of different gold facts."""
    groups = []
    for size in sorted({judgement.gold_size for judgement in judgements}):
        members = [judgement for judgement in judgements if judgement.gold_size == size]
        mean = sum(judgement.average_precision for judgement in members) / len(members)
        groups.append(Group(str(size), len(members), sum(len(judgement.gold) for judgement in members), mean))
    return tuple(groups)


def _hops(title: str, judged: Judged, groups: FactGroups) -> Panel:
    broken = {name: by_fact(judgements, groups.names, groups.group) for name, judgements in judged.items()}
    return _panel(title, broken)


def _panel(title: str, broken: Mapping[str, Sequence[Group]]) -> Panel:
    """MAP of each run's groups; all runs are judged on the same questions, so the first has all groups."""
    questions = {group.name: group.questions for group in next(iter(broken.values()))}
    bars = {run: {group.name: group.map for group in groups} for run, groups in broken.items()}
    return Panel(title, "MAP", tuple(questions), bars, questions)
