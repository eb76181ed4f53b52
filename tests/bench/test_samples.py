from pathlib import Path

import numpy as np
import pytest

from arcf.bench.samples import made_up_dataset, worldtree_or_made_up
from arcf.scorer.tokens import ChainTokenizer


def test_made_up_samples_cost_what_worldtrees_do(made_up_model: Path) -> None:
    tokenizer = ChainTokenizer.load(made_up_model)
    dataset = made_up_dataset(tokenizer.raw, 800, 200)
    tokens = tokenizer.facts([fact.text for fact in dataset.facts])
    lengths = tokens.candidates.lengths[:-1]
    assert np.mean(lengths) == pytest.approx(11.7, abs=1)
    assert np.std(lengths) == pytest.approx(4.8, abs=1)
    questions = dataset.split("train")
    queries = [len(tokenizer.prefix(question.query(), (), tokens).tokens) for question in questions]
    assert np.mean(queries) == pytest.approx(30.7, abs=3)
    gold = [len(dataset.gold_ids(question)) for question in questions]
    assert min(gold) >= 1
    assert np.mean(gold) == pytest.approx(5.8, abs=0.8)
    assert dataset == made_up_dataset(ChainTokenizer.load(made_up_model).raw, 800, 200)


@pytest.mark.usefixtures("small_bench")
def test_without_worldtree_the_dataset_is_made_up(made_up_model: Path) -> None:
    dataset = worldtree_or_made_up(ChainTokenizer.load(made_up_model).raw)
    assert dataset.name == "made-up"
    assert (len(dataset.facts), len(dataset.split("train"))) == (800, 40)
