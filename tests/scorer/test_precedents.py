"""Explanations of similar questions as a prior."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Bm25Cosine, Lexical
from arcf.rankers import RankerSettings, build_autoregressive, build_ranker
from arcf.scorer import STOP, Prefix, ScorerSettings, load_scorer
from arcf.scorer.export import export
from arcf.scorer.loading import dense_encoder, with_precedents
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.precedents import NEAREST, POWER, Explained, Precedents, explained_in, shared_uses
from arcf.sentences import load_encoder
from arcf.types import Dataset, Fact, Gold, Question

from .conftest import FACTS

EXPLAINED = (
    Explained("What does heat do to ice? (answer) melt it", (0, 2, 6)),
    Explained("What is an ice cube made of? (answer) water", (1, 3)),
    Explained("Which process makes a liquid of wax? (answer) melting", (0, 6)),
)
QUERY = "Which process turned the ice cube to water? (answer) melting"
ALL = np.arange(-1, len(FACTS))
WEIGHT = 10.0


def nearness(queries: list[str], query: str) -> np.ndarray:
    texts = tuple(Fact(str(place), text.replace("(answer)", " ")) for place, text in enumerate(queries))
    found: np.ndarray = 1 - Lexical(Bm25Cosine()).build(texts, ()).distances(query.replace("(answer)", " "))
    return found


@pytest.mark.parametrize("chosen", [(), (4,), (6, 1)])
def test_against_scores_written_out(chosen: tuple[int, ...]) -> None:
    near = nearness([known.query for known in EXPLAINED], QUERY)
    expected = [0.0]  # the stop sample's
    for fact in range(len(FACTS)):
        support = [worth**POWER for worth, known in zip(near, EXPLAINED, strict=True) if fact in known.facts]
        expected.append(WEIGHT * 4 / 7 * np.log1p(sum(support)))  # 0 and 6 are used twice, 1, 2 and 3 once
    found = Precedents(EXPLAINED, WEIGHT).score(Prefix(QUERY, chosen), ALL)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[4] > found[1] > found[3] > found[5] == 0  # of the nearest; of two others; of one; of none


def test_words_and_vectors_count_alike(tiny: Callable[..., Backbone], tmp_path: Path) -> None:
    tiny("bert").save(tmp_path)
    texts = [text.replace("(answer)", " ") for text in (QUERY, EXPLAINED[1].query)]
    vectors = load_encoder(str(tmp_path)).encode(texts)
    near = (nearness([known.query for known in EXPLAINED], QUERY)[1] + vectors[0] @ vectors[1]) / 2
    found = Precedents(EXPLAINED, WEIGHT, str(tmp_path)).score(Prefix(QUERY), np.array([3]))
    np.testing.assert_allclose(found, [WEIGHT * 4 / 7 * np.log1p(near**POWER)], rtol=1e-4)


def test_a_question_is_no_precedent_of_its_own() -> None:
    asked = EXPLAINED[1]
    assert not Precedents(EXPLAINED, WEIGHT).score(Prefix(asked.query), np.array(asked.facts)).any()
    assert not Precedents([asked, asked, EXPLAINED[0]], WEIGHT).score(Prefix(asked.query), np.array(asked.facts)).any()


def test_without_precedents() -> None:
    for nothing in (Precedents((), WEIGHT), Precedents(EXPLAINED, WEIGHT).for_facts(["other facts"])):
        assert nothing.score(Prefix(QUERY, (1,)), ALL).tolist() == [0.0] * len(ALL)
    assert not Precedents(EXPLAINED, WEIGHT).score(Prefix("Qué?"), ALL).any()
    assert Precedents(EXPLAINED, WEIGHT).score(Prefix(QUERY), np.array([], dtype=np.int64)).shape == (0,)


@given(candidates=st.lists(st.integers(STOP, len(FACTS) - 1)), chosen=st.lists(st.integers(0, len(FACTS) - 1)))
def test_a_score_depends_on_prefix_and_candidate_alone(candidates: list[int], chosen: list[int]) -> None:
    precedents, prefix = Precedents(EXPLAINED, WEIGHT), Prefix(QUERY, tuple(chosen))
    together = precedents.score(prefix, np.array(candidates, dtype=np.int64))
    alone = [precedents.score(prefix, np.array([candidate]))[0] for candidate in candidates]
    assert together.tolist() == alone
    assert (together >= 0).all()


def test_only_the_nearest_count() -> None:
    near = [Explained(f"{QUERY} {number}", (0,)) for number in range(NEAREST)]
    far = Explained("Which process makes wax? (answer) bees do", (0, 5))
    prefix, asked = Prefix(QUERY), np.array([5])
    assert Precedents([far, *near[1:]], WEIGHT).score(prefix, asked) > 0
    assert Precedents([far, *near], WEIGHT).score(prefix, asked) == 0


def test_the_share_of_shared_uses() -> None:
    assert shared_uses(()) == 0
    assert shared_uses(EXPLAINED) == 4 / 7
    assert shared_uses([Explained("a", (1, 1)), Explained("b", (2,))]) == 0  # Twice in one is no sharing.
    assert shared_uses([Explained("a", (1, 2)), Explained("b", (2, 1))]) == 1


@pytest.fixture
def dataset() -> Dataset:
    def question(number: int, known: Explained) -> Question:
        stem, answer = known.query.split(" (answer) ")
        return Question(f"q{number}", stem, (), answer, gold=tuple(Gold(str(fact)) for fact in (*known.facts, 99)))

    training = tuple(question(number, known) for number, known in enumerate(EXPLAINED))
    without_gold = Question("q9", "Is this explained?", (), "no")
    asked = question(10, Explained(QUERY, (0, 6)))
    facts = tuple(Fact(str(number), text) for number, text in enumerate(FACTS))
    return Dataset("ice", facts, {"train": (*training, without_gold), "dev": (asked,)})


@pytest.fixture
def model(tiny: Callable[..., Backbone], tmp_path: Path) -> str:
    tiny("bert").with_settings(ScorerSettings(encoding="shared_prefix", prior=2.0)).save(tmp_path / "trained")
    export(tmp_path / "trained", tmp_path / "model", precedents=WEIGHT)
    return str(tmp_path / "model")


def test_those_of_a_dataset_are_its_explained_training_questions(dataset: Dataset) -> None:
    assert explained_in(dataset, dataset.training, "answer") == EXPLAINED
    assert explained_in(dataset, dataset.training, "stem")[0] == Explained("What does heat do to ice?", (0, 2, 6))


def test_a_model_says_what_they_weigh(dataset: Dataset, model: str, tmp_path: Path) -> None:
    prefix = Prefix(QUERY, (0,))
    plain = load_scorer(model, dataset.texts)
    found = with_precedents(plain, dataset).score(prefix, ALL) - plain.score(prefix, ALL)
    np.testing.assert_allclose(found, Precedents(EXPLAINED, WEIGHT).score(prefix, ALL), atol=1e-4)
    without = load_scorer(tmp_path / "trained", dataset.texts)
    assert with_precedents(without, dataset) is without
    assert dense_encoder(with_precedents(plain, dataset)) is None


def test_where_explanations_share_no_facts_nothing_changes(dataset: Dataset, model: str) -> None:
    plain = load_scorer(model, dataset.texts)
    training = [question for question in dataset.training if question.id != "q2"]
    for questions in ((), training):
        assert with_precedents(plain, Dataset("d", dataset.facts, {"train": tuple(questions)})) is plain


@pytest.mark.parametrize("kind", ["arcf", "single-fact", "path-rerank"])
def test_a_ranker_goes_by_them_unless_told_not_to(kind: str, dataset: Dataset, model: str) -> None:
    bare = Dataset(dataset.name, dataset.facts, {"dev": dataset.split("dev")})
    (question,) = dataset.split("dev")
    usual, told, none = (
        build_ranker(RankerSettings(kind, model, "overlap", threads=1, precedents=wanted), own).rank(question).facts
        for own, wanted in ((dataset, True), (dataset, False), (bare, True))
    )
    assert usual.tolist() != told.tolist() == none.tolist()


def test_a_training_question_is_known_in_whichever_form_it_is_asked(dataset: Dataset, model: str) -> None:
    asked = dataset.training[0].asked("stem")
    scorer = build_autoregressive(RankerSettings(model=model, query="stem"), dataset).search.scorer
    prefix, plain = Prefix(asked.query()), load_scorer(model, dataset.texts)
    precedents = Precedents(explained_in(dataset, dataset.training, "stem"), WEIGHT)
    np.testing.assert_allclose(
        scorer.score(prefix, ALL) - plain.score(prefix, ALL), precedents.score(prefix, ALL), atol=1e-4
    )


def test_the_chain_knows_of_them(dataset: Dataset, model: str) -> None:
    """So that facts which only precedents speak for are worth a scoring."""
    scorer = build_autoregressive(RankerSettings(model=model), dataset).search.scorer
    prior = scorer.estimate(Prefix(QUERY), ALL) - load_scorer(model, dataset.texts).estimate(Prefix(QUERY), ALL)  # type: ignore[attr-defined]
    np.testing.assert_allclose(prior, Precedents(EXPLAINED, WEIGHT).score(Prefix(QUERY), ALL), atol=1e-5)
