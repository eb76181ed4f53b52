from dataclasses import replace

import numpy as np
import pytest

from arcf.errors import SettingError
from arcf.neighborhood import FactIds, make_neighborhood
from arcf.scorer.base import STOP
from arcf.training.samplers import Conditioning, Material, Mining, Paths, Sample, Sampling, Unlabelled
from arcf.training.samplers.unlabelled import UnlabelledSampler
from arcf.types import Dataset, Fact, Gold, Question

FACTS = tuple(Fact(f"u{number}", f"ice {word}") for number, word in enumerate("abcdefghijklmnopqrst"))
ASKED = (Question("q0", "ice a b c", answer="d"), Question("q1", "ice e", gold=(Gold("u0"),)))
SAMPLING = Sampling(kind="unlabelled", k=12, prefixes=40, negatives=3, unlabelled=Unlabelled(max_facts=3, nearest=5))


def sampler(
    sampling: Sampling = SAMPLING, *questions: Question, mined: dict[str, FactIds] | None = None
) -> UnlabelledSampler:
    asked = questions or ASKED
    dataset = Dataset("made-up", FACTS, {"test": asked})
    return UnlabelledSampler(Material(dataset, asked, make_neighborhood(dataset), mined or {}), sampling, 1)


def drawn(made: UnlabelledSampler) -> list[Sample]:
    return [sample for number in range(made.per_epoch) if (sample := made.draw(0, number))]


def test_every_question_is_of_use_with_gold_or_without() -> None:
    made = sampler()
    assert [question.id for question in made.questions] == ["q0", "q1"]
    assert len(drawn(made)) == made.per_epoch == 80


def test_prefixes_are_likely_facts_and_candidates_the_others_and_some_in_sight() -> None:
    made = sampler()
    lengths = set()
    for number in range(40):
        sample = made.draw(0, number)
        assert sample
        (prefix,) = sample.prefixes
        likely = set(made.neighborhood.nearest(ASKED[0].text, 5).tolist())
        visible = set(made.neighborhood.visible(ASKED[0].text, prefix.facts, 12).tolist())
        candidates = sample.candidates.tolist()
        lengths.add(len(prefix.facts))
        assert set(prefix.facts) <= likely
        assert len(set(candidates)) == len(candidates)
        assert set(candidates) - {STOP} <= visible
        assert (likely & visible) - set(prefix.facts) <= set(candidates)
        assert len(set(candidates) - {STOP} - likely) == 3
        assert (STOP in candidates) == bool(prefix.facts)
        assert not sample.labelled
        assert not sample.labels.any()
    assert lengths == {0, 1, 2, 3}


def test_a_run_says_what_is_likely_where_it_has_the_question() -> None:
    mined = np.array([19, 18, 17, 16, 15, 14], dtype=np.int64)
    made = sampler(replace(SAMPLING, mining=Mining("a run")), mined={"q0": mined})
    samples = drawn(made)
    chosen = {fact for sample in samples[:40] for fact in sample.prefixes[0].facts}
    assert chosen == {19, 18, 17, 16, 15}
    assert {fact for sample in samples[40:] for fact in sample.prefixes[0].facts} != chosen


def test_words_are_left_out_of_the_students_query_only() -> None:
    samples = drawn(sampler(replace(SAMPLING, word_dropout=0.5)))
    assert {sample.query for sample in samples} == {question.query() for question in ASKED}
    assert any(sample.prefixes[0].query != sample.query for sample in samples)
    for sample in samples:
        assert [prefix.query for prefix in sample.whole_prefixes] == [sample.query]
        assert sample.whole_prefixes[0].facts == sample.prefixes[0].facts


def test_nothing_in_sight() -> None:
    assert drawn(sampler(SAMPLING, Question("q", "who"))) == []


def test_settings() -> None:
    UnlabelledSampler.check(replace(SAMPLING, conditioning=Conditioning()))
    with pytest.raises(SettingError, match="paths tell"):
        UnlabelledSampler.check(replace(SAMPLING, paths=Paths(3)))
    with pytest.raises(SettingError, match="max_facts >= 0 and nearest >= 1, not 2, 0"):
        Unlabelled(2, 0)


def test_a_pool_of_facts_that_explain_something_is_for_questions_with_gold() -> None:
    explaining = drawn(sampler(replace(SAMPLING, pool="explaining")))
    pairs = zip(explaining, drawn(sampler()), strict=True)
    assert all(own.candidates.tolist() == other.candidates.tolist() for own, other in pairs)
