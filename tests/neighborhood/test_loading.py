from pathlib import Path

import numpy as np
import pytest

from arcf.errors import UnknownNameError
from arcf.neighborhood import DISTANCES, Distance, Lexical, make_distance, make_neighborhood, recipe, store
from arcf.types import Dataset, Fact, Question

LEXICAL = sorted(name for name, recipe in DISTANCES.items() if isinstance(recipe, Lexical))
FACTS = (Fact("a", "ice melts"), Fact("b", "ice is solid water"), Fact("c", "heat melts metal"))
TRAIN = (Question("q", "What melts?", answer="ice"), Question("r", "What is ice?", answer="water"))
DEV = (Question("s", "Is metal heavy?", answer="yes"),)
TEXT = "why does ice melt in heat"


def same(one: Distance, other: Distance) -> bool:
    return np.array_equal(one.distances(TEXT), other.distances(TEXT))


@pytest.mark.parametrize("name", [*LEXICAL, "tfidf+overlap"])
def test_is_the_distance_of_that_name(name: str) -> None:
    dataset = Dataset("tiny", FACTS, {"train": TRAIN, "dev": DEV})
    assert same(make_distance(dataset, name), recipe(name).build(FACTS, TRAIN))


def test_learns_from_training_questions_and_never_from_those_that_are_evaluated() -> None:
    without, with_train = Dataset("tiny", FACTS), Dataset("tiny", FACTS, {"train": TRAIN})
    assert not same(make_distance(without), make_distance(with_train))
    assert same(make_distance(without), make_distance(Dataset("tiny", FACTS, {"dev": DEV, "test": TRAIN})))


def test_the_neighborhood_of_a_dataset() -> None:
    dataset = Dataset("tiny", FACTS, {"train": TRAIN})
    near = make_neighborhood(dataset)
    assert near.facts == FACTS
    assert same(near.distance, make_distance(dataset, "tfidf"))
    assert same(make_neighborhood(dataset, "overlap").distance, make_distance(dataset, "overlap"))
    assert near.visible("What is solid?", [], 5).tolist() == [1]


def test_what_took_long_is_kept(empty_cache: Path) -> None:
    dataset = Dataset("tiny", FACTS, {"train": TRAIN, "dev": DEV})
    built = make_distance(dataset)
    name = store.fingerprint(recipe("tfidf"), FACTS, TRAIN)
    assert [path.stem for path in (empty_cache / "distances").iterdir()] == [name]
    assert same(make_distance(dataset), built)


@pytest.mark.parametrize("make", [make_distance, make_neighborhood])
def test_unknown_names(make: object) -> None:
    assert callable(make)
    with pytest.raises(UnknownNameError, match="There is no distance named 'tfidff'"):
        make(Dataset("tiny", FACTS), "tfidff")
