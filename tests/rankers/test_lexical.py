"""Every ranker of the registry, the iterated one step by step, and MAP on real data."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import SettingError
from arcf.evaluation import mean_average_precision
from arcf.neighborhood import DISTANCES, Bm25Cosine, Lexical, SparseDistance, TfIdf
from arcf.rankers import RANKERS, Expansion, Iterated, Nearest, Ranker, RankerSettings, build_ranker
from arcf.runs import Run, rank_questions
from arcf.types import Dataset, Fact, Question, Ranking

WORDS = ["ice", "water", "heat", "bird", "egg", "sun", "moss", "rain", "the"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
TEXTS = st.lists(TEXT, max_size=12)

# The others need a model.
WITH_MODEL = {name for name, kind in RANKERS.items() if "model" in kind.settings}
LEXICAL = sorted(RANKERS.keys() - WITH_MODEL - {"embedding-ann", "wmd"})
every_ranker = pytest.mark.parametrize("name", LEXICAL)


def built(name: str, dataset: Dataset) -> Ranker:
    return build_ranker(RankerSettings(name), dataset)


def corpus(texts: list[str]) -> Dataset:
    facts = tuple(Fact(str(index), text) for index, text in enumerate(texts))
    return Dataset("made up", facts, {"train": (Question("t", "What does the sun heat?", answer="rock"),)})


def check(ranking: Ranking, size: int) -> None:
    """All facts once, scores never increasing and finite, equal scores by fact id."""
    assert sorted(ranking.facts.tolist()) == list(range(size))
    assert np.isfinite(ranking.scores).all()
    pairs = list(zip((-ranking.scores).tolist(), ranking.facts.tolist(), strict=True))
    assert pairs == sorted(pairs)


@every_ranker
@given(TEXTS, TEXT, TEXT)
def test_all_facts_are_ranked_once_and_always_alike(name: str, texts: list[str], stem: str, answer: str) -> None:
    dataset, question = corpus(texts), Question("q", stem, answer=answer)
    ranking = built(name, dataset).rank(question)
    assert ranking.question_id == "q"
    check(ranking, len(texts))
    again = built(name, dataset).rank(question)
    assert np.array_equal(again.facts, ranking.facts)
    assert np.array_equal(again.scores, ranking.scores)


@every_ranker
def test_no_fact_one_fact_and_no_known_word(name: str) -> None:
    assert built(name, corpus([])).rank(Question("q", "ice")).facts.tolist() == []
    assert built(name, corpus(["ice melts"])).rank(Question("q", "ice")).facts.tolist() == [0]
    ranking = built(name, corpus(["ice melts", "water flows", "ice"])).rank(Question("q", "zebra", answer="quagga"))
    check(ranking, 3)


@every_ranker
def test_the_fact_that_says_it_comes_first(name: str) -> None:
    texts = ["a bird lays an egg", "the sun is hot", "melting turns ice into water", "moss is green"]
    question = Question("q", "What turns ice into water?", answer="melting")
    assert built(name, corpus(texts)).rank(question).facts[0] == 2


@given(TEXTS, TEXT)
def test_nearest_ranks_by_distance(texts: list[str], stem: str) -> None:
    distance = DISTANCES["tfidf"].build(corpus(texts).facts, [])
    ranking = Nearest(distance).rank(Question("q", stem))
    distances = distance.distances(stem)
    assert np.array_equal(ranking.facts, np.lexsort((np.arange(len(texts)), distances)))
    np.testing.assert_allclose(ranking.scores, 1 - distances[ranking.facts])


def follow(distance: SparseDistance, expansion: Expansion, question: Question, found: list[int]) -> None:
    """Go through a ranking with dicts of terms: each fact must be as good as the best that is left, to rounding."""
    vocabulary = distance.vocabulary
    rows = [{vocabulary[term]: value for term, value in enumerate(row) if value} for row in distance.vectors.toarray()]
    asked, answered = (
        dict(zip((vocabulary[term] for term in vector.terms), vector.values, strict=True))
        for vector in (distance.vector(question.text), distance.vector(question.answer))
    )
    query = {term: value * (expansion.answer_weight if term in answered else 1.0) for term, value in asked.items()}
    length = sum(value**2 for value in query.values()) ** 0.5
    query = {term: value / length for term, value in query.items()}

    def take(count: int, *, least: float) -> list[int]:
        scores = [sum(value * query.get(term, 0.0) for term, value in row.items()) for row in rows]
        chosen = [fact for fact in left[:count] if scores[fact] >= least]
        for place, fact in enumerate(chosen):
            assert scores[fact] >= max(scores[other] for other in left[place:]) - 1e-9
        del left[: len(chosen)]
        return chosen

    left = list(found)
    for number in range(expansion.rounds):
        weight = expansion.weight * expansion.decay ** (number + 1)
        for fact in take(round(expansion.growth**number), least=1e-12):
            for term, value in rows[fact].items():
                query[term] = max(query.get(term, 0.0), weight * value)
    take(len(left), least=0.0)
    assert not left


@given(TEXTS, TEXT, TEXT, st.builds(Expansion, rounds=st.integers(0, 4), growth=st.sampled_from([1.0, 1.5, 2.0])))
def test_iterated_follows_its_rule(texts: list[str], stem: str, answer: str, expansion: Expansion) -> None:
    question = Question("q", stem, answer=answer)
    for weighting in (Bm25Cosine(), TfIdf()):
        distance = Lexical(weighting).build(corpus(texts).facts, [])
        follow(distance, expansion, question, Iterated(distance, expansion).rank(question).facts.tolist())


@pytest.mark.parametrize("settings", [{"rounds": -1}, {"growth": 0.5}, {"weight": 0.0}, {"decay": 0.0}, {"decay": 1.1}])
def test_impossible_expansions(settings: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="Expansion takes"):
        Expansion(**settings)  # type: ignore[arg-type]


@pytest.mark.worldtree
@pytest.mark.parametrize(
    ("name", "least"), [("tfidf", 0.384), ("tfidf-sublinear", 0.40), ("bm25", 0.37), ("bm25-iterated", 0.45)]
)
def test_map_on_all_dev_questions(worldtree_2020: Dataset, name: str, least: float) -> None:
    questions = worldtree_2020.split("dev")
    run = Run.of(name, worldtree_2020, rank_questions(built(name, worldtree_2020), questions))
    assert len(run.rankings) == 496
    assert mean_average_precision(run, worldtree_2020, questions) >= least
