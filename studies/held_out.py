"""Rankers beside one another on questions that training holds out: python studies/held_out.py bm25-iterated arcf:MODEL.

MAP over WorldTree and StrategyQA (`validation.questions` of a training run asks the same ones), of WorldTree's gold
facts by whether a learnt question uses them, and over all of `benchmarks/everyday`. A ranker is a name, NAME:MODEL, or
arcf:MODEL+MODEL for chains by the mean of several models' scores; `packaged` is the model that comes with arcf.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from arcf.chain import ChainSettings
from arcf.data import load as load_dataset
from arcf.data.sample import sample_questions
from arcf.evaluation.breakdown import SEEN, UNSEEN, by_training
from arcf.evaluation.judgement import judge_questions
from arcf.neighborhood import make_neighborhood
from arcf.rankers import Autoregressive, Ranker, RankerSettings, build_ranker
from arcf.runs import Run
from arcf.scorer import Prefix, Scorer, load_scorer, packaged_model
from arcf.types import Dataset, Question

EVERYDAY = str(Path(__file__).parent.parent / "benchmarks" / "everyday")
CORPORA = {"worldtree-2020": 200, "strategyqa": 150, EVERYDAY: 0}
"""How many questions training holds out; 0: it never sees the corpus."""

SINGLE = ChainSettings(k=180, max_facts=1, min_facts=1, rescored=1, screened=None, min_confidence=None)


@dataclass(frozen=True)
class Mean:
    """Scores by the mean of several scorers."""

    scorers: Sequence[Scorer]

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of each candidate after `prefix`."""
        found: NDArray[np.float32] = np.mean([scorer.score(prefix, candidates) for scorer in self.scorers], axis=0)
        return found


def make_ranker(wanted: str, dataset: Dataset, chain: ChainSettings, precedents: bool) -> Ranker:
    """The ranker of a name with or without models, which goes by `precedents` or not."""
    kind, _, names = wanted.partition(":")
    models = [str(packaged_model()) if name == "packaged" else name for name in names.split("+") if name]
    if len(models) > 1:
        texts = [fact.text for fact in dataset.facts]
        scorer = Mean([load_scorer(model, texts) for model in models])
        return Autoregressive(scorer, make_neighborhood(dataset, "tfidf"), chain)
    settings = RankerSettings(kind, model=models[0] if models else None)
    own = replace(settings, chain=chain, precedents=precedents) if kind == "arcf" else settings
    return build_ranker(own, dataset)


def parts(dataset: Dataset, held_out: int, count: int) -> tuple[Sequence[Question], Sequence[Question]]:
    """What is asked, evenly spaced, and what was learnt."""
    if not held_out:
        return dataset.split("dev"), ()
    questions = [question for question in dataset.training if dataset.gold_ids(question)]
    kept = sample_questions(questions, held_out)
    count = min(count, len(kept))
    asked = [kept[place * len(kept) // count] for place in range(count)]
    return asked, [question for question in questions if question not in kept]


def main(
    rankers: Annotated[list[str], typer.Argument(help="NAME, NAME:MODEL or arcf:MODEL+MODEL.")],
    questions: Annotated[int, typer.Option(min=1, help="How many of each corpus.")] = 120,
    single: Annotated[bool, typer.Option(help="A single pass, as validation makes it, instead of chains.")] = False,
    precedents: Annotated[int | None, typer.Option(min=0, help="How many learnt questions are; else all.")] = None,
) -> None:
    """Compare rankers on held-out questions."""
    table = Table("ranker", title=f"MAP of {'a single pass' if single else 'chains'}")
    rows: dict[str, list[str]] = {wanted: [] for wanted in rankers}
    for name, held_out in CORPORA.items():
        dataset = load_dataset(name)
        asked, learnt = parts(dataset, held_out, questions)
        # No held-out question is a precedent, and without any, words weigh what they did.
        known = sample_questions(learnt, precedents or len(learnt))
        dataset = replace(dataset, whole_training=tuple(known))
        table.add_column(f"{dataset.name}, {len(asked)}")
        for group in (SEEN, UNSEEN) if name == "worldtree-2020" else ():
            table.add_column(group)
        for wanted, row in rows.items():
            ranker = make_ranker(wanted, dataset, SINGLE if single else ChainSettings(), precedents != 0)
            rankings = [ranker.rank(question) for question in track(asked, f"{dataset.name}, {wanted}")]
            judgements = judge_questions(Run.of(wanted, dataset, rankings), dataset, asked, dataset.name)
            row.append(f"{fmean(judgement.average_precision for judgement in judgements):.4f}")
            if name == "worldtree-2020":
                groups = {group.name: group.map for group in by_training(judgements, learnt)}
                row.extend(f"{groups[group]:.4f}" for group in (SEEN, UNSEEN))
    for wanted, row in rows.items():
        table.add_row(wanted, *row)
    Console(width=160).print(table)


if __name__ == "__main__":
    typer.run(main)
