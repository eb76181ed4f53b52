"""What jobs are expected to cost."""

from dataclasses import replace

import pytest

from arcf.chain import ChainSettings
from arcf.rankers import RankerSettings
from arcf.types import Dataset, Fact

pytest.importorskip("torch")

from arcf.experiments.making import TrainJob
from arcf.experiments.measuring import tokens_a_question
from arcf.training.settings import ModelSettings, TrainingSettings

DATASET = Dataset("d", tuple(Fact(str(number), "ice") for number in range(1000)))
FAST = ChainSettings(k=100, max_facts=3, rescored=10, screened=20)


def trained(**model: object) -> TrainJob:
    return TrainJob("any", replace(TrainingSettings(), model=ModelSettings(**model)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("chain", "model", "scored"),
    [
        (FAST, None, 30 + 2 * 30),  # The packaged model has a prior.
        (FAST, trained(prior=15.0), 30 + 2 * 30),
        (FAST, trained(prior=0.0, dense=6.0), 30 + 2 * 30),
        (FAST, trained(prior=0.0), 100 + 2 * 55),
        (replace(FAST, screened=None), None, 100 + 2 * 55),
        (replace(FAST, screened=500), None, 100 + 2 * 55),
        (replace(FAST, rescored=None), None, 100 + 145 + 190),
        (replace(FAST, k=5000, screened=None, rescored=None), None, 3 * 1000),
    ],
)
def test_how_much_a_chain_reads(chain: ChainSettings, model: TrainJob | None, scored: int) -> None:
    tokens = tokens_a_question(RankerSettings(chain=chain), DATASET, model)
    assert tokens == pytest.approx(scored * 13 + 3 * 70)


def test_candidates_that_share_no_prefix_read_more() -> None:
    shared, joint = (
        tokens_a_question(RankerSettings("single-fact"), DATASET, trained(encoding=encoding, prior=0.0))
        for encoding in ("shared_prefix", "joint")
    )
    assert (shared, joint) == (pytest.approx(1000 * 13), pytest.approx(1000 * 83))
    assert tokens_a_question(RankerSettings("tfidf"), DATASET, None) == 0
