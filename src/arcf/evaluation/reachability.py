"""How much of an explanation the neighborhoods can reach: Table 1 of the paper, and in how many hops.

A hop is a move from the question, or from a fact, to a fact that it sees at k. Only gold facts are moved through: a
gold fact is at hop 1 if the question sees it, at hop h if a gold fact at hop h - 1 does and none nearer, and out of
reach (infinity) if no number of hops gets there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from arcf.errors import InputError
from arcf.evaluation.breakdown import FactGroups
from arcf.types import Dataset, Question

# Scoring a run needs no neighborhoods, and should not wait for them to be imported.
if TYPE_CHECKING:
    from arcf.neighborhood import Neighborhood

#: The label of gold facts that are out of reach.
UNREACHABLE = "inf"


@dataclass(frozen=True, slots=True)
class Reachability:
    """The reach of one neighborhood at one k.

    `fraction` is the mean over questions of the share of gold facts within reach. `hops` counts the gold facts of all
    questions at each hop from 1 on; `unreachable` those beyond. Questions without gold are not in `questions`, and
    gold facts that exist in no table of the dataset are in none of the numbers: nothing could reach them.
    """

    k: int
    fraction: float
    hops: tuple[int, ...]
    unreachable: int
    questions: int

    @property
    def histogram(self) -> dict[str, int]:
        """Gold facts by hop label: 1, 2, ..., inf."""
        counts = {str(hop): count for hop, count in enumerate(self.hops, start=1)}
        return counts | {UNREACHABLE: self.unreachable}


def hops(neighborhood: "Neighborhood", query: str, gold: Iterable[int], k: int, deepest: int = 0) -> dict[int, int]:
    """The hop of every gold fact that is within reach, nearest first.

    Who asks at several k gives the largest as `deepest`: every fact is then searched for once, since the k nearest
    are the first k of any longer list.
    """
    found: dict[int, int] = {}
    left = set(gold)
    frontier: list[str | int] = [query]
    hop = 0
    while frontier and left:
        hop += 1
        near = (neighborhood.nearest(source, max(k, deepest))[:k].tolist() for source in frontier)
        seen = left.intersection(chain.from_iterable(near))
        frontier = sorted(seen)
        found |= dict.fromkeys(sorted(seen), hop)
        left -= seen
    return found


def reachability(
    neighborhood: "Neighborhood",
    dataset: Dataset,
    questions: Iterable[Question],
    k: int,
    progress: Callable[[], None] = lambda: None,
    deepest: int = 0,
) -> Reachability:
    """The reach over the questions that have gold facts; `progress` is called after each question.

    For `deepest`, see `hops`.

    Raises:
        InputError: no question has a gold fact of the dataset.
    """
    fractions: list[float] = []
    counts: dict[int, int] = {}
    unreachable = 0
    for question in questions:
        gold = dataset.gold_ids(question)
        if gold:
            found = hops(neighborhood, question.text, gold, k, deepest)
            fractions.append(len(found) / len(gold))
            unreachable += len(gold) - len(found)
            for hop in found.values():
                counts[hop] = counts.get(hop, 0) + 1
        progress()
    if not fractions:
        raise InputError(f"The questions have no gold facts in {dataset.name}: nothing to reach; choose another split.")
    histogram = tuple(counts[hop] for hop in sorted(counts))
    return Reachability(k, sum(fractions) / len(fractions), histogram, unreachable, len(fractions))


def reachabilities(
    dataset: Dataset,
    split: str,
    distances: Sequence[str],
    ks: Sequence[int],
    progress: Callable[[], None] = lambda: None,
) -> dict[str, tuple[Reachability, ...]]:
    """The reach of each distance at each k, in the given orders.

    Whatever the split, distances learn from the facts and the training questions only. `progress` is called
    len(distances) * len(ks) times for each question of the split.

    Raises:
        UnknownNameError: the dataset has no such split.
        InputError: no question of the split has a gold fact of the dataset.
    """
    from arcf.neighborhood import make_neighborhood

    questions = dataset.split(split)
    results = {}
    for name in distances:
        neighborhood = make_neighborhood(dataset, name)
        results[name] = tuple(reachability(neighborhood, dataset, questions, k, progress, max(ks)) for k in ks)
    return results


def hop_groups(dataset: Dataset, split: str, k: int, distance: str = "tfidf") -> FactGroups:
    """The gold facts of a split by their hop, under the paper's distance or another: groups for a breakdown."""
    from arcf.neighborhood import make_neighborhood

    labels = hop_labels(make_neighborhood(dataset, distance), dataset, dataset.split(split), k)
    names = {label for of_question in labels.values() for label in of_question.values()}
    return FactGroups(tuple(sorted(names, key=float)), labels)


def hop_labels(
    neighborhood: "Neighborhood", dataset: Dataset, questions: Sequence[Question], k: int
) -> Mapping[str, Mapping[str, str]]:
    """The hop of every gold fact as a label, question id -> uid -> "1", "2", ... or "inf": groups for a breakdown."""
    labels: dict[str, dict[str, str]] = {}
    for question in questions:
        gold = dataset.gold_ids(question)
        found = hops(neighborhood, question.text, gold, k)
        labels[question.id] = {dataset.facts[fact].uid: str(found.get(fact, UNREACHABLE)) for fact in gold}
    return labels
