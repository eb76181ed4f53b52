from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arcf.errors import InputError
from arcf.neighborhood import make_neighborhood
from arcf.training.settings import TrainingSettings
from arcf.training.sources import Source, make_sources
from arcf.types import Dataset, Fact

Settings = Callable[..., TrainingSettings]


def test_hard_negatives_of_several_corpora_come_from_one_run(
    settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    """A corpus that the run does not know has none; a run that knows no corpus is a mistake."""
    (tmp_path / "run.txt").write_text("heron\tneed-bird\nheron\tnowhere\nheron\tis-crow\n")
    facts = (*dataset.facts, Fact("more", "nothing of the like"))
    other = Dataset("other", facts, {"train": dataset.split("train")[1:]})
    wanted = settings(
        data={"datasets": {"known": {"held_out": 1}, "unknown": {"held_out": 1}}},
        sampling={"mining": {"run": str(tmp_path / "run.txt")}},
    )
    known, unknown = make_sources(wanted, {"known": dataset, "unknown": other})
    assert {name: [dataset.facts[fact].uid for fact in facts] for name, facts in known.mined.items()} == {
        "heron": ["need-bird", "is-crow"]
    }
    assert unknown.mined == {}
    with pytest.raises(InputError, match=r"run\.txt: has no question of the split train of other or the split train"):
        make_sources(wanted, {"known": other, "unknown": other})


def test_what_one_corpus_holds_out_no_other_shows(settings: Settings, dataset: Dataset) -> None:
    """Two sections may name one dataset: to learn from two splits of it, or from its questions without gold."""

    def sources(first: dict[str, int], second: dict[str, int]) -> tuple[Source, ...]:
        return make_sources(
            settings(data={"datasets": {"one": first, "two": second}}), {"one": dataset, "two": dataset}
        )

    sources({"held_out": 1}, {"held_out": 1})
    with pytest.raises(InputError, match="two: would learn questions that one holds out; hold out as many in both"):
        sources({"held_out": 1}, {"held_out": 0})

    one, two = sources({"held_out": 1}, {"held_out": 1, "held_out_facts": 1})
    assert one.split.shown.facts == two.split.shown.facts
    assert len(one.split.shown.facts) < len(dataset.facts)
    assert one.split.learnt == two.split.learnt
    assert one.samples_key(1) != sources({"held_out": 1}, {"held_out": 1})[0].samples_key(1)


def test_embeddings_are_those_of_the_dense_prior(settings: Settings, dataset: Dataset, tiny_bert: Path) -> None:
    wanted = settings(model={"dense": 1.0, "untrained": str(tiny_bert)}, sampling={"distance": "tfidf+embedding"})
    (source,) = make_sources(wanted, dict.fromkeys(wanted.data.corpora, dataset))
    plain = replace(wanted, model=replace(wanted.model, dense=0.0))
    (usual,) = make_sources(plain, dict.fromkeys(wanted.data.corpora, dataset))
    assert (source.encoder, usual.encoder) == (str(tiny_bert), None)
    assert source.samples_key(1) != usual.samples_key(1)
    near = make_neighborhood(dataset, "tfidf+embedding", str(tiny_bert))
    (question, *_) = dataset.training
    seen = [own.visible(question.text, (), 3).tolist() for own in (source.material().neighborhood, near)]
    assert seen[0] == seen[1]
