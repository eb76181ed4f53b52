"""What holds for every kind of sample, over made-up corpora: small ones in which texts repeat and words are shared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcf.neighborhood import FactIds, make_neighborhood
from arcf.scorer.base import STOP, Prefix
from arcf.training.samplers import SAMPLERS, Material, Mining, Paths, Sample, Sampler, Sampling, make_sampler
from arcf.training.samplers.settings import Pool
from arcf.types import QUERY_FORMS, Dataset, Fact, Gold, Option, QueryForm, Question

WORDS = ("ant", "bird", "cube", "heat", "ice", "tree")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)

LABELLED = [kind for kind, sampler in SAMPLERS.items() if sampler.labelled]
every_kind = pytest.mark.parametrize("kind", LABELLED)
kinds_with_a_pool = pytest.mark.parametrize("kind", sorted(set(LABELLED) - {"paths"}))


@dataclass(frozen=True)
class Group:
    """One prefix of a sample with its own candidates."""

    prefix: Prefix
    candidates: list[int]
    labels: list[bool]

    @property
    def chains(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """The facts of each chain that is judged, without stop samples, and whether it is right."""
        for candidate, label in zip(self.candidates, self.labels, strict=True):
            if candidate != STOP:
                yield (*self.prefix.facts, candidate), label


def groups_of(sample: Sample) -> list[Group]:
    assert sum(sample.counts) == len(sample.candidates) == len(sample.labels)
    ends = pairwise(accumulate(sample.counts, initial=0))
    return [
        Group(prefix, sample.candidates[start:end].tolist(), sample.labels[start:end].tolist())
        for prefix, (start, end) in zip(sample.prefixes, ends, strict=True)
    ]


def content(sample: Sample | None) -> object:
    return sample and (sample.prefixes, sample.counts, sample.candidates.tolist(), sample.labels.tolist())


def dataset_of(texts: list[str], *questions: Question) -> Dataset:
    return Dataset(
        "made-up", tuple(Fact(f"u{number}", text) for number, text in enumerate(texts)), {"train": questions}
    )


def sampler_of(dataset: Dataset, sampling: Sampling, seed: int = 1, mined: dict[str, FactIds] | None = None) -> Sampler:
    neighborhood = make_neighborhood(dataset, sampling.distance)
    return make_sampler(Material(dataset, dataset.split("train"), neighborhood, mined or {}), sampling, seed)


def all_samples(sampler: Sampler, epochs: int = 1) -> list[Sample]:
    drawn = (sampler.draw(epoch, number) for epoch in range(epochs) for number in range(sampler.per_epoch))
    return [sample for sample in drawn if sample]


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    texts = draw(st.lists(TEXTS, min_size=2, max_size=12))
    gold = st.lists(st.integers(0, len(texts) - 1), max_size=4, unique=True)
    questions = [
        Question(
            id=f"q{number}",
            stem=draw(TEXTS),
            answer=draw(st.just("") | TEXTS),
            options=tuple(Option(label, draw(TEXTS)) for label in "AB"),
            gold=tuple(Gold(f"u{fact}") for fact in draw(gold)),
        )
        for number in range(draw(st.integers(1, 3)))
    ]
    return dataset_of(texts, *questions)


@st.composite
def samplings(draw: st.DrawFn, kind: str) -> Sampling:
    """Settings that the kind has a use for; without conditioning, which has its own tests."""
    own: dict[str, Any] = {"pool": draw(st.sampled_from(get_args(Pool)))}
    if kind == "paths":
        own = {"paths": Paths(draw(st.integers(1, 6)), draw(st.integers(1, 4)))}
    return Sampling(
        kind=kind,
        query=draw(st.sampled_from(QUERY_FORMS)),
        distance=draw(st.sampled_from(["tfidf", "overlap"])),
        k=draw(st.integers(1, 6)),
        prefixes=draw(st.integers(1, 3)),
        negatives=draw(st.none() | st.integers(1, 4)),
        word_dropout=draw(st.sampled_from([0.0, 0.5])),
        **own,
    )


@every_kind
@settings(max_examples=50)
@given(data=st.data())
def test_a_sample_depends_on_its_number_alone(kind: str, data: st.DataObject) -> None:
    dataset, sampling = data.draw(datasets()), data.draw(samplings(kind))
    first, second = (sampler_of(dataset, sampling) for _ in range(2))
    places = [(epoch, number) for epoch in range(2) for number in range(first.per_epoch)]
    expected = {place: content(first.draw(*place)) for place in places}
    for place in data.draw(st.lists(st.sampled_from(places), max_size=8)) if places else ():
        assert content(second.draw(*place)) == expected[place]


@every_kind
@settings(max_examples=50)
@given(data=st.data())
def test_an_epochs_order_has_every_number_once(kind: str, data: st.DataObject) -> None:
    dataset, sampling = data.draw(datasets()), data.draw(samplings(kind))
    first, second = (sampler_of(dataset, sampling) for _ in range(2))
    with_gold = [question for question in dataset.split("train") if question.gold]
    assert first.per_epoch == len(with_gold) * sampling.prefixes
    for epoch in range(3):
        assert sorted(first.order(epoch).tolist()) == list(range(first.per_epoch))
        assert first.order(epoch).tolist() == second.order(epoch).tolist()


@every_kind
def test_seeds_and_epochs_give_other_samples_in_another_order(kind: str) -> None:
    texts = [f"ice {word}" for word in "abcdefghijklmnopqrstuvw"]
    dataset = dataset_of(texts, Question("q", "ice", gold=(Gold("u0"), Gold("u1"))))
    sampling = Sampling(kind=kind, prefixes=30, negatives=3)
    first, other = (sampler_of(dataset, sampling, seed) for seed in (1, 2))
    compared = ((first, 0), (first, 1), (other, 0))
    drawn = [[content(sampler.draw(epoch, n)) for n in range(30)] for sampler, epoch in compared]
    orders = [sampler.order(epoch).tolist() for sampler, epoch in compared]
    for found in (drawn, orders):
        assert found[0] != found[1]
        assert found[0] != found[2]


@every_kind
@settings(max_examples=50)
@given(data=st.data())
def test_what_is_right_and_what_is_wrong(kind: str, data: st.DataObject) -> None:
    """A chain is right if and only if all its facts are gold; no wrong one reads like a right one."""
    dataset, sampling = data.draw(datasets()), data.draw(samplings(kind))
    sampler = sampler_of(dataset, sampling)
    questions = [question for question in dataset.split("train") if question.gold]
    for number in range(sampler.per_epoch):
        sample = sampler.draw(0, number)
        gold = set(dataset.gold_ids(questions[number // sampling.prefixes]))
        gold_texts = {dataset.facts[fact].text for fact in gold}
        for group in groups_of(sample) if sample else ():
            assert group.candidates
            assert len(set(group.candidates)) == len(group.candidates)
            assert not set(group.candidates) & set(group.prefix.facts)
            for chain, label in group.chains:
                assert label == (set(chain) <= gold)
                assert label == ({dataset.facts[fact].text for fact in chain} <= gold_texts)
            wrong = sum(not label for _, label in group.chains)
            assert sampling.negatives is None or wrong <= sampling.negatives
            stops = [label for fact, label in zip(group.candidates, group.labels, strict=True) if fact == STOP]
            assert stops in ([], [not any(label for _, label in group.chains)])


@every_kind
@settings(max_examples=50)
@given(data=st.data())
def test_all_prefixes_of_a_sample_ask_the_question_in_its_form(kind: str, data: st.DataObject) -> None:
    dataset, sampling = data.draw(datasets()), data.draw(samplings(kind))
    sampler = sampler_of(dataset, sampling)
    questions = [question.asked(sampling.query) for question in dataset.split("train") if question.gold]
    for number in range(sampler.per_epoch):
        sample = sampler.draw(0, number)
        if sample is None:
            continue
        (query,) = {prefix.query for prefix in sample.prefixes}
        words = questions[number // sampling.prefixes].query().split()
        if sampling.word_dropout:
            left = iter(words)
            assert query
            assert all(word in left for word in query.split())  # some of the words, in their order
            assert ("(answer)" in query) == ("(answer)" in words)
        else:
            assert query.split() == words


@every_kind
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_a_share_of_the_words_is_left_out(share: float, kind: str) -> None:
    asked = Question("q", "ice cube tree", answer="bird", gold=(Gold("u0"),))
    sampler = sampler_of(dataset_of(["ice", "cube heat"], asked), Sampling(kind=kind, prefixes=500, word_dropout=share))
    queries = [sample.prefixes[0].query.split() for sample in all_samples(sampler)]
    for word in ("ice", "cube", "tree", "bird"):
        left_out = np.mean([word not in query for query in queries])
        # 5 standard deviations are 0.11; one query of 39 would be empty, and stays whole.
        assert left_out == pytest.approx(share * (1 - share**3), abs=0.11 if share else 0)


@every_kind
@pytest.mark.parametrize(
    ("form", "query", "seen"),
    [
        ("answer", "bird (answer) heat", {0, 1, 2}),
        ("stem", "bird", {0, 1}),
        ("options", "bird (A) heat (B) ice", {0, 1, 2, 3}),
    ],
)
def test_facts_are_in_sight_of_the_question_as_it_is_asked(
    form: QueryForm, query: str, seen: set[int], kind: str
) -> None:
    options = (Option("A", "heat"), Option("B", "ice"))
    asked = Question("q", "bird", answer="heat", options=options, gold=(Gold("u0"),))
    dataset = dataset_of(["bird ant", "bird cube", "heat", "ice"], asked)
    samples = all_samples(sampler_of(dataset, Sampling(kind=kind, query=form, prefixes=10)))
    assert {prefix.query for sample in samples for prefix in sample.prefixes} == {query}
    assert {fact for sample in samples for fact in sample.candidates.tolist()} - {STOP} == seen


@kinds_with_a_pool
def test_the_whole_corpus_as_pool(kind: str) -> None:
    """Even of a question without a known word: all but what is chosen, and what repeats the text of a gold fact."""
    dataset = dataset_of(["bird", "ant", "bird", "ice"], Question("q", "who", gold=(Gold("u0"), Gold("u1"))))
    sampling = Sampling(kind=kind, negatives=None, prefixes=20)
    in_sight, everywhere = (
        all_samples(sampler_of(dataset, replace(sampling, pool=pool))) for pool in ("neighborhood", "corpus")
    )
    assert all(sample.candidates.tolist() == [STOP] for sample in in_sight)
    assert len(everywhere) == 20
    for sample in everywhere:
        chosen = set(sample.prefixes[0].facts)
        assert set(sample.candidates.tolist()) - {STOP} == {0, 1, 3} - chosen


@kinds_with_a_pool
@settings(max_examples=50)
@given(data=st.data())
def test_the_facts_in_sight_that_explain_something_as_pool(kind: str, data: st.DataObject) -> None:
    """All of them, and no others, where all negatives are taken."""
    dataset = data.draw(datasets())
    sampling = replace(data.draw(samplings(kind)), pool="neighborhood", negatives=None)
    explains = {STOP, *(fact for question in dataset.split("train") for fact in dataset.gold_ids(question))}
    in_sight, explaining = (
        sampler_of(dataset, replace(sampling, pool=pool)) for pool in ("neighborhood", "explaining")
    )
    for number in range(in_sight.per_epoch):
        every, some = in_sight.draw(0, number), explaining.draw(0, number)
        wanted = [fact for fact in every.candidates.tolist() if fact in explains] if every else []
        assert (some.candidates.tolist() if some else []) == wanted


@every_kind
@settings(max_examples=50)
@given(data=st.data())
def test_hard_negatives_come_first_up_to_their_share(kind: str, data: st.DataObject) -> None:
    """In the first group, whose pool a sampler that takes all negatives shows."""
    dataset = data.draw(datasets())
    mining = Mining("a run", share=data.draw(st.sampled_from([0.3, 0.5, 1.0])), depth=data.draw(st.integers(1, 5)))
    sampling = replace(data.draw(samplings(kind)), mining=mining, negatives=data.draw(st.integers(1, 4)))
    runs = st.lists(st.integers(0, len(dataset.facts) - 1), unique=True).map(lambda facts: np.array(facts, np.int64))
    mined = {question.id: data.draw(runs) for question in dataset.split("train")}
    some = sampler_of(dataset, sampling, mined=mined)
    every = sampler_of(dataset, replace(sampling, negatives=None), mined=mined)
    questions = [question for question in dataset.split("train") if question.gold]
    for number in range(some.per_epoch):
        question = questions[number // sampling.prefixes]
        gold_texts = {dataset.facts[fact].text for fact in dataset.gold_ids(question)}
        wrong = [fact for fact in mined[question.id].tolist() if dataset.facts[fact].text not in gold_texts]
        taken, pool = ({c[-1] for c, label in first_group(s.draw(0, number)) if not label} for s in (some, every))
        assert taken <= pool
        assert len(taken) == min(len(pool), sampling.negatives or 0)
        hard = set(wrong[: mining.depth]) & pool
        assert len(taken & hard) >= min(len(hard), round(mining.share * (sampling.negatives or 0)))


def first_group(sample: Sample | None) -> list[tuple[tuple[int, ...], bool]]:
    """The chains of the first prefix, unless it had no candidate."""
    return list(groups_of(sample)[0].chains) if sample else []
