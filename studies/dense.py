"""What the cosine of an untrained encoder adds to a model's scores: python studies/dense.py --dataset worldtree-2020.

Each question's nearest facts are scored once, without any chosen fact, and ranked by the model's score and the cosine
times some weights. The model is an export with an encoder of its own; the weight that it was made with does not count.
Training holds out the same sample of questions, if as many are asked for here as were held out.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from arcf.data import load as load_dataset
from arcf.data.sample import sampled
from arcf.evaluation import mean_average_precision
from arcf.neighborhood import make_neighborhood
from arcf.runs import Run
from arcf.scorer import Prefix, packaged_model
from arcf.scorer.dense_prior import DensePrior
from arcf.scorer.exported.folder import UNTRAINED
from arcf.scorer.loading import load_network
from arcf.scorer.prior import LexicalPrior
from arcf.types import Dataset, Question, Ranking

WEIGHTS = (0.0, 4.0, 8.0, 12.0, 15.0, 20.0, 30.0, 60.0)
K = 290


def score_parts(
    model: str, dataset: Dataset, questions: Sequence[Question], distance: str
) -> list[NDArray[np.float64]]:
    """Of each question's nearest facts, the ids, the model's scores with its lexical prior, and the cosines: (3, k)."""
    texts = [fact.text for fact in dataset.facts]
    network, encoder = load_network(model, texts), str(Path(model) / UNTRAINED)
    lexical = LexicalPrior(texts, network.settings.prior)
    dense = DensePrior(encoder, texts, 1.0)
    neighborhood = make_neighborhood(dataset, distance, encoder)
    parts = []
    for question in track(questions, "Scoring"):
        asked = question.asked(network.settings.query)
        near, prefix = neighborhood.nearest(asked.text, K), Prefix(asked.query())
        scores = network.score(prefix, near) + lexical.score(prefix, near)
        parts.append(np.array([near, scores, dense.score(prefix, near)], dtype=np.float64))
    return parts


def ranked(question: Question, parts: NDArray[np.float64], weight: float) -> Ranking:
    """The facts of a question by the weighted sum."""
    near, scores, cosines = parts
    total = scores + weight * cosines
    order = np.argsort(-total, kind="stable")
    return Ranking(question.id, near[order].astype(np.int64), total[order])


def main(
    model: Annotated[str | None, typer.Option(help="A model's folder [default: the packaged one].")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="A dataset with gold facts; repeat it.")] = None,
    distance: Annotated[list[str] | None, typer.Option(help="By which facts are near; repeat it.")] = None,
    split: Annotated[str, typer.Option(help="Where questions are drawn from.")] = "train",
    questions: Annotated[int, typer.Option(min=1, help="How many of each; 200 were held out in training.")] = 200,
) -> None:
    """Compare weights of the cosine."""
    table = Table(
        "dataset", "distance", "questions", *(f"{weight:g}" for weight in WEIGHTS), title="MAP by weight of the cosine"
    )
    for name, near in product(dataset or ["science"], distance or ["tfidf", "tfidf+embedding"]):
        asked = sampled(load_dataset(name), split, questions)
        parts = score_parts(model or str(packaged_model()), asked, asked.split(split), near)
        maps = []
        for weight in WEIGHTS:
            rankings = [ranked(*pair, weight) for pair in zip(asked.split(split), parts, strict=True)]
            maps.append(mean_average_precision(Run.of("dense", asked, rankings), asked, asked.split(split)))
        table.add_row(name, near, str(len(parts)), *(f"{value:.3f}" for value in maps))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
