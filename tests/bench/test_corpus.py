import numpy as np

from arcf.bench import make_corpus
from arcf.bench.corpus import spelling
from arcf.neighborhood import DISTANCES, Analyzer


def test_the_same_seed_makes_the_same_corpus() -> None:
    assert make_corpus(200, 20, seed=3) == make_corpus(200, 20, seed=3)
    assert make_corpus(200, 20, seed=3) != make_corpus(200, 20, seed=4)


def test_sizes_and_uids() -> None:
    corpus = make_corpus(500, 30)
    assert (len({fact.uid for fact in corpus.facts}), len(corpus.questions)) == (500, 30)
    assert make_corpus(1, 0).facts[0].text
    assert make_corpus(1, 0).questions == ()


def test_words_are_left_alone_by_the_stemmer_and_differ() -> None:
    words = [spelling(rank) for rank in range(5_000)]
    assert Analyzer().terms(" ".join(words)) == words
    assert len(set(words)) == len(words)


def test_words_are_spread_as_in_real_text() -> None:
    corpus = make_corpus(9_720, 500)
    terms = [Analyzer().terms(fact.text) for fact in corpus.facts]
    lengths = np.array([len(words) for words in terms])
    assert 4.9 < lengths.mean() < 5.2  # WorldTree: 5.06
    counted = np.unique([word for words in terms for word in words], return_counts=True)[1]
    assert 3_500 < len(counted) < 4_200  # WorldTree: 3,858
    frequency = np.sort(counted)[::-1] / counted.sum()
    assert 0.0005 < frequency[300] < 0.0008  # WorldTree: 0.00063


def test_facts_of_a_topic_are_neighbors() -> None:
    corpus = make_corpus(2_000, 20)
    distance = DISTANCES["tfidf"].build(corpus.facts, ())
    nearest = [distance.distances(question.text).min() for question in corpus.questions]
    assert np.median(nearest) < 0.75
