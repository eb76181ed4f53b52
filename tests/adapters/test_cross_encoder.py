"""The names and shapes of sentence-transformers' CrossEncoder, on a tiny exported model."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from arcf.adapters.cross_encoder import CrossEncoder
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
    assert encoder.rank("ice", []) == []
