"""A small corpus with a scorer made up for the tests."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.explainer import Explainer, load
from arcf.scorer import STOP, Prefix, ScorerSettings

QUESTION = "What turns ice to water?"
FACTS = {
    "f1": "ice is a kind of solid",
    "f2": "melting means changing from a solid to a liquid",
    "f3": "water is a kind of liquid",
    "f4": "moss grows on stones",
}


class InOrder:
    """Prefers facts in the order of the corpus; stopping is best after three."""

    settings = ScorerSettings()

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        stop = 100.0 if len(prefix.facts) >= 3 else -100.0
        return np.where(candidates == STOP, stop, -candidates).astype(np.float32)


@pytest.fixture
def facts_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda *_: InOrder())
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps({"uid": uid, "text": text}) + "\n" for uid, text in FACTS.items()))
    return path


@pytest.fixture
def explainer(facts_file: Path) -> Explainer:
    return load("any", facts_file)


@pytest.fixture
def question() -> str:
    return QUESTION
