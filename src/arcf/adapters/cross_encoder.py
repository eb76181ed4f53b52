"""The interface of sentence-transformers' CrossEncoder, for programs that have it in them.

reranker = CrossEncoder()  # the packaged model, or a folder
reranker.rank("Which process turned the ice cube to water? (answer) melting", documents, top_k=5)
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arcf.scorer import Prefix, load_scorer, packaged_model

Pair = tuple[str, str] | list[str]


class CrossEncoder:
    """Scores pairs of a query and a document: the document as the first fact of the query's chain.

    Scores are the model's own numbers, comparable within a query only; a CrossEncoder with one label would put them
    through a sigmoid, which keeps their order. A query reads best as `question (answer) answer`. Where the model has a
    lexical prior, as the packaged one has, how rare a word is comes from the documents of the call: give all of them.
    """

    def __init__(self, model: str | Path | None = None) -> None:
        self._scorer = load_scorer(model or packaged_model(), ())

    def predict(self, sentences: Sequence[Pair] | Pair) -> NDArray[np.float32] | np.float32:
        """The score of every pair, or of the one pair that is given."""
        alone = len(sentences) == 2 and isinstance(sentences[0], str)
        pairs = cast("Sequence[Pair]", [sentences] if alone else sentences)
        scores = self._scores([(query, document) for query, document in pairs])
        return cast("np.float32", scores[0]) if alone else scores

    def rank(
        self, query: str, documents: Sequence[str], top_k: int | None = None, return_documents: bool = False
    ) -> list[dict[str, Any]]:
        """The documents, best first: each by its place in `documents`, with its score and, if wanted, its text."""
        scores = self._scores([(query, document) for document in documents])
        order = np.argsort(-scores, kind="stable")[:top_k].tolist()
        return [
            {"corpus_id": place, "score": float(scores[place])}
            | ({"text": documents[place]} if return_documents else {})
            for place in order
        ]

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Pairs of one query are scored together: it is read once."""
        scorer = self._scorer.for_facts([document for _, document in pairs])
        places: dict[str, list[int]] = {}
        for place, (query, _) in enumerate(pairs):
            places.setdefault(query, []).append(place)
        scores = np.empty(len(pairs), dtype=np.float32)
        for query, rows in places.items():
            scores[rows] = scorer.score(Prefix(query), np.array(rows, dtype=np.int64))
        return scores
