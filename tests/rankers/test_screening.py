"""Whether all facts have vectors: decided once, by the cache of the machine that gives the command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arcf.chain import ChainSettings
from arcf.neighborhood import make_distance
from arcf.rankers import EnsembleSettings, RankerSettings
from arcf.rankers.parcel import Parcel
from arcf.rankers.screening import decided
from arcf.scorer import ScorerSettings, dense_prior
from arcf.types import Dataset, Fact

DATASET = Dataset("d", tuple(Fact(f"u{n}", text) for n, text in enumerate(["ice is solid", "ice melts", "heat melts"])))

pytestmark = pytest.mark.usefixtures("empty_cache")


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_prior, "MANY_FACTS", 3)


def model_of(folder: Path, encoder: Path, dense: float = 8.0) -> str:
    """What a model says of itself; nothing else of it is looked at."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(ScorerSettings(dense=dense, untrained=str(encoder)).to_config()))
    return str(folder)


def test_the_cache_decides(tmp_path: Path, tiny_graph: Path) -> None:
    settings = RankerSettings(model=model_of(tmp_path / "model", tiny_graph))
    before = decided(settings, DATASET)
    make_distance(DATASET, "embedding", str(tiny_graph))
    after = decided(settings, DATASET)
    assert (before, after) == (replace(settings, vectors=False), replace(settings, vectors=True))
    assert decided(before, DATASET) == before
    assert len({json.dumps(one.identity()) for one in (settings, before, after)}) == 3


def test_all_of_an_ensembles_encoders_must_have_their_vectors(
    tmp_path: Path, tiny_graph: Path, tiny_bert: Path
) -> None:
    models = [model_of(tmp_path / encoder.name, encoder) for encoder in (tiny_graph, tiny_bert)]
    settings = RankerSettings("ensemble", ensemble=EnsembleSettings(tuple(f"arcf:{model}" for model in models)))
    for encoder, are_there in ((tiny_graph, False), (tiny_bert, True)):
        make_distance(DATASET, "embedding", str(encoder))
        assert decided(settings, DATASET).vectors is are_there


def test_where_it_decides_nothing(tmp_path: Path, tiny_graph: Path) -> None:
    model, plain = model_of(tmp_path / "model", tiny_graph), model_of(tmp_path / "plain", tiny_graph, dense=0.0)
    for settings in (
        RankerSettings("tfidf"),
        RankerSettings("single-fact", model=model),
        RankerSettings(model=model, chain=ChainSettings(rescored=None)),
        RankerSettings(model=plain),
    ):
        assert decided(settings, DATASET) is settings
    few = replace(DATASET, facts=DATASET.facts[:2])
    assert decided(RankerSettings(model="nowhere"), few) == RankerSettings(model="nowhere")


def test_those_who_open_a_parcel_follow(tmp_path: Path, tiny_graph: Path) -> None:
    parcel = Parcel.of(RankerSettings(model=model_of(tmp_path / "model", tiny_graph)), DATASET)
    make_distance(DATASET, "embedding", str(tiny_graph))
    assert parcel.open()[0].vectors is False
