import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import InputError
from arcf.scorer.base import STOP
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.joint import pair
from arcf.scorer.tokens import Batch, ChainTokenizer, EncodedPrefix, Shortening


def reference(backbone: Backbone) -> transformers.PreTrainedTokenizerFast:
    raw = backbone.tokenizer.raw
    tokenizer = type(raw).from_str(raw.to_str())
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def prefix_text(query: str, facts: list[str]) -> str:
    """The prefix as the paper writes it; the mark is absent while no fact is chosen."""
    texts = [f"{part.strip().rstrip('.')}. " for part in (query, *facts)]
    return texts[0] + ("(explanation) " + "".join(texts[1:]) if facts else "")


@pytest.mark.parametrize("chosen", [(), (0,), (3, 2, 6)])
def test_prefix_is_the_whole_text_tokenised(
    backbone: Backbone, facts: tuple[str, ...], queries: tuple[str, ...], chosen: tuple[int, ...]
) -> None:
    tokens = backbone.tokenizer.facts(facts)
    for query in queries:
        text = prefix_text(query, [facts[fact] for fact in chosen]).rstrip()
        encoded = backbone.tokenizer.prefix(query, chosen, tokens)
        assert encoded.tokens.tolist() == reference(backbone)(text)["input_ids"]
        assert not encoded.shortening


def test_joint_pairs_are_those_of_transformers(
    backbone: Backbone, facts: tuple[str, ...], queries: tuple[str, ...]
) -> None:
    tokenizer = backbone.tokenizer
    tokens = tokenizer.facts(facts)
    batch = Batch.of([tokenizer.prefix(queries[0], (1,), tokens)], [np.array([STOP, *range(len(facts))])], tokens)
    pairs = pair(batch.prefixes, batch.candidates, batch.counts, tokenizer.form)
    text = prefix_text(queries[0], [facts[1]]).rstrip()
    assert pairs.rows[0].tolist() == reference(backbone)(text)["input_ids"]
    for number, fact in enumerate(facts):
        assert pairs.rows[number + 1].tolist() == reference(backbone)(text, fact)["input_ids"]


def test_candidates_stand_between_marks_and_stop_is_the_last_row(backbone: Backbone, facts: tuple[str, ...]) -> None:
    tokens = backbone.tokenizer.facts(facts)
    form = backbone.tokenizer.form
    assert tokens.candidates[STOP].tolist() == [form.start, form.end]
    for number, fact in enumerate(facts):
        assert tokens.candidates[number].tolist() == reference(backbone)(fact)["input_ids"]


def test_a_spelled_out_mark_is_text(backbone: Backbone) -> None:
    form = backbone.tokenizer.form
    mark = "</s>" if form.double_end else "[SEP]"
    tokens = backbone.tokenizer.facts([f"a {mark} b"]).candidates[0].tolist()
    assert tokens.count(form.end) == 1


class TestOverLong:
    """32 positions; the longest fact may take half of them."""

    @pytest.fixture
    def tokenizer(self, tiny: Callable[..., Backbone]) -> ChainTokenizer:
        return tiny("bert", positions=32).tokenizer

    def test_oldest_facts_go_first(self, tokenizer: ChainTokenizer, facts: tuple[str, ...]) -> None:
        short = [facts[fact] for fact in (4, 5, 0)]
        tokens = tokenizer.facts(short)
        whole = tokenizer.prefix("heat", (0, 1, 2), tokens)
        assert not whole.shortening
        encoded = tokenizer.prefix("heat", (2, 2, 2, 1, 0), tokens)
        kept = encoded.tokens.tolist()
        assert encoded.shortening.facts_dropped >= 1
        assert encoded.shortening.questions_cut == 0
        newest = tokenizer.prefix("heat", (2, 2, 2, 1, 0)[encoded.shortening.facts_dropped :], tokens)
        assert kept == newest.tokens.tolist()
        assert len(kept) <= tokens.prefix_limit

    def test_then_the_questions_beginning(self, tokenizer: ChainTokenizer, facts: tuple[str, ...]) -> None:
        tokens = tokenizer.facts(facts[:2])
        encoded = tokenizer.prefix("melting " * 40 + "ice", (0, 1), tokens)
        assert encoded.shortening == Shortening(facts_dropped=2, questions_cut=1)
        assert len(encoded.tokens) == tokens.prefix_limit
        end = tokenizer.prefix("melting ice", (), tokens).tokens.tolist()
        assert encoded.tokens.tolist()[-len(end) + 1 :] == end[1:]

    def test_candidates_lose_their_end(self, tokenizer: ChainTokenizer) -> None:
        tokens = tokenizer.facts(["ice", "melting " * 50])
        assert tokens.shortening == Shortening(candidates_cut=1)
        assert tokens.candidates.lengths.tolist()[1] == tokenizer.form.max_tokens // 2
        assert tokens.candidates[1][-1] == tokenizer.form.end


@pytest.fixture(scope="module")
def small(tiny: Callable[..., Backbone]) -> ChainTokenizer:
    return tiny("roberta", positions=64).tokenizer


@given(st.integers(0, 60), st.lists(st.integers(0, 6), max_size=8))
def test_prefix_and_candidate_always_fit(small: ChainTokenizer, words: int, chosen: list[int]) -> None:
    tokens = small.facts(["melting " * count for count in range(1, 8)])
    encoded = small.prefix("heat " * words, chosen, tokens)
    assert len(encoded.tokens) + tokens.candidates.lengths.max() <= small.form.max_tokens
    assert encoded.shortening.facts_dropped <= len(chosen)


def test_shortenings_add_up() -> None:
    assert Shortening(1, 2, 3) + Shortening(1, 1, 1) == Shortening(2, 3, 4)
    assert not Shortening()


def test_batch_counts_each_prefix_once(backbone: Backbone, facts: tuple[str, ...]) -> None:
    tokens = backbone.tokenizer.facts(facts)
    prefixes = [EncodedPrefix(np.array([2, 5, 3], dtype=np.int32))] * 2
    batch = Batch.of(prefixes, [np.array([STOP, STOP]), np.array([STOP])], tokens)
    assert batch.counts.tolist() == [2, 1]
    assert batch.tokens == 2 * 3 + 3 * 2


class TestLoad:
    def save(self, folder: Path, backbone: Backbone, **changes: object) -> Path:
        config = backbone.model.config.to_dict() | changes
        (folder / "config.json").write_text(json.dumps(config))
        backbone.tokenizer.raw.save(str(folder / "tokenizer.json"))
        return folder

    def test_needs_no_model(self, tmp_path: Path, backbone: Backbone) -> None:
        assert ChainTokenizer.load(self.save(tmp_path, backbone)).form == backbone.tokenizer.form

    def test_other_architecture(self, tmp_path: Path, backbone: Backbone) -> None:
        with pytest.raises(InputError, match="'gpt2', which arcf cannot run; choose a model of one of: bert"):
            ChainTokenizer.load(self.save(tmp_path, backbone, model_type="gpt2"))

    def test_broken_files(self, tmp_path: Path, backbone: Backbone) -> None:
        folder = self.save(tmp_path, backbone)
        (folder / "config.json").write_text("{")
        with pytest.raises(InputError, match=r"config\.json:1: is not JSON"):
            ChainTokenizer.load(folder)
        (folder / "config.json").write_text("[]")
        with pytest.raises(InputError, match="is not a JSON object"):
            ChainTokenizer.load(folder)
        (folder / "tokenizer.json").write_text("{}")
        with pytest.raises(InputError, match="is not a tokenizer"):
            ChainTokenizer.load(folder)

    def test_unknown_length(self, tmp_path: Path, backbone: Backbone) -> None:
        folder = self.save(tmp_path, backbone)
        config = json.loads((folder / "config.json").read_text())
        del config["max_position_embeddings"]
        (folder / "config.json").write_text(json.dumps(config))
        with pytest.raises(InputError, match="no max_position_embeddings"):
            ChainTokenizer.load(folder)
