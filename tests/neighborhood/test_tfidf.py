"""tf-idf against scikit-learn's."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from arcf.neighborhood import Analyzer, Lexical, TfIdf
from arcf.types import Fact, Question

FACTS = [
    "a heron is a kind of bird",
    "birds are a kind of animal",
    "melting means changing from a solid into a liquid by adding heat energy",
    "heat heat heat melts ice, and ice is solid water",
    "the of and",
    "",
    "water is a kind of liquid",
]
QUESTIONS = ["Which bird wades in water?", "What kind of energy melts ice? heat energy", "the", "unheard words only"]


@pytest.mark.parametrize("sublinear", [False, True])
@pytest.mark.parametrize("trained", [False, True])
def test_vectors_and_cosines_equal_those_of_scikit_learn(sublinear: bool, trained: bool) -> None:
    analyzer = Analyzer()
    reference = TfidfVectorizer(analyzer=analyzer.terms, sublinear_tf=sublinear)
    questions = QUESTIONS if trained else []
    reference.fit(FACTS + questions)
    distance = Lexical(TfIdf(sublinear)).build(
        [Fact(str(index), text) for index, text in enumerate(FACTS)],
        [Question(str(index), text) for index, text in enumerate(questions)],
    )
    # Training questions count for idf, but a word that no fact holds can find none and has no column.
    columns = [reference.vocabulary_[term] for term in distance.vocabulary]
    theirs = reference.transform(FACTS)
    np.testing.assert_allclose(distance.vectors.toarray(), theirs.toarray()[:, columns], atol=1e-12)
    np.testing.assert_allclose(distance.term_weights, reference.idf_[columns], atol=1e-12)
    for index, text in enumerate(FACTS):
        np.testing.assert_allclose(1 - distance.distances(text), linear_kernel(theirs[[index]], theirs)[0], atol=1e-12)
        vector = distance.vector(index)
        np.testing.assert_allclose(distance.vector(text).values, vector.values, atol=1e-12)
    for text in QUESTIONS[:2]:
        known = " ".join(term for term in analyzer.terms(text) if term in distance.vocabulary)
        cosines = linear_kernel(reference.transform([known]), theirs)[0]
        np.testing.assert_allclose(1 - distance.distances(known), cosines, atol=1e-12)


def test_unknown_words_of_a_text_do_not_count() -> None:
    distance = Lexical(TfIdf()).build([Fact("a", "ice melts"), Fact("b", "water flows")], [])
    assert np.array_equal(distance.distances("ice"), distance.distances("ice zebra quagga"))
