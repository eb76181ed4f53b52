"""The lexical prior, and models that were trained with one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from arcf.neighborhood.text import Analyzer
from arcf.scorer import STOP, Prefix, ScorerSettings, load_scorer
from arcf.scorer.export import export
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.prior import CHOSEN_WEIGHT, LexicalPrior, WithPrior

from .conftest import FACTS, QUERIES

WEIGHT = 15.0


def reference(query: str, chosen: tuple[int, ...]) -> np.ndarray:
    """BM25 cosines from scikit-learn's counts, written out (k1 = 0.8)."""
    vectorizer = CountVectorizer(analyzer=Analyzer().terms)
    counts = vectorizer.fit_transform(FACTS).toarray().astype(float)
    frequency = (counts > 0).sum(axis=0)
    idf = np.log1p((len(FACTS) - frequency + 0.5) / (frequency + 0.5))
    facts = counts * 1.8 / (counts + 0.8) * idf
    facts /= np.maximum(np.linalg.norm(facts, axis=1, keepdims=True), 1e-12)
    asked = (vectorizer.transform([query.replace("(answer)", "")]).toarray()[0] > 0) * idf
    asked = asked / np.linalg.norm(asked)
    widest = np.max([asked, *(CHOSEN_WEIGHT * facts[fact] for fact in chosen)], axis=0)
    return facts @ widest


@pytest.mark.parametrize("chosen", [(), (2,), (6, 1, 3)])
def test_against_scikit_learn(chosen: tuple[int, ...]) -> None:
    scores = LexicalPrior(FACTS, WEIGHT).score(Prefix(QUERIES[0], chosen), np.arange(len(FACTS)))
    np.testing.assert_allclose(scores, WEIGHT * reference(QUERIES[0], chosen), rtol=1e-5, atol=1e-6)


def test_the_mark_before_the_answer_is_no_word() -> None:
    prior = LexicalPrior(["the answer", "melting"], WEIGHT)
    scores = prior.score(Prefix("Which process? (answer) melting"), np.array([0, 1, STOP]))
    assert scores[0] == 0 < scores[1]
    assert scores[2] == 0


@pytest.mark.parametrize("facts", [[], [""], ["the of a"], ["same", "same"]])
def test_corpora_with_little_in_them(facts: list[str]) -> None:
    prior = LexicalPrior(facts, WEIGHT)
    scores = prior.score(Prefix("same?", tuple(range(len(facts)))), np.arange(-1, len(facts)))
    assert np.isfinite(scores).all()
    assert len(set(scores[1:].tolist())) <= 1


@given(st.permutations(range(-1, len(FACTS))), st.lists(st.sampled_from(range(len(FACTS))), unique=True))
def test_a_score_depends_on_prefix_and_candidate_alone(candidates: list[int], chosen: list[int]) -> None:
    prior, prefix = LexicalPrior(FACTS, WEIGHT), Prefix(QUERIES[0], tuple(chosen))
    together = prior.score(prefix, np.array(candidates))
    alone = [prior.score(prefix, np.array([candidate]))[0] for candidate in candidates]
    np.testing.assert_allclose(together, alone, rtol=1e-6)


@pytest.fixture
def trained(tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    settings = ScorerSettings(encoding="shared_prefix", prior=WEIGHT)
    tiny("bert").with_settings(settings).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_remembers_its_prior(trained: Path, tmp_path: Path) -> None:
    export(trained, tmp_path / "exported")
    prefix, ids = Prefix(QUERIES[1], (2,)), np.arange(-1, len(FACTS))
    for folder in (trained, tmp_path / "exported"):
        scorer = load_scorer(folder, FACTS)
        assert isinstance(scorer, WithPrior)
        plain = scorer.score(prefix, ids) - scorer.scorer.score(prefix, ids)
        np.testing.assert_allclose(plain, LexicalPrior(FACTS, WEIGHT).score(prefix, ids), atol=1e-5)


def test_other_facts_have_other_words(trained: Path) -> None:
    scorer = load_scorer(trained, FACTS).for_facts(["ice floats", "dogs bark"])
    expected = load_scorer(trained, ["ice floats", "dogs bark"])
    ids = np.arange(2)
    np.testing.assert_array_equal(scorer.score(Prefix("ice"), ids), expected.score(Prefix("ice"), ids))
