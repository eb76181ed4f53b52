"""The interface of sentence-transformers' CrossEncoder, for programs that have it in them.

reranker = CrossEncoder()  # the packaged model, or a folder
reranker.rank("Which process turned the ice cube to water? (answer) melting", documents, top_k=5)
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from arcf.data.given import check_text
from arcf.errors import SettingError
from arcf.kept.keeping import keeping_nothing
from arcf.pretrained.tensors import as_tensor
from arcf.scorer import Prefix, load_scorer, packaged_model

Pair = tuple[str, str] | list[str]
Scores = NDArray[np.float32]
Activation = Callable[[Any], Any]

NOTHING: Final = float(np.finfo(np.float32).min)
"""The score of an empty document: below all others, and a number that JSON has."""


class CrossEncoder:
    """Scores pairs of a query and a document: the document as the first fact of the query's chain.

    Scores are the model's own numbers, comparable within a query only; a CrossEncoder with one label would put them
    through a sigmoid, which keeps their order: give `activation_fn=torch.nn.Sigmoid()` for that. A query reads best as
    `question (answer) answer`. Where the model has a lexical prior, as the packaged one has, how rare a word is comes
    from the documents of the call: give all of them. Empty documents come last.

    The arguments are those of CrossEncoder. Some change nothing here: a model takes texts of its own largest length,
    and divides documents into batches of its own; it has one label.
    """

    def __init__(
        self,
        model_name_or_path: str | Path | None = None,
        num_labels: int | None = None,
        max_length: int | None = None,
        activation_fn: Activation | None = None,
        device: str | None = None,
        **others: Any,
    ) -> None:
        del max_length
        _check(others, CONSTRUCTION)
        if num_labels not in (None, 1):
            raise SettingError(f"A scorer of facts has 1 label, not {num_labels}; leave out num_labels.")
        self.activation_fn = activation_fn
        self._scorer = load_scorer(model_name_or_path or packaged_model(), (), device or "auto")

    def predict(
        self,
        sentences: Sequence[Pair] | Pair,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        activation_fn: Activation | None = None,
        **others: Any,
    ) -> Any:
        """The score of every pair, or of the one pair that is given.

        An array of numpy; with `convert_to_tensor`, a tensor; with `convert_to_numpy=False`, a list of tensors.
        """
        del batch_size, show_progress_bar
        _check(others, CALL)
        alone = len(sentences) == 2 and isinstance(sentences[0], str)
        pairs = cast("Sequence[Pair]", [sentences] if alone else sentences)
        scores = self._scores([(query, document) for query, document in pairs], activation_fn)
        if others.get("convert_to_tensor"):
            tensor = as_tensor(scores)
            return tensor[0] if alone else tensor
        if not others.get("convert_to_numpy", True):
            tensors = list(as_tensor(scores))
            return tensors[0] if alone else tensors
        return scores[0] if alone else scores

    def rank(  # noqa: PLR0913 - the arguments are theirs, and so is their order
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        *,
        activation_fn: Activation | None = None,
        **others: Any,
    ) -> list[dict[str, Any]]:
        """The documents, best first: each by its place in `documents`, with its score and, if wanted, its text."""
        del batch_size, show_progress_bar
        _check(others, CALL)
        scores = self._scores([(query, document) for document in documents], activation_fn)
        order = np.argsort(-scores, kind="stable")[:top_k].tolist()
        return [
            {"corpus_id": place, "score": float(scores[place])}
            | ({"text": documents[place]} if return_documents else {})
            for place in order
        ]

    def _scores(self, pairs: Sequence[tuple[str, str]], activation_fn: Activation | None) -> Scores:
        """Pairs of one query are scored together: it is read once. Documents are others every time, and no corpus."""
        for query, document in pairs:
            check_text(query, "A query")
            check_text(document, "A document")
        places: dict[str, list[int]] = {}
        for place, (query, document) in enumerate(pairs):
            if document.strip():
                places.setdefault(query, []).append(place)
        scores = np.full(len(pairs), NOTHING, dtype=np.float32)
        with keeping_nothing():
            scorer = self._scorer.for_facts([document for _, document in pairs])
            for query, rows in places.items():
                scores[rows] = scorer.score(Prefix(query), np.array(rows, dtype=np.int64))
        activation = activation_fn or self.activation_fn
        return scores if activation is None else np.asarray(activation(as_tensor(scores)))


CALL: Final = frozenset({"apply_softmax", "convert_to_numpy", "convert_to_tensor"})
"""What else calls may be given."""

CONSTRUCTION: Final = frozenset(
    {
        "automodel_args",
        "backend",
        "cache_folder",
        "config_kwargs",
        "local_files_only",
        "model_card_data",
        "model_kwargs",
        "revision",
        "token",
        "tokenizer_args",
        "tokenizer_kwargs",
        "trust_remote_code",
    }
)
"""What else a CrossEncoder may be made with, all of it about the hub and about libraries that are not used here."""


def _check(given: dict[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(given.keys() - known)
    if unknown:
        raise TypeError(f"CrossEncoder has no argument {', '.join(unknown)}")
