"""The names and shapes of sentence-transformers' CrossEncoder, on a tiny exported model."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arcf.adapters.cross_encoder import CrossEncoder
from arcf.errors import InputError, SettingError
from arcf.scorer import Prefix, load_scorer
from arcf.scorer.export import export

DOCUMENTS = ["water", "ice is a kind of solid water", "heat causes melting.", "a kind of"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, save_tiny_model: Callable[..., None]) -> Path:
    """A tiny random model, as trained and as exported."""
    folder = tmp_path_factory.mktemp("model")
    save_tiny_model(DOCUMENTS, folder / "torch")
    export(folder / "torch", folder / "onnx")
    return folder


@pytest.fixture(params=["torch", "onnx"])
def encoder(model: Path, request: pytest.FixtureRequest) -> CrossEncoder:
    return CrossEncoder(model / request.param)


def test_predict_scores_pairs_of_any_queries(model: Path, encoder: CrossEncoder) -> None:
    scorer = load_scorer(model / "torch", DOCUMENTS)
    expected = [
        scorer.score(Prefix(query), np.array([fact]))[0] for query, fact in [("ice", 2), ("heat", 0), ("ice", 3)]
    ]
    pairs = [("ice", DOCUMENTS[2]), ["heat", DOCUMENTS[0]], ("ice", DOCUMENTS[3])]
    np.testing.assert_allclose(encoder.predict(pairs), expected, atol=1e-4)


def test_predict_of_one_pair_is_a_number(encoder: CrossEncoder) -> None:
    assert np.ndim(encoder.predict(("ice", "water"))) == 0
    assert np.shape(encoder.predict([("ice", "water")])) == (1,)
    assert np.shape(encoder.predict([])) == (0,)


def test_rank(encoder: CrossEncoder) -> None:
    found = encoder.rank("ice", DOCUMENTS, top_k=3, return_documents=True)
    scores = encoder.predict([("ice", document) for document in DOCUMENTS])
    assert [entry["corpus_id"] for entry in found] == np.argsort(-np.asarray(scores))[:3].tolist()
    assert [entry["text"] for entry in found] == [DOCUMENTS[entry["corpus_id"]] for entry in found]
    assert found[0]["score"] >= found[1]["score"] >= found[2]["score"]
    assert set(encoder.rank("ice", DOCUMENTS)[0]) == {"corpus_id", "score"}
    assert encoder.rank("ice", DOCUMENTS, 3, False, 16, True) == encoder.rank("ice", DOCUMENTS, top_k=3)
    with pytest.raises(InputError, match="A document"):
        encoder.rank("ice", ["heat", "\ud800"])
    assert encoder.rank("ice", []) == []


def test_arguments_of_sentence_transformers_are_taken(model: Path, encoder: CrossEncoder) -> None:
    import torch

    pairs = [("ice", document) for document in DOCUMENTS]
    plain = encoder.predict(pairs)
    usual = {"batch_size": 2, "show_progress_bar": False, "apply_softmax": False, "convert_to_numpy": True}
    np.testing.assert_array_equal(encoder.predict(pairs, **usual), plain)
    assert encoder.rank("ice", DOCUMENTS, batch_size=2, show_progress_bar=True) == encoder.rank("ice", DOCUMENTS)
    same = CrossEncoder(model / "onnx", max_length=512, num_labels=1, device="cpu", trust_remote_code=False)
    assert len(same.predict(pairs)) == len(pairs)
    tensor = encoder.predict(pairs, convert_to_tensor=True)
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_array_equal(tensor.numpy(), plain)
    single = encoder.predict(pairs[0], convert_to_numpy=False)
    assert isinstance(single, torch.Tensor)
    assert [float(value) for value in encoder.predict(pairs, convert_to_numpy=False)] == plain.tolist()


def test_an_activation_as_a_cross_encoder_has_it(encoder: CrossEncoder) -> None:
    import torch

    pairs = [("ice", document) for document in [*DOCUMENTS, ""]]
    found = encoder.predict(pairs, activation_fn=torch.nn.Sigmoid())
    np.testing.assert_allclose(found[:-1], 1 / (1 + np.exp(-encoder.predict(pairs)[:-1])), atol=1e-6)
    assert found[-1] == 0
    assert encoder.rank("ice", DOCUMENTS, activation_fn=torch.nn.Sigmoid())[0]["score"] == max(found)


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_document_comes_last(encoder: CrossEncoder, empty: str) -> None:
    found = encoder.rank("ice", [empty, *DOCUMENTS])
    assert found[-1]["corpus_id"] == 0
    assert np.isfinite(found[-1]["score"])
    assert json.loads(json.dumps(found)) == found
    assert encoder.rank("ice", [empty])[0]["corpus_id"] == 0


def test_arguments_that_it_does_not_have(model: Path, encoder: CrossEncoder) -> None:
    with pytest.raises(TypeError, match="no argument bath_size"):
        encoder.rank("ice", DOCUMENTS, bath_size=2)
    with pytest.raises(TypeError, match="no argument top"):
        encoder.predict([], top=2)
    with pytest.raises(SettingError, match="1 label, not 3"):
        CrossEncoder(model / "onnx", num_labels=3)


def test_documents_fill_no_cache(encoder: CrossEncoder, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcf.kept.keeping.MISSED_SECONDS", 0.0)
    encoder.rank("ice", DOCUMENTS)
    assert not list(empty_cache.rglob("*.kept"))
