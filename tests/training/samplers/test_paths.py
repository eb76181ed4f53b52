import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Analyzer, make_neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers import Material, Paths, Sample, Sampling
from arcf.training.samplers.paths import PathSampler
from arcf.types import Dataset, Fact, Gold, Question

TEXTS = [
    "ice melts",  # 0, gold
    "melting takes heat",  # 1, gold, in sight of 0 only
    "ice floats",  # 2
    "ships float",  # 3
    "ice melts",  # 4, the text of gold fact 0
    "birds sing",  # 5, gold, out of reach
    "melting takes heat",  # 6, the text of gold fact 1
]
GOLD = {0, 1, 5}


def sampler_of(texts: list[str], gold: set[int], sampling: Sampling, stem: str = "ice") -> PathSampler:
    asked = Question("q", stem, gold=tuple(Gold(f"u{fact}") for fact in sorted(gold)))
    dataset = Dataset("made-up", tuple(Fact(f"u{n}", text) for n, text in enumerate(texts)), {"train": (asked,)})
    return PathSampler(Material(dataset, (asked,), make_neighborhood(dataset)), sampling, 1)


def sampling(starts: int = 4, negatives: int | None = None, retrieved: int = 25) -> Sampling:
    return Sampling("paths", prefixes=20, negatives=negatives, paths=Paths(retrieved, starts))


def draws(many: PathSampler) -> list[Sample | None]:
    return [many.draw(0, number) for number in range(many.per_epoch)]


def groups(sample: Sample) -> dict[tuple[int, ...], tuple[set[int], set[int]]]:
    """By the facts of the prefix: the right candidates, and the wrong ones."""
    parts = [np.split(values, np.cumsum(sample.counts)[:-1]) for values in (sample.candidates, sample.labels)]
    return {
        prefix.facts: (set(facts[labels].tolist()), set(facts[~labels].tolist()))
        for prefix, facts, labels in zip(sample.prefixes, *parts, strict=True)
    }


def test_all_chains() -> None:
    for sample in draws(sampler_of(TEXTS, GOLD, sampling())):
        assert sample is not None
        assert groups(sample) == {
            (): ({0}, {2}),  # 4 says what 0 says
            (0,): ({1}, {2}),
            (2,): (set(), {0, 3}),
        }
        assert STOP not in sample.candidates


def test_some_starts_begin_chains() -> None:
    """As many as wanted, each once, and every one has its turn; what only repeats a gold text never begins one."""
    seen = set()
    for sample in draws(sampler_of(TEXTS, GOLD, sampling(starts=1))):
        assert sample is not None
        assert sample.prefixes[0] == Prefix("ice")
        (start,) = (prefix.facts for prefix in sample.prefixes[1:])
        seen.add(start)
    assert seen == {(0,), (2,)}


def test_only_the_nearest_facts_are_retrieved() -> None:
    many = sampler_of(TEXTS, GOLD, sampling(retrieved=1))
    (nearest,) = many.neighborhood.nearest("ice", 1).tolist()
    for sample in draws(many):
        assert sample is not None
        assert set(groups(sample)) == {(), (nearest,)}
        assert set.union(*groups(sample)[()]) == {nearest}


def test_negatives_are_counted_for_every_prefix() -> None:
    texts = [f"ice {word}" for word in "abcdefghij"]
    for sample in draws(sampler_of(texts, {0, 1}, sampling(starts=3, negatives=2))):
        assert sample is not None
        assert len(sample.prefixes) == 4
        for (*start,), (right, wrong) in groups(sample).items():
            if set(start) <= {0, 1}:
                assert right == {0, 1} - set(start)
                assert len(wrong) == 2
            else:  # A chain from a wrong beginning to a gold fact is wrong, and always shown.
                assert right == set()
                assert wrong >= {0, 1}
                assert len(wrong) == 4


def test_a_start_without_a_link_adds_nothing() -> None:
    for sample in draws(sampler_of(["ice", "birds sing"], {0}, sampling())):
        assert sample is not None
        assert sample.prefixes == (Prefix("ice"),)
        assert (sample.candidates.tolist(), sample.labels.tolist()) == ([0], [True])


@pytest.mark.parametrize(
    ("texts", "gold", "stem"),
    [
        (TEXTS, GOLD, "who"),  # nothing is retrieved
        (["melting", "ice", "ice"], {2}, "ice"),  # what is retrieved first only repeats the gold fact
    ],
)
def test_without_any_chain_there_is_no_sample(texts: list[str], gold: set[int], stem: str) -> None:
    assert draws(sampler_of(texts, gold, sampling(retrieved=1), stem)) == [None] * 20


WORDS = st.sampled_from(["ant", "bird", "cube", "heat", "ice", "tree", "the"])
CORPORA = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), min_size=2, max_size=12)


@given(texts=CORPORA, data=st.data())
def test_chains_are_of_retrieved_and_linked_facts(texts: list[str], data: st.DataObject) -> None:
    gold = data.draw(st.sets(st.integers(0, len(texts) - 1), min_size=1, max_size=4))
    few = st.integers(1, 3)
    wanted = sampling(data.draw(few), data.draw(st.none() | few), retrieved=data.draw(st.integers(1, 6)))
    many, analyzer = sampler_of(texts, gold, wanted), Analyzer()
    retrieved = set(many.neighborhood.nearest("ice", wanted.paths.retrieved).tolist())
    gold_texts = {texts[fact] for fact in gold}
    for sample in filter(None, draws(many)):
        starts = [prefix.facts for prefix in sample.prefixes if prefix.facts]
        assert len(set(starts)) == len(starts) <= wanted.paths.starts
        for start, (right, wrong) in groups(sample).items():
            candidates = right | wrong
            if not start:
                assert candidates <= retrieved
                assert right == retrieved & gold
                continue
            (first,) = start
            assert first in retrieved
            assert first in gold or texts[first] not in gold_texts
            assert all(analyzer.shared(texts[first], texts[fact]) for fact in candidates)
            linked = {n for n, text in enumerate(texts) if n != first and analyzer.shared(texts[first], text)}
            assert right == (linked & gold if first in gold else set())
