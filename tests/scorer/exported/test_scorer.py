"""Exported models against the torch model that they come from."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import current_thread

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arcf.pretrained.architectures import ARCHITECTURES
from arcf.scorer import STOP, Prefix, ScorerSettings
from arcf.scorer.export import write_export
from arcf.scorer.exported import scorer as onnx_module
from arcf.scorer.exported.scorer import OnnxScorer, load_scorer
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.network.scorer import TorchScorer, make_model

Pair = tuple[TorchScorer, OnnxScorer]

WORDS = ("ice", "melting", "is a kind of", "heat", "water", "energy", "unheard-of")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
ALL = np.array([4, STOP, 0, 6, 2, 4, 1, 3, 5])


SHARED = ScorerSettings("shared_prefix", similarity=3.0)
LATE = [ScorerSettings("late", similarity=3.0, read_ahead=layers) for layers in (0, 1, 2)]


@pytest.fixture(scope="module", params=[SHARED, *LATE], ids=lambda case: f"{case.encoding}-{case.read_ahead}")
def case(request: pytest.FixtureRequest) -> ScorerSettings:
    return request.param


def both(backbone: Backbone, folder: Path, facts: tuple[str, ...], precision: str = "fp32") -> Pair:
    write_export(backbone, folder, precision, source="tiny")
    model = make_model(backbone, backbone.settings.encoding or "shared_prefix").eval()
    return TorchScorer(model, backbone.tokenizer.facts(facts)), load_scorer(folder, facts, threads=1)


@pytest.fixture(scope="module")
def pair(
    backbone: Backbone, case: ScorerSettings, tmp_path_factory: pytest.TempPathFactory, facts: tuple[str, ...]
) -> Pair:
    return both(backbone.with_settings(case), tmp_path_factory.mktemp("exported"), facts)


@pytest.fixture
def bert(tiny: Callable[..., Backbone], case: ScorerSettings, tmp_path: Path, facts: tuple[str, ...]) -> OnnxScorer:
    return both(tiny("bert").with_settings(case), tmp_path, facts)[1]


@pytest.mark.filterwarnings("ignore:.*longer than the model can read:arcf.ArcfWarning")
@given(query=TEXTS, chosen=st.lists(st.integers(0, 6), max_size=4), ids=st.lists(st.integers(-1, 6), max_size=9))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_scores_are_those_of_torch(pair: Pair, query: str, chosen: list[int], ids: list[int]) -> None:
    prefix, candidates = Prefix(query, tuple(chosen)), np.array(ids, dtype=np.int64)
    expected, scores = (scorer.score(prefix, candidates) for scorer in pair)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=5e-4 if pair[0].kept else 1e-4)


@pytest.mark.filterwarnings("ignore:.*longer than the model can read:arcf.ArcfWarning")
@pytest.mark.parametrize("family", ARCHITECTURES)
def test_inputs_as_long_as_the_model_allows(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...], family: str, case: ScorerSettings
) -> None:
    backbone = tiny(family, positions=32).with_settings(case)
    torch_scorer, scorer = both(backbone, tmp_path, (*facts, "heat " * 50))
    prefix = Prefix("ice " * 60, (0, 1, 2))
    np.testing.assert_allclose(scorer.score(prefix, ALL), torch_scorer.score(prefix, ALL), atol=5e-4)
    assert scorer.shortening.total == torch_scorer.shortening.total
    assert scorer.shortening.total.questions_cut == 1


def test_calls_of_any_size_give_the_same(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = pair[1]
    whole = scorer.score(Prefix("ice", (1, 3)), ALL)
    monkeypatch.setattr(onnx_module, "TOKENS_PER_CALL", 10)
    np.testing.assert_allclose(scorer.score(Prefix("ice", (1, 3)), ALL), whole, atol=1e-5)


def test_calls_side_by_side_give_the_same(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]
) -> None:
    write_export(tiny("bert"), tmp_path, "fp32", source="tiny")
    first, second = (load_scorer(tmp_path, facts, threads) for threads in (1, 3))
    prefix = Prefix("ice", (1, 3))
    np.testing.assert_allclose(second.score(prefix, ALL), first.score(prefix, ALL), atol=1e-5)


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("fp16", 0.05), ("int8-weights", 0.15), ("int8", 0.8), ("int8-rows", 0.6)]
)
@pytest.mark.parametrize("case", [SHARED, LATE[2]], ids=lambda case: case.encoding)
def test_smaller_files_score_nearly_the_same(
    backbone: Backbone, case: ScorerSettings, tmp_path: Path, facts: tuple[str, ...], precision: str, tolerance: float
) -> None:
    case = replace(case, similarity=0.0)
    torch_scorer, scorer = both(backbone.with_settings(case), tmp_path, facts, precision)
    expected, scores = (one.score(Prefix("heat turns ice to water", (1,)), ALL) for one in (torch_scorer, scorer))
    # What all candidates have in common does not matter, and a random model's scores are close together.
    difference = (scores - scores.mean()) - (expected - expected.mean())
    assert np.abs(difference).max() < tolerance * float(expected.std())


def test_a_fact_is_read_when_it_is_first_scored_and_never_again(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = both(tiny("bert").with_settings(LATE[1]), tmp_path, facts)[1]
    assert scorer.kept is not None
    asked, read = [], scorer.kept.reader.read
    reader = replace(scorer.kept.reader, read=lambda ids: asked.extend(ids.tolist()) or read(ids))
    monkeypatch.setattr(scorer.kept, "reader", reader)
    scorer.score(Prefix("ice", (1,)), np.array([4, STOP, 0]))
    scorer.score(Prefix("heat", (2,)), ALL)
    scorer.score(Prefix("ice", (1,)), ALL)
    assert sorted(asked) == [-1, 0, 1, 2, 3, 4, 5, 6]


def test_a_prefix_is_read_once(bert: OnnxScorer, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    tokenizer = bert._model.tokenizer
    encode = tokenizer.prefix
    monkeypatch.setattr(tokenizer, "prefix", lambda *given: encoded.append(given[0]) or encode(*given))
    first = bert.score(Prefix("ice", (1,)), ALL)
    np.testing.assert_array_equal(bert.score(Prefix("ice", (1,)), ALL), first)
    bert.score(Prefix("ice", (2,)), ALL)
    np.testing.assert_array_equal(bert.score(Prefix("ice", (1,)), ALL), first)
    assert encoded == ["ice", "ice", "ice"]


@pytest.mark.parametrize("precision", ["fp32", "int8", "int8-rows"])
def test_what_is_read_of_a_fact_depends_on_no_other(
    tiny: Callable[..., Backbone], precision: str, tmp_path: Path, facts: tuple[str, ...]
) -> None:
    kept = both(tiny("bert").with_settings(LATE[2]), tmp_path, facts, precision)[1].kept
    assert kept is not None
    alone = np.concatenate([kept.reader.read(np.array([fact])) for fact in range(len(facts))])
    np.testing.assert_array_equal(kept.reader.read(np.arange(len(facts))), alone)


def test_threads_get_what_one_alone_gets(bert: OnnxScorer) -> None:
    prefixes = [Prefix(word, (fact,)) for word in WORDS for fact in range(3)] * 3
    alone = [bert.score(prefix, ALL) for prefix in prefixes]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda prefix: bert.score(prefix, ALL), prefixes))
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_torch_is_not_imported(tiny: Callable[..., Backbone], tmp_path: Path) -> None:
    write_export(tiny("bert"), tmp_path / "model", "int8", source="tiny")
    program = f"""
import sys
for name in ("torch", "transformers", "onnx", "safetensors"):
    sys.modules[name] = None
import arcf
settings = arcf.ChainSettings(min_facts=2)
explainer = arcf.load({str(tmp_path / "model")!r}, ["ice is solid", "heat melts ice"], settings)
print(len(explainer.explain("What is ice?", "solid").facts))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "2", done.stderr


def test_a_forked_process_begins_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the process that it was forked from are not in it: it would wait for them for ever."""
    pool = onnx_module.Pool(2)
    before = set(pool.map(lambda _: current_thread(), range(9)))
    monkeypatch.setattr(onnx_module.os, "getpid", lambda: -1)
    after = set(pool.map(lambda _: current_thread(), range(9)))
    assert len(before) in (1, 2)
    assert not before & after
