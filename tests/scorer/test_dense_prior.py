"""The dense prior, and models that were trained with one."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.neighborhood import make_distance
from arcf.pretrained import onnx_session
from arcf.pretrained.onnx_session import open_session
from arcf.rankers import RankerSettings, build_autoregressive
from arcf.rankers.parcel import Parcel
from arcf.scorer import STOP, Prefix, ScorerSettings, dense_prior, load_scorer, model_identity
from arcf.scorer.dense_prior import CHOSEN_WEIGHT, STOP_NEARNESS, DensePrior, LazyVectors
from arcf.scorer.export import export
from arcf.scorer.loading import dense_encoder
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.scorer.prior import LexicalPrior, SumOfPriors, WithPrior
from arcf.sentences import load_encoder
from arcf.types import Dataset, Fact, Question

from .conftest import FACTS, QUERIES

WEIGHT = 15.0


@pytest.fixture(scope="module")
def encoder(tiny: Callable[..., Backbone], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("encoder")
    tiny("bert").save(folder)
    return str(folder)


@pytest.mark.parametrize("chosen", [(), (2,), (6, 1, 3)])
def test_against_cosines_written_out(chosen: tuple[int, ...], encoder: str) -> None:
    scores = DensePrior(encoder, FACTS, WEIGHT).score(Prefix(QUERIES[0], chosen), np.arange(len(FACTS)))
    facts, query = (load_encoder(encoder).encode(texts) for texts in (FACTS, [QUERIES[0].replace("(answer)", " ")]))
    expected = facts @ query[0]
    if chosen:
        expected = expected + CHOSEN_WEIGHT * np.max([facts @ facts[fact] for fact in chosen], axis=0)
    np.testing.assert_allclose(scores, WEIGHT * expected, rtol=1e-4)


def test_the_stop_sample_scores_the_same_after_any_prefix(encoder: str) -> None:
    prior, asked = DensePrior(encoder, FACTS, WEIGHT), np.array([STOP, 0, STOP])
    for chosen in ((), (1,), (1, 3)):
        scores = prior.score(Prefix(QUERIES[0], chosen), asked)
        assert scores[[0, 2]].tolist() == pytest.approx([WEIGHT * STOP_NEARNESS] * 2)
        assert scores[1] != scores[0]
    assert prior.score(Prefix(QUERIES[0]), np.array([STOP])).tolist() == pytest.approx([WEIGHT * STOP_NEARNESS])


def test_of_many_facts_only_those_that_are_asked_for_are_encoded(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix, asked = Prefix(QUERIES[0], (4,)), np.array([1, 2, STOP, 2])
    expected = DensePrior(encoder, FACTS, WEIGHT).score(prefix, asked)
    monkeypatch.setattr(dense_prior, "MANY_FACTS", 3)
    encoded: list[str] = []
    real = load_encoder(encoder)
    monkeypatch.setattr(
        dense_prior,
        "load_encoder",
        lambda *_: SimpleNamespace(encode=lambda texts: encoded.extend(texts) or real.encode(texts)),
    )
    prior = DensePrior(encoder, FACTS, WEIGHT)
    for _ in range(2):
        np.testing.assert_allclose(prior.score(prefix, asked), expected, rtol=2e-3)
    texts = [text for text in encoded if text]
    assert sorted(texts) == sorted([QUERIES[0].replace("(answer)", " "), FACTS[1], FACTS[2], FACTS[4]])


def test_estimates_encode_nothing(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix, facts = Prefix(QUERIES[0], (4,)), np.arange(len(FACTS))
    few = DensePrior(encoder, FACTS, WEIGHT)
    assert few.estimate(prefix, facts).tolist() == few.score(prefix, facts).tolist()
    monkeypatch.setattr(dense_prior, "MANY_FACTS", 3)
    many = DensePrior(encoder, FACTS, WEIGHT)
    monkeypatch.setattr(LazyVectors, "take", lambda *_: pytest.fail("encoded"))
    assert many.estimate(prefix, facts).tolist() == [0.0] * len(FACTS)


def test_threads_that_begin_at_once_lose_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    both, zeros = Barrier(2, timeout=0.3), np.zeros

    def slow(shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
        if dtype is np.float16:
            with suppress(BrokenBarrierError):
                both.wait()
        return zeros(shape, dtype)

    ones = SimpleNamespace(encode=lambda texts: np.ones((len(texts), 2), dtype=np.float32))
    monkeypatch.setattr(np, "zeros", slow)
    vectors = LazyVectors(ones, FACTS)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(vectors.take, [np.array([0]), np.array([1])]))
    assert vectors.take(np.array([0, 1])).tolist() == [[1.0, 1.0]] * 2


ASKED = st.lists(st.lists(st.sampled_from(range(len(FACTS))), max_size=6), max_size=6)


@given(asked=ASKED, remembered=st.integers(1, 9))
def test_no_more_vectors_are_remembered_than_there_is_room_for(
    encoder: str, asked: list[list[int]], remembered: int
) -> None:
    expected = load_encoder(encoder).encode(FACTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense_prior, "REMEMBERED", remembered)
        vectors = LazyVectors(load_encoder(encoder), FACTS)
    for facts in asked:
        rows = np.array(facts, dtype=np.int64)
        np.testing.assert_allclose(vectors.take(rows), expected[rows], atol=2e-3)
    known = {fact for facts in asked for fact in facts}
    assert np.count_nonzero(vectors._place >= 0) == min(remembered, len(known))


def test_threads_share_vectors(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_prior, "REMEMBERED", 3)
    vectors, expected = LazyVectors(load_encoder(encoder), FACTS), load_encoder(encoder).encode(FACTS)
    asked = [np.random.default_rng(seed).permutation(len(FACTS))[:4] for seed in range(40)]
    with ThreadPoolExecutor(4) as pool:
        for rows, found in zip(asked, pool.map(vectors.take, asked), strict=True):
            np.testing.assert_allclose(found, expected[rows], atol=2e-3)


def test_of_many_facts_that_are_kept_none_is_encoded(
    encoder: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = DensePrior(encoder, FACTS, WEIGHT).score(Prefix(QUERIES[0], (4,)), np.arange(-1, len(FACTS)))
    assert [path.parent.name for path in empty_cache.rglob("*.kept")] == ["distances"]
    monkeypatch.setattr(dense_prior, "MANY_FACTS", 3)
    monkeypatch.setattr(dense_prior.LazyVectors, "take", lambda *_: pytest.fail("encoded again"))
    found = DensePrior(encoder, FACTS, WEIGHT).score(Prefix(QUERIES[0], (4,)), np.arange(-1, len(FACTS)))
    assert found.tolist() == expected.tolist()


@pytest.mark.usefixtures("empty_cache")
@pytest.mark.parametrize("many", [3, 99])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("vectors", [False, True])
def test_whether_all_have_vectors_may_be_said(
    encoder: str, monkeypatch: pytest.MonkeyPatch, many: int, kept: bool, vectors: bool
) -> None:
    """Whatever is kept, and however many they are."""
    prefix, facts = Prefix(QUERIES[0], (4,)), np.arange(len(FACTS))
    if kept:
        DensePrior(encoder, FACTS, WEIGHT)
    monkeypatch.setattr(dense_prior, "MANY_FACTS", many)
    made = DensePrior(encoder, FACTS, WEIGHT, None, vectors)
    for prior in (made, made.for_facts(FACTS)):
        expected = prior.score(prefix, facts) if vectors else np.zeros(len(FACTS))
        assert prior.estimate(prefix, facts).tolist() == expected.tolist()


@pytest.mark.parametrize("facts", [[], [""], ["ice", "ice"]])
@pytest.mark.parametrize("many", [0, 9])
def test_corpora_with_little_in_them(
    facts: list[str], many: int, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_prior, "MANY_FACTS", many)
    prior = DensePrior(encoder, facts, WEIGHT)
    scores = prior.score(Prefix("same?", tuple(range(len(facts)))), np.arange(-1, len(facts)))
    assert np.isfinite(scores).all()
    assert len(set(scores[1:].tolist())) <= 1


@given(candidates=st.permutations(range(-1, len(FACTS))), chosen=st.lists(st.sampled_from(range(7)), unique=True))
def test_a_score_depends_on_prefix_and_candidate_alone(encoder: str, candidates: list[int], chosen: list[int]) -> None:
    prior, prefix = DensePrior(encoder, FACTS, WEIGHT), Prefix(QUERIES[0], tuple(chosen))
    together = prior.score(prefix, np.array(candidates))
    alone = [prior.score(prefix, np.array([candidate]))[0] for candidate in candidates]
    np.testing.assert_allclose(together, alone, rtol=1e-5)


def test_the_encoder_of_a_scorer(trained: Path, untrained: Path, tiny: Callable[..., Backbone], tmp_path: Path) -> None:
    assert dense_encoder(load_scorer(trained, FACTS)) == str(untrained)
    for prior in (0.0, WEIGHT):
        tiny("bert").with_settings(ScorerSettings(encoding="shared_prefix", prior=prior)).save(tmp_path / str(prior))
        assert dense_encoder(load_scorer(tmp_path / str(prior), FACTS)) is None


def test_embeddings_are_those_of_the_models_own_encoder(trained: Path, untrained: Path) -> None:
    dataset = Dataset("made-up", tuple(Fact(str(number), text) for number, text in enumerate(FACTS)))
    ranker = build_autoregressive(RankerSettings(model=str(trained), distance="tfidf+embedding"), dataset)
    expected = make_distance(dataset, "tfidf+embedding", str(untrained)).nearest("heat", 10)
    assert ranker.search.neighborhood.nearest("heat", 10).tolist() == expected.tolist()


@pytest.fixture
def untrained(tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    tiny("bert").save(tmp_path / "untrained")
    return tmp_path / "untrained"


@pytest.fixture
def trained(tiny: Callable[..., Backbone], untrained: Path, tmp_path: Path) -> Path:
    settings = ScorerSettings(encoding="late", prior=WEIGHT, dense=8.0, untrained=str(untrained), read_ahead=1)
    tiny("bert").with_settings(settings).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_remembers_its_priors(trained: Path, untrained: Path, tmp_path: Path) -> None:
    """The export too, wherever the encoder has gone since."""
    export(trained, tmp_path / "exported")
    prefix, ids = Prefix(QUERIES[1], (2,)), np.arange(-1, len(FACTS))
    dense = DensePrior(str(untrained), FACTS, 8.0)
    expected = LexicalPrior(FACTS, WEIGHT).score(prefix, ids) + dense.score(prefix, ids)
    found = [load_scorer(trained, FACTS)]
    untrained.rename(tmp_path / "elsewhere")
    found.append(load_scorer(tmp_path / "exported", FACTS))
    for scorer in found:
        assert isinstance(scorer, WithPrior)
        assert isinstance(scorer.prior, SumOfPriors)
        np.testing.assert_allclose(scorer.prior.score(prefix, ids), expected, atol=2e-3)
    np.testing.assert_allclose(found[0].score(prefix, ids), found[1].score(prefix, ids), atol=5e-3)


@pytest.mark.usefixtures("empty_cache")
def test_the_encoder_travels_with_its_model(trained: Path, untrained: Path, tmp_path: Path) -> None:
    """Whether it is named by a folder of this machine, or is in the model's own."""
    dataset = Dataset("made-up", tuple(Fact(str(number), text) for number, text in enumerate(FACTS)))
    export(trained, tmp_path / "exported")
    prefix, ids = Prefix(QUERIES[1], (2,)), np.arange(-1, len(FACTS))
    expected = load_scorer(trained, FACTS).score(prefix, ids)
    parcels = [Parcel.of(RankerSettings(model=str(folder)), dataset) for folder in (trained, tmp_path / "exported")]
    untrained.rename(tmp_path / "elsewhere")
    for parcel in parcels:
        model = parcel.open()[0].model
        assert model
        assert dense_encoder(load_scorer(model, FACTS)) == f"{model}/untrained"
        np.testing.assert_allclose(load_scorer(model, FACTS).score(prefix, ids), expected, atol=5e-3)


def test_an_encoder_of_the_hub_travels_by_its_name(tiny: Callable[..., Backbone], tmp_path: Path) -> None:
    settings = ScorerSettings(encoding="shared_prefix", dense=8.0, untrained="on/the-hub")
    tiny("bert").with_settings(settings).save(tmp_path / "model")
    packed = Parcel.of(RankerSettings(model=str(tmp_path / "model")), Dataset("made-up", ())).models
    assert not [name for name in packed[str(tmp_path / "model")].files if name.startswith("untrained")]


def test_a_prior_keeps_the_encoder_that_its_vectors_are_from(trained: Path, untrained: Path) -> None:
    scorer, asked = load_scorer(trained, FACTS), np.arange(len(FACTS))
    before = scorer.score(Prefix(QUERIES[0]), asked)
    (untrained / "1_Pooling").mkdir()
    (untrained / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert load_scorer(trained, FACTS).score(Prefix(QUERIES[1]), asked).tolist() != pytest.approx(
        scorer.score(Prefix(QUERIES[1]), asked).tolist(), abs=1e-3
    )
    np.testing.assert_array_equal(scorer.score(Prefix(QUERIES[0]), asked), before)


@pytest.mark.parametrize("distance", ["tfidf", "embedding"])
def test_the_encoder_has_as_many_threads_as_were_asked_for(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distance: str
) -> None:
    export(trained, tmp_path / "exported")
    dataset = Dataset("made-up", tuple(Fact(str(number), text) for number, text in enumerate(FACTS)))
    asked: list[int | None] = []

    def noted(path: Path, threads: int | None = None) -> object:
        asked.append(threads)
        return open_session(path, threads)

    monkeypatch.setattr(onnx_session, "open_session", noted)
    settings = RankerSettings(model=str(tmp_path / "exported"), distance=distance, threads=2)
    build_autoregressive(settings, dataset).rank(Question("q", "What melts ice?"))
    assert asked
    assert set(asked) == {2}


def test_other_facts_have_other_vectors(trained: Path) -> None:
    facts, ids = ["ice floats", "water melting"], np.arange(2)
    scorer, expected = load_scorer(trained, FACTS).for_facts(facts), load_scorer(trained, facts)
    np.testing.assert_array_equal(scorer.score(Prefix("ice"), ids), expected.score(Prefix("ice"), ids))


@pytest.mark.parametrize("encoding", ["shared_prefix", "late"])
@pytest.mark.parametrize("family", ["bert", "mpnet", "roberta", "electra"])
def test_the_exported_encoder_is_the_encoder(
    family: str, encoding: str, tiny: Callable[..., Backbone], tmp_path: Path
) -> None:
    """By transformers' own forward pass: the folder is a sentence encoder's like any other.

    The late model has the encoder's own lower layers, so that they are there once.
    """
    backbone = tiny(family)
    backbone.save(tmp_path / "untrained")
    settings = ScorerSettings(encoding=encoding, dense=8.0, untrained=str(tmp_path / "untrained"), read_ahead=1)
    backbone.with_settings(settings).save(tmp_path / "model")
    export(tmp_path / "model", tmp_path / "exported")
    exported = load_encoder(str(tmp_path / "exported" / "untrained")).encode(FACTS)
    model = transformers.AutoModel.from_pretrained(tmp_path / "untrained").eval()
    tokenizer = backbone.tokenizer.raw
    tokenizer.no_padding()
    for vector, text in zip(exported, FACTS, strict=True):
        ids = transformers.BatchEncoding({"input_ids": [tokenizer.encode(text).ids]}, tensor_type="pt")
        mean = model(**ids).last_hidden_state[0].mean(dim=0).detach().numpy()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-4)


@pytest.mark.parametrize("graph", ["lower.onnx", "upper.onnx"])
def test_an_export_with_a_damaged_encoder_is_refused(trained: Path, tmp_path: Path, graph: str) -> None:
    export(trained, tmp_path / "exported")
    assert f"untrained/{graph}" in model_identity(tmp_path / "exported")
    (tmp_path / "exported" / "untrained" / graph).write_bytes(b"something else")
    with pytest.raises(InputError, match="the file is damaged"):
        load_scorer(tmp_path / "exported", FACTS)


def test_lower_layers_are_shared_where_training_left_them_as_they_were(trained: Path, tmp_path: Path) -> None:
    """Whatever became of the layers above; and not where they differ in a single number."""
    prefix, ids = Prefix(QUERIES[1], (2,)), np.arange(-1, len(FACTS))
    for layer, graph, version in ((0, "untrained/model.onnx", 3), (1, "untrained/upper.onnx", 4)):
        changed = load_backbone(trained)
        with torch.no_grad():
            changed.layers[layer].query.bias[0] += 1
        changed.save(tmp_path / "changed")
        export(tmp_path / "changed", tmp_path / "exported")
        assert (tmp_path / "exported" / graph).is_file()
        assert (tmp_path / "exported" / "lower.onnx").is_file() == (layer == 0)
        assert json.loads((tmp_path / "exported" / "manifest.json").read_text())["version"] == version
        expected, found = (load_scorer(tmp_path / name, FACTS).score(prefix, ids) for name in ("changed", "exported"))
        np.testing.assert_allclose(found, expected, atol=5e-3)


def test_a_weight_may_be_given_after_training(
    trained: Path, encoder: str, tiny: Callable[..., Backbone], tmp_path: Path
) -> None:
    tiny("bert").with_settings(ScorerSettings(encoding="shared_prefix", prior=WEIGHT)).save(tmp_path / "plain")
    prefix, ids = Prefix(QUERIES[0]), np.arange(len(FACTS))
    for folder, own in ((tmp_path / "plain", encoder), (trained, str(tmp_path / "untrained"))):
        output = tmp_path / f"exported {folder.name}"
        export(folder, output / "with", dense=3.0, untrained=encoder)
        export(folder, output / "without", dense=0.0)
        added = load_scorer(output / "with", FACTS).score(prefix, ids)
        added -= load_scorer(output / "without", FACTS).score(prefix, ids)
        np.testing.assert_allclose(added, DensePrior(own, FACTS, 3.0).score(prefix, ids), atol=2e-3)


def test_a_new_export_without_a_prior_has_no_encoder(
    trained: Path, tiny: Callable[..., Backbone], tmp_path: Path
) -> None:
    export(trained, tmp_path / "exported")
    tiny("bert").with_settings(ScorerSettings(encoding="shared_prefix")).save(tmp_path / "plain")
    export(tmp_path / "plain", tmp_path / "exported")
    assert not (tmp_path / "exported" / "untrained").exists()
    assert not isinstance(load_scorer(tmp_path / "exported", FACTS), WithPrior)
