"""Texts to vectors: tokens, batches of even length, pooling. The same for every backend."""

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
from tokenizers import Encoding

from arcf.pretrained.location import TOKENIZER
from arcf.pretrained.tokenizer import read_tokenizer
from arcf.sentences.base import Backend, TokenIds, Vectors
from arcf.sentences.folder import SentenceFolder

#: Tokens of one forward pass, padding included: few enough to stay near the cache, enough to keep two cores busy.
BATCH_TOKENS = 4_096


class SentenceEncoder:
    """A sentence encoder: mean (or first-token) pooling over the last hidden states, at length 1.

    v(text) = u / |u| with u = 1/T sum_t h_t over all T tokens of the text, the special ones included, as
    sentence-transformers does it. Texts longer than the model's maximum are cut at the end.
    """

    def __init__(self, folder: SentenceFolder, backend: Backend) -> None:
        self.folder = folder
        self._backend = backend
        self._tokenizer = read_tokenizer(folder.path / TOKENIZER)
        self._tokenizer.enable_truncation(folder.max_tokens)
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        self._unknown = self._tokenizer.token_to_id(unknown) if unknown else None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text; zeros for a text whose tokens are all unknown, or that has none.

        Equal token sequences are encoded once: the same text in another batch would differ by round-off.
        """
        rows: dict[tuple[int, ...], int] = {}
        owner = [rows.setdefault(self._known_ids(encoding), len(rows)) for encoding in self._tokenize(texts)]
        sequences = list(rows)
        pooled: Vectors | None = None
        for batch in _batches([len(sequence) for sequence in sequences]):
            vectors = self._pool([sequences[row] for row in batch])
            if pooled is None:
                pooled = np.zeros((len(sequences), vectors.shape[1]), dtype=np.float32)
            pooled[batch] = vectors
        if pooled is None:
            return np.zeros((len(texts), self._dimension()), dtype=np.float32)
        return pooled[owner]

    def keys(self, texts: Sequence[str]) -> list[bytes]:
        """A hash of the tokens of every text; empty for one whose tokens are all unknown, or that has none."""
        known = map(self._known_ids, self._tokenize(texts))
        return [blake2b(array("q", ids), digest_size=16).digest() if ids else b"" for ids in known]

    def _tokenize(self, texts: Sequence[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch([text.lower() for text in texts] if self.folder.lower_case else list(texts))

    def _known_ids(self, encoding: Encoding) -> tuple[int, ...]:
        """The token ids; none if all are special or unknown, because any vector would then be arbitrary."""
        special = zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        known = any(not mark and token != self._unknown for token, mark in special)
        return tuple(encoding.ids) if known else ()

    def _pool(self, sequences: Sequence[tuple[int, ...]]) -> Vectors:
        """The unit vectors of one batch of token sequences, (texts, dimension)."""
        width = max(map(len, sequences))
        ids: TokenIds = np.full((len(sequences), width), self.folder.pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1
        states = self._backend.states(ids, mask)  # (texts, tokens, dimension)
        if self.folder.pooling == "cls":
            pooled = states[:, 0]
        else:
            weights = mask.astype(np.float32) / mask.sum(axis=1, keepdims=True, dtype=np.float32)
            pooled = np.einsum("bt,btd->bd", weights, states)
        length = np.linalg.norm(pooled, axis=1, keepdims=True)
        unit: Vectors = (pooled / np.maximum(length, np.finfo(np.float32).tiny)).astype(np.float32, copy=False)
        return unit

    def _dimension(self) -> int:
        """The length of a vector, from a forward pass of one padding token: no folder says it reliably."""
        return int(self._backend.states(np.full((1, 1), self.folder.pad), np.ones((1, 1), dtype=np.int64)).shape[2])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions in batches of similar length, longest first; sequences of length 0 are in none."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: (-lengths[position], position)):
        if not lengths[position]:
            break
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
