"""BM25 against bm25s where it is installed, and against the formula."""

import math
from collections import Counter

import numpy as np
import pytest

from arcf.errors import SettingError
from arcf.neighborhood import Analyzer, Bm25, Bm25Cosine, Lexical
from arcf.types import Fact

TEXTS = [
    "a heron is a kind of bird",
    "birds are a kind of animal",
    "heat heat heat melts ice, and ice is solid water",
    "melting means changing from a solid into a liquid by adding heat energy",
    "water is a kind of liquid",
    "the of",
]
FACTS = [Fact(str(index), text) for index, text in enumerate(TEXTS)]
QUERIES = ["which bird melts ice", "heat and heat and water", "kind", "unheard words"]


def by_formula(query: str, k1: float, b: float) -> list[float]:
    terms = Analyzer().terms
    documents = [Counter(terms(text)) for text in TEXTS]
    mean = sum(document.total() for document in documents) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in terms(query):
            df = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            if not (tf := document[term]):
                continue
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * document.total() / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.0), (2.0, 1.0), (0.0, 0.5)])
@pytest.mark.parametrize("query", QUERIES)
def test_scores_equal_the_formula(query: str, k1: float, b: float) -> None:
    distance = Lexical(Bm25(k1, b)).build(FACTS, [])
    np.testing.assert_allclose(-distance.distances(query), by_formula(query, k1, b), atol=1e-12)


@pytest.mark.parametrize("query", QUERIES[:3])
def test_scores_equal_those_of_bm25s(query: str) -> None:
    bm25s = pytest.importorskip("bm25s")
    terms = Analyzer().terms
    reference = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    reference.index([terms(text) for text in TEXTS], show_progress=False)
    # Its "lucene" leaves out the constant factor k1 + 1 of the published formula.
    expected = 2.2 * reference.get_scores(terms(query))
    distance = Lexical(Bm25()).build(FACTS, [])
    np.testing.assert_allclose(-distance.distances(query), expected, rtol=1e-5)


def test_cosine_variant_by_hand() -> None:
    distance = Lexical(Bm25Cosine(k1=0.8)).build([Fact("a", "ice ice water"), Fact("b", "bird")], [])
    idf = math.log(1 + 1.5 / 1.5)
    ice, water = idf * 2 * 1.8 / 2.8, idf * 1.8 / 1.8
    cosine = (ice + water) / math.sqrt(2) / math.hypot(ice, water)
    np.testing.assert_allclose(distance.distances("ice water water"), [1 - cosine, 1.0])


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.5), (1.0, -0.1), (1.0, 1.1)])
def test_impossible_settings(k1: float, b: float) -> None:
    with pytest.raises(SettingError, match="k1 >= 0 and b from 0 to 1"):
        Bm25(k1, b)
