"""The paper's samples against its rules, one by one, over a neighborhood that is written out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.neighborhood import FactIds
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers import Conditioning, Material, Mining, Sample, Sampling
from arcf.training.samplers.prefixes import PrefixSampler
from arcf.types import Dataset, Fact, Gold, Question

GOLD = (0, 1, 2, 3, 4)
TWIN = 5  # the text of gold fact 0
FACTS = tuple(Fact(f"u{number}", f"fact {0 if number == TWIN else number}") for number in range(60))


def question(name: str, gold: Sequence[int]) -> Question:
    return Question(name, f"what is {name}?", gold=tuple(Gold(f"u{fact}") for fact in gold))


@dataclass
class Written:
    """The question sees 0 to 29; a fact sees itself and ten more, from 20 times its number on."""

    blind: bool = False
    asked: list[tuple[str, tuple[int, ...], int]] = field(default_factory=list)

    def visible(self, query: str, chain: Sequence[int], k: int) -> NDArray[np.int64]:
        self.asked.append((query, tuple(chain), k))
        seen = [] if self.blind else list(range(5, 30)) if query.startswith("what is far") else list(range(30))
        for fact in chain:
            seen += range(10 * fact, 10 * fact + 10)
        return np.array([fact for fact in dict.fromkeys(seen) if fact < 60 and fact not in chain], dtype=np.int64)


def sampler(
    sampling: Sampling,
    *questions: Question,
    seed: int = 1,
    near: Written | None = None,
    mined: Mapping[str, FactIds] | None = None,
) -> PrefixSampler:
    asked = questions or (question("it", GOLD),)
    dataset = Dataset("made-up", FACTS, {"train": asked})
    return PrefixSampler(Material(dataset, asked, near or Written(), mined or {}), sampling, seed)  # type: ignore[arg-type]


def draws(sampling: Sampling, count: int, epoch: int = 0, *questions: Question) -> list[Sample | None]:
    many = sampler(replace(sampling, prefixes=count), *questions)
    return [many.draw(epoch, number) for number in range(many.per_epoch)]


def prefix_of(sample: Sample) -> Prefix:
    """The only one."""
    (prefix,) = sample.prefixes
    assert sample.counts == (len(sample.candidates),) == (len(sample.labels),)
    return prefix


def test_prefix_lengths_are_uniform_from_none_to_all() -> None:
    lengths = Counter(len(prefix_of(sample).facts) for sample in draws(Sampling(), 3000) if sample)
    assert set(lengths) == set(range(len(GOLD) + 1))
    # 500 expected of each; 5 standard deviations are 102.
    assert all(abs(count - 500) < 102 for count in lengths.values())


def test_prefixes_are_gold_without_repetition_in_every_order() -> None:
    prefixes = [prefix_of(sample).facts for sample in draws(Sampling(), 3000) if sample]
    assert all(set(facts) <= set(GOLD) and len(set(facts)) == len(facts) for facts in prefixes)
    pairs = Counter(facts for facts in prefixes if len(facts) == 2)
    assert len(pairs) == 20  # of 500, 25 each
    assert max(pairs.values()) < 60


def test_candidates_and_labels() -> None:
    for sample in draws(Sampling(negatives=7), 300):
        assert sample is not None
        visible = Written().visible("what is it?", prefix_of(sample).facts, 1).tolist()
        right = sample.candidates[sample.labels].tolist()
        wrong = sample.candidates[~sample.labels].tolist()
        assert sorted(right) == sorted(fact for fact in visible if fact in GOLD) or right == [STOP]
        assert set(wrong) - {STOP} <= set(visible) - set(GOLD)
        assert TWIN not in sample.candidates
        assert len(set(wrong) - {STOP}) == 7
        assert len(set(sample.candidates.tolist())) == len(sample.candidates)
        assert (STOP in sample.candidates) == bool(prefix_of(sample).facts)
        assert (right == [STOP]) == (len(prefix_of(sample).facts) == len(GOLD))


def test_all_negatives() -> None:
    for sample in draws(Sampling(negatives=None), 50):
        assert sample is not None
        visible = Written().visible("what is it?", prefix_of(sample).facts, 1)
        wrong = set(sample.candidates[~sample.labels].tolist()) - {STOP}
        assert wrong == set(visible.tolist()) - set(GOLD) - {TWIN}


def test_negatives_are_uniform() -> None:
    samples = draws(Sampling(negatives=6), 2000, 0, question("far", [59]))
    counts = Counter(fact for sample in samples if sample for fact in sample.candidates[~sample.labels].tolist())
    within = [counts[fact] for fact in range(6, 30)]
    assert max(within) < 1.4 * min(within)


def test_the_neighborhood_is_asked_with_the_plain_text_and_k() -> None:
    near = Written()
    asked = Question("q", "what is it?", answer="ice", gold=(Gold("u1"),))
    sample = sampler(Sampling(k=17, prefixes=1), asked, near=near).draw(0, 0)
    assert sample is not None
    assert near.asked == [("what is it? ice", prefix_of(sample).facts, 17)]
    assert prefix_of(sample).query == "what is it? (answer) ice"


def test_nothing_to_compare() -> None:
    """Without a gold fact in sight an empty prefix has wrong candidates only, and after one it is right to stop."""
    lengths = Counter()
    for sample in draws(Sampling(), 60, 0, question("far", [59])):
        assert sample is not None
        lengths[len(prefix_of(sample).facts)] += 1
        if prefix_of(sample).facts:
            assert prefix_of(sample).facts == (59,)
            assert sample.candidates[sample.labels].tolist() == [STOP]
        else:
            assert len(sample.candidates)
            assert not sample.labels.any()
    assert set(lengths) == {0, 1}


def test_nothing_in_sight_at_all() -> None:
    """Then an empty prefix has no candidate, and after a fact all that can be learnt is to stop."""
    many = sampler(Sampling(prefixes=20), question("it", [9]), near=Written(blind=True))
    samples = [many.draw(0, number) for number in range(20)]
    assert {sample is None for sample in samples} == {True, False}
    for sample in filter(None, samples):
        assert prefix_of(sample).facts == (9,)
        assert (sample.candidates.tolist(), sample.labels.tolist()) == ([STOP], [True])


def test_questions_without_gold_are_left_out() -> None:
    asked = (question("none", []), question("it", GOLD), Question("lost", "?", gold=(Gold("nowhere"),)))
    kept = sampler(Sampling(prefixes=3), *asked)
    assert [entry.id for entry in kept.questions] == ["it"]
    assert kept.per_epoch == 3


def test_conditioning_starts_with_its_epoch() -> None:
    plain, mixed = Sampling(), Sampling(conditioning=Conditioning(0.3, start=2))
    for epoch in (0, 1):
        assert fingerprints(draws(plain, 40, epoch)) == fingerprints(draws(mixed, 40, epoch))
    assert fingerprints(draws(plain, 40, 2)) != fingerprints(draws(mixed, 40, 2))


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_conditioning_replaces_some_by_visible_negatives(share: float) -> None:
    replaced = Counter()
    sampling = Sampling(conditioning=Conditioning(share, start=0))
    for sample in draws(sampling, 1000):
        assert sample is not None
        facts = prefix_of(sample).facts
        wrong = [fact for fact in facts if fact not in GOLD]
        replaced[len(facts), len(wrong)] += 1
        assert len(set(facts)) == len(facts)
        assert len(wrong) <= round(share * len(facts))
        assert len(wrong) < max(len(facts), 1)
        assert TWIN not in wrong
        remaining = set(Written().visible("what is it?", facts, 1).tolist()) & set(GOLD)
        right = set(sample.candidates[sample.labels].tolist())
        assert right == remaining or (not remaining and right == {STOP})
    assert any(wrong for _, wrong in replaced)
    assert any(not wrong for length, wrong in replaced if length == 5)


def test_replacements_are_visible_from_the_gold_prefix() -> None:
    sampling = Sampling(prefixes=200, conditioning=Conditioning(1.0, start=0))
    near = Written()
    many = sampler(sampling, near=near)
    for number in range(200):
        near.asked.clear()
        sample = many.draw(0, number)
        before = near.asked[0][1]
        assert sample is not None
        visible = Written().visible("what is it?", before, 1)
        assert all(new == old or new in visible for new, old in zip(prefix_of(sample).facts, before, strict=True))


def fingerprints(samples: Sequence[Sample | None]) -> list[object]:
    return [s and (prefix_of(s), s.candidates.tolist(), s.labels.tolist()) for s in samples]


def test_a_sample_depends_on_its_number_alone() -> None:
    asked = [question("it", GOLD), question("far", [1, 2, 3])]
    first, second = (sampler(Sampling(prefixes=5), *asked) for _ in range(2))
    forward = [first.draw(epoch, number) for epoch in (0, 1) for number in range(10)]
    places = [(epoch, number) for epoch in (0, 1) for number in range(10)]
    backward = [second.draw(*place) for place in reversed(places)]
    assert fingerprints(forward) == fingerprints(backward[::-1])
    assert fingerprints(forward[:10]) != fingerprints(forward[10:])
    other = sampler(Sampling(prefixes=5), *asked, seed=2)
    assert fingerprints(forward[:10]) != fingerprints([other.draw(0, n) for n in range(10)])


def test_an_epochs_order() -> None:
    many = sampler(Sampling(prefixes=100))
    orders = [many.order(epoch) for epoch in (0, 1)]
    assert all(sorted(order.tolist()) == list(range(100)) for order in orders)
    assert orders[0].tolist() != orders[1].tolist()
    assert orders[0].tolist() == sampler(Sampling(prefixes=100)).order(0).tolist()
    # The generator of the order is not that of the epoch's first sample.
    assert orders[0].tolist() != np.random.default_rng([1, 0, 0, 0]).permutation(100).tolist()


def test_words_are_left_out_of_the_query_and_of_nothing_else() -> None:
    asked = Question("it", "one two three", answer="four", gold=(Gold("u0"),))
    words = asked.query().split()
    plain, some = (draws(Sampling(word_dropout=share), 2000, 0, asked) for share in (0.0, 0.3))
    assert {prefix_of(sample).query for sample in plain if sample} == {asked.query()}
    assert [sample and (prefix_of(sample).facts, sample.candidates.tolist()) for sample in plain] == [
        sample and (prefix_of(sample).facts, sample.candidates.tolist()) for sample in some
    ]
    queries = [prefix_of(sample).query.split() for sample in some if sample]
    assert all("(answer)" in query and len(query) > 1 for query in queries)
    assert all(query == [word for word in words if word in query] for query in queries)
    for word in ("one", "two", "three", "four"):
        # 0.7 of about 1,000, and 5 standard deviations; the rare query that would be empty stays whole.
        assert abs(np.mean([word in query for query in queries]) - 0.705) < 0.075


def test_mined_negatives_come_first_up_to_their_share() -> None:
    mined = np.array([0, TWIN, 20, 21, 22, 23, 24, 25, 59])  # a gold fact and its twin are not wrong
    sampling = Sampling(prefixes=200, negatives=8, mining=Mining("a run", share=0.5, depth=5))
    many = sampler(sampling, mined={"it": mined})
    shares = []
    for number in range(many.per_epoch):
        sample = many.draw(0, number)
        assert sample
        negatives = sample.candidates[~sample.labels]
        negatives = negatives[negatives != STOP]
        assert len(set(negatives.tolist())) == len(negatives) == 8
        shares.append(np.isin(negatives, [20, 21, 22, 23, 24]).sum())
    assert min(shares) >= 4
    assert max(shares) == 5  # a uniform draw may add what the share left


def test_a_question_that_was_not_mined_has_uniform_negatives() -> None:
    sampling = Sampling(negatives=8, mining=Mining("a run"))
    sample = sampler(sampling).draw(0, 0)
    assert sample
    assert (~sample.labels).sum() >= 8
