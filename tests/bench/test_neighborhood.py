from arcf.bench import make_corpus, measure_growth, measure_growth_apart, measure_walk
from arcf.bench.memory import peak_bytes
from arcf.neighborhood import DISTANCES


def test_growth() -> None:
    growth = measure_growth("tfidf", 200)
    assert growth.facts == 200
    assert growth.build_seconds > 0
    assert 0 < growth.fact.median <= growth.fact.p95
    assert 0 < growth.question.median <= growth.question.p95
    assert 0 < growth.index_bytes < 1_000_000


def test_growth_in_a_process_of_its_own() -> None:
    growth = measure_growth_apart("tfidf", 5)
    assert growth.facts == 5
    assert growth.peak_bytes is None or growth.peak_bytes > growth.index_bytes


def test_walk_over_few_facts() -> None:
    corpus = make_corpus(5, 3)
    walk = measure_walk(DISTANCES["tfidf"], corpus.facts, (), corpus.questions)
    assert walk.facts == 5
    assert 0 < walk.warm.median <= walk.warm.p95
    assert walk.cold.median > 0


def test_peak() -> None:
    peak = peak_bytes()
    assert peak is None or peak > 1_000_000
