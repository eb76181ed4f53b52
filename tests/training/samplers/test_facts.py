import numpy as np
import pytest

from arcf.neighborhood import make_neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers import Material, Sample, Sampling
from arcf.training.samplers.facts import FactSampler
from arcf.types import Dataset, Fact, Gold, Question

ICE = [f"ice {word}" for word in ("melts", "floats", "cracks", "shines", "falls", "breaks")]
TEXTS = [*ICE, "ice melts", "birds sing"]
TWIN, UNSEEN = 6, 7  # the text of gold fact 0, and a gold fact that shares no word with the question


def sampler(sampling: Sampling, stem: str = "ice", gold: tuple[int, ...] = (0, 1, UNSEEN)) -> FactSampler:
    asked = Question("q", stem, answer="water", gold=tuple(Gold(f"u{fact}") for fact in gold))
    dataset = Dataset("made-up", tuple(Fact(f"u{n}", text) for n, text in enumerate(TEXTS)), {"train": (asked,)})
    return FactSampler(Material(dataset, (asked,), make_neighborhood(dataset)), sampling, 1)


def draws(many: FactSampler) -> list[Sample | None]:
    return [many.draw(0, number) for number in range(many.per_epoch)]


@pytest.mark.parametrize(("pool", "right"), [("neighborhood", {0, 1}), ("corpus", {0, 1, UNSEEN})])
def test_the_question_alone_with_right_and_wrong_facts(pool: str, right: set[int]) -> None:
    for sample in draws(sampler(Sampling("facts", prefixes=20, negatives=2, pool=pool))):  # type: ignore[arg-type]
        assert sample is not None
        assert sample.prefixes == (Prefix("ice (answer) water"),)
        assert sample.counts == (len(sample.candidates),)
        assert set(sample.candidates[sample.labels].tolist()) == right
        wrong = sample.candidates[~sample.labels].tolist()
        assert len(set(wrong)) == len(wrong) == 2
        assert set(wrong) <= {2, 3, 4, 5}
        assert STOP not in sample.candidates


def test_all_negatives() -> None:
    (sample,) = draws(sampler(Sampling("facts", prefixes=1, negatives=None)))
    assert sample is not None
    assert set(sample.candidates.tolist()) == set(range(len(TEXTS))) - {TWIN, UNSEEN}


def test_k_is_how_far_the_question_sees() -> None:
    many = sampler(Sampling("facts", prefixes=1, negatives=None, k=3))
    (sample,) = draws(many)
    assert sample is not None
    nearest = many.neighborhood.nearest("ice water", 3)
    assert set(sample.candidates.tolist()) == set(nearest.tolist()) - {TWIN}


def test_every_negative_has_its_turn() -> None:
    samples = draws(sampler(Sampling("facts", prefixes=400, negatives=1)))
    counts = np.bincount([int(sample.candidates[~sample.labels][0]) for sample in samples if sample], minlength=6)
    assert counts[:2].sum() == 0
    assert all(abs(count - 100) < 45 for count in counts[2:6])  # 5 standard deviations


def test_without_a_right_fact_in_sight_all_are_wrong() -> None:
    for sample in draws(sampler(Sampling("facts"), gold=(UNSEEN,))):
        assert sample is not None
        assert len(sample.labels) == 7
        assert not sample.labels.any()


def test_without_any_fact_in_sight_there_is_no_sample() -> None:
    assert draws(sampler(Sampling("facts", prefixes=3), stem="who")) == [None] * 3
