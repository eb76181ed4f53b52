"""Samples against the paper's rules, one by one, over a neighborhood that is written out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.errors import SettingError
from arcf.scorer.base import STOP
from arcf.training.samples import Conditioning, Mining, Sample, Sampler, Sampling
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


def sampler(sampling: Sampling, *questions: Question, seed: int = 1) -> Sampler:
    asked = questions or (question("it", GOLD),)
    return Sampler(Dataset("made-up", FACTS, {"train": asked}), asked, sampling, seed)


def draws(sampling: Sampling, count: int, epoch: int = 0, *questions: Question) -> list[Sample | None]:
    many = sampler(replace(sampling, prefixes=count), *questions)
    return [many.draw(Written(), epoch, number) for number in range(many.per_epoch)]  # type: ignore[arg-type]


def test_prefix_lengths_are_uniform_from_none_to_all() -> None:
    lengths = Counter(len(sample.prefix.facts) for sample in draws(Sampling(), 3000) if sample)
    assert set(lengths) == set(range(len(GOLD) + 1))
    # 500 expected of each; 5 standard deviations are 102.
    assert all(abs(count - 500) < 102 for count in lengths.values())


def test_prefixes_are_gold_without_repetition_in_every_order() -> None:
    prefixes = [sample.prefix.facts for sample in draws(Sampling(), 3000) if sample]
    assert all(set(facts) <= set(GOLD) and len(set(facts)) == len(facts) for facts in prefixes)
    pairs = Counter(facts for facts in prefixes if len(facts) == 2)
    assert len(pairs) == 20  # of 500, 25 each
    assert max(pairs.values()) < 60


def test_candidates_and_labels() -> None:
    for sample in draws(Sampling(negatives=7), 300):
        assert sample is not None
        visible = Written().visible("what is it?", sample.prefix.facts, 1).tolist()
        right = sample.candidates[sample.labels].tolist()
        wrong = sample.candidates[~sample.labels].tolist()
        assert sorted(right) == sorted(fact for fact in visible if fact in GOLD) or right == [STOP]
        assert set(wrong) - {STOP} <= set(visible) - set(GOLD)
        assert TWIN not in sample.candidates
        assert len(set(wrong) - {STOP}) == 7
        assert len(set(sample.candidates.tolist())) == len(sample.candidates)
        assert (STOP in sample.candidates) == bool(sample.prefix.facts)
        assert (right == [STOP]) == (len(sample.prefix.facts) == len(GOLD))


def test_all_negatives() -> None:
    for sample in draws(Sampling(negatives=None), 50):
        assert sample is not None
        visible = Written().visible("what is it?", sample.prefix.facts, 1)
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
    sample = sampler(Sampling(k=17, prefixes=1), asked).draw(near, 0, 0)  # type: ignore[arg-type]
    assert sample is not None
    assert near.asked == [("what is it? ice", sample.prefix.facts, 17)]
    assert sample.prefix.query == "what is it? (answer) ice"


def test_nothing_to_learn() -> None:
    """Without a gold fact in sight there is nothing to learn from an empty prefix, and all to stop for after one."""
    samples = draws(Sampling(), 60, 0, question("far", [59]))
    assert {sample is None for sample in samples} == {True, False}
    for sample in samples:
        if sample:
            assert sample.prefix.facts == (59,)
            assert sample.candidates[sample.labels].tolist() == [STOP]
    # Nothing in sight at all: stopping is right, but over nothing.
    many = sampler(Sampling(prefixes=20), question("it", [9]))
    assert all(many.draw(Written(blind=True), 0, number) is None for number in range(20))  # type: ignore[arg-type]


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
        facts = sample.prefix.facts
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
    near, many = Written(), sampler(sampling)
    for number in range(200):
        near.asked.clear()
        sample = many.draw(near, 0, number)  # type: ignore[arg-type]
        before = near.asked[0][1]
        assert sample is not None
        visible = Written().visible("what is it?", before, 1)
        assert all(new == old or new in visible for new, old in zip(sample.prefix.facts, before, strict=True))


def fingerprints(samples: Sequence[Sample | None]) -> list[object]:
    return [s and (s.prefix, s.candidates.tolist(), s.labels.tolist()) for s in samples]


def test_a_sample_depends_on_its_number_alone() -> None:
    asked = [question("it", GOLD), question("far", [1, 2, 3])]
    first, second = (sampler(Sampling(prefixes=5), *asked) for _ in range(2))
    near = Written()
    forward = [first.draw(near, epoch, number) for epoch in (0, 1) for number in range(10)]  # type: ignore[arg-type]
    places = [(epoch, number) for epoch in (0, 1) for number in range(10)]
    backward = [second.draw(near, *place) for place in reversed(places)]  # type: ignore[arg-type]
    assert fingerprints(forward) == fingerprints(backward[::-1])
    assert fingerprints(forward[:10]) != fingerprints(forward[10:])
    other = sampler(Sampling(prefixes=5), *asked, seed=2)
    assert fingerprints(forward[:10]) != fingerprints([other.draw(near, 0, n) for n in range(10)])  # type: ignore[arg-type]


def test_an_epochs_order() -> None:
    many = sampler(Sampling(prefixes=100))
    orders = [many.order(epoch) for epoch in (0, 1)]
    assert all(sorted(order.tolist()) == list(range(100)) for order in orders)
    assert orders[0].tolist() != orders[1].tolist()
    assert orders[0].tolist() == sampler(Sampling(prefixes=100)).order(0).tolist()
    # The generator of the order is not that of the epoch's first sample.
    assert orders[0].tolist() != np.random.default_rng([1, 0, 0, 0]).permutation(100).tolist()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sampling(word_dropout=1.0), "word_dropout"),
        (lambda: Sampling(k=0), "k must be at least 1, not 0"),
        (lambda: Sampling(prefixes=0), "prefixes must be"),
        (lambda: Sampling(negatives=0), "negatives must be"),
        (lambda: Conditioning(share=0), "share in"),
        (lambda: Conditioning(start=-1), "start >= 0"),
        (lambda: Mining("a run", share=0), "share in"),
        (lambda: Mining("a run", depth=0), "depth >= 1"),
    ],
)
def test_impossible_settings(make: object, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        make()  # type: ignore[operator]


def test_words_are_left_out_of_the_query_and_of_nothing_else() -> None:
    asked = Question("it", "one two three", answer="four", gold=(Gold("u0"),))
    words = asked.query().split()
    plain, some = (draws(Sampling(word_dropout=share), 2000, 0, asked) for share in (0.0, 0.3))
    assert {sample.prefix.query for sample in plain if sample} == {asked.query()}
    assert [sample and (sample.prefix.facts, sample.candidates.tolist()) for sample in plain] == [
        sample and (sample.prefix.facts, sample.candidates.tolist()) for sample in some
    ]
    queries = [sample.prefix.query.split() for sample in some if sample]
    assert all("(answer)" in query and len(query) > 1 for query in queries)
    assert all(query == [word for word in words if word in query] for query in queries)
    for word in ("one", "two", "three", "four"):
        # 0.7 of about 1,000, and 5 standard deviations; the rare query that would be empty stays whole.
        assert abs(np.mean([word in query for query in queries]) - 0.705) < 0.075


def test_mined_negatives_come_first_up_to_their_share() -> None:
    mined = np.array([0, TWIN, 20, 21, 22, 23, 24, 25, 59])  # a gold fact and its twin are not wrong
    asked = (question("it", GOLD),)
    sampling = Sampling(prefixes=200, negatives=8, mining=Mining("a run", share=0.5, depth=5))
    many = Sampler(Dataset("made-up", FACTS, {"train": asked}), asked, sampling, 1, {"it": mined})
    shares = []
    for number in range(many.per_epoch):
        sample = many.draw(Written(), 0, number)  # type: ignore[arg-type]
        assert sample
        negatives = sample.candidates[~sample.labels]
        negatives = negatives[negatives != STOP]
        assert len(set(negatives.tolist())) == len(negatives) == 8
        shares.append(np.isin(negatives, [20, 21, 22, 23, 24]).sum())
    assert min(shares) >= 4
    assert max(shares) == 5  # a uniform draw may add what the share left


def test_a_question_that_was_not_mined_has_uniform_negatives() -> None:
    sampling = Sampling(negatives=8, mining=Mining("a run"))
    sample = sampler(sampling).draw(Written(), 0, 0)  # type: ignore[arg-type]
    assert sample
    assert (~sample.labels).sum() >= 8
