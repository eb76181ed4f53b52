"""What scoring fewer facts costs in MAP, and what it saves: python studies/screening.py --dataset worldtree-2020.

Chains of the training questions that the packaged model was not trained on (training holds out the same sample) are
searched for with several numbers of old facts that are scored again (m) and of new ones that are scored (n).

A pair of prefix and candidate is scored once, whichever settings ask for it: so settings differ by what they score and
not by how int8 rounds it, and many cost little more than one. The times are those of searches that share nothing, in
turns, after a first question that is not counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from arcf.bench.turns import seconds_in_turns
from arcf.chain import ChainSettings
from arcf.data import load as load_dataset
from arcf.data.sample import sampled
from arcf.evaluation import Comparison, compare
from arcf.evaluation.plots import plot_trade_off
from arcf.explainer import load
from arcf.rankers import Autoregressive
from arcf.runs import Run
from arcf.scorer import Prefix
from arcf.scorer.base import Estimating
from arcf.types import Dataset, Ranking

EXACT = "exact"
ALL = "all"
WANTED = ("96/all", "96/96", "96/64", "96/32", "64/all", "64/64", "64/32", "64/16", "48/48", "48/24", "32/32", "32/16")


@dataclass
class Remembering:
    """A scorer that scores a candidate after a prefix only once."""

    scorer: Estimating
    scores: dict[tuple[Prefix, int], float] = field(default_factory=dict)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scorer's own scores, or what it said before."""
        asked = candidates.tolist()
        missing = np.array([fact for fact in asked if (prefix, fact) not in self.scores], dtype=np.int64)
        if len(missing):
            fresh = self.scorer.score(prefix, missing).tolist()
            self.scores |= {(prefix, fact): score for fact, score in zip(missing.tolist(), fresh, strict=True)}
        return np.array([self.scores[prefix, fact] for fact in asked], dtype=np.float32)

    def known(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scorer's own."""
        return self.scorer.known(prefix, facts)

    def estimate(self, prefix: Prefix, facts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scorer's own."""
        return self.scorer.estimate(prefix, facts)


def settings_of(name: str) -> ChainSettings:
    """Settings from `exact` or `M/N`; N may be `all`."""
    if name == EXACT:
        return ChainSettings(rescored=None)
    rescored, _, screened = name.partition("/")
    return ChainSettings(rescored=int(rescored), screened=None if screened == ALL else int(screened))


def rank(
    usual: Autoregressive, names: Sequence[str], dataset: Dataset, split: str
) -> tuple[list[Run], dict[str, float]]:
    """The run of each of the settings, and its scorings a question."""
    rankings: dict[str, list[Ranking]] = {name: [] for name in names}
    scorings = dict.fromkeys(names, 0)
    questions = dataset.split(split)
    search = usual.search
    assert isinstance(search.scorer, Estimating), "a model that was trained with a prior is needed"
    for question in track(questions, "Ranking"):
        scorer = Remembering(search.scorer)
        for name in names:
            ranker = Autoregressive(scorer, search.neighborhood, settings_of(name), query=search.query)
            found = ranker.search.find(question)
            rankings[name].append(ranker.ranking(found))
            scorings[name] += found.scorings
    runs = [Run.of(name, dataset, own) for name, own in rankings.items()]
    return runs, {name: total / len(questions) for name, total in scorings.items()}


def same_explanations(runs: Sequence[Run]) -> dict[str, float]:
    """The share of questions of which each run has the explanation that the first one has."""
    first = runs[0].chains
    return {run.name: float(np.mean([run.chains[key] == chain for key, chain in first.items()])) for run in runs}


def report(
    comparison: Comparison, scorings: Mapping[str, float], same: Mapping[str, float], seconds: Mapping[str, float]
) -> None:
    """The table."""
    title = f"{comparison.questions_all} questions of {comparison.dataset}"
    heads = ("m/n", "MAP", "more than the first", "scorings / question", "same explanation", "s / question")
    table = Table(*heads, title=title)
    for run in comparison.runs:
        change = run.difference
        gain = "" if change is None else f"{change.map:+.4f} [{change.interval.low:+.4f}, {change.interval.high:+.4f}]"
        time = f"{seconds[run.name]:.2f}" if run.name in seconds else "-"
        table.add_row(run.name, f"{run.map_all:.4f}", gain, f"{scorings[run.name]:,.0f}", f"{same[run.name]:.0%}", time)
    Console().print(table)


def main(
    model: Annotated[str | None, typer.Option(help="A model's folder [default: the packaged one].")] = None,
    dataset: Annotated[str, typer.Option(help="A dataset with gold facts.")] = "science",
    split: Annotated[str, typer.Option(help="Where questions are drawn from.")] = "train",
    questions: Annotated[int, typer.Option(min=1, help="How many; 200 were held out in training.")] = 200,
    wanted: Annotated[
        list[str] | None, typer.Option(help="m/n, m/all or exact; repeat it, what is compared with first.")
    ] = None,
    timed: Annotated[int, typer.Option(help="How many of the questions are timed, at least 2.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw MAP over the times into this picture.")] = None,
) -> None:
    """Compare numbers of facts that are scored."""
    if plot is not None and timed < 2:
        raise typer.BadParameter("the picture is drawn over times; give --timed, at least 2.", param_hint="--plot")
    names = wanted or WANTED
    whole = load_dataset(dataset)
    usual = load(model, whole).ranker  # All training questions tell how common a word is.
    corpus = sampled(whole, split, questions)
    runs, scorings = rank(usual, names, corpus, split)
    ways = {name: usual.with_settings(settings_of(name)).search.find for name in names}
    seconds = seconds_in_turns(ways, corpus.split(split)[:timed]) if timed > 1 else {}
    comparison = compare(runs, corpus, split)
    report(comparison, scorings, same_explanations(runs), seconds)
    if plot is not None:
        points = {run.name: (seconds[run.name], run.map_all) for run in comparison.runs}
        plot_trade_off(points, names[0], plot)


if __name__ == "__main__":
    typer.run(main)
