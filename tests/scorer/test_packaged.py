"""The model that comes with arcf: whole, small, good, fast, and torch is not needed."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import arcf
from arcf.evaluation.measures import average_precision
from arcf.scorer import Prefix, packaged_model
from arcf.scorer.exported.folder import read_manifest
from arcf.scorer.exported.scorer import OnnxScorer
from arcf.scorer.prior import WithPrior

QUESTION = "Which process turned the ice cube to water?"

# A real directory in which importing torch fails, for a process that must do without it.
NO_TORCH = "raise ModuleNotFoundError('torch is not installed here')"


@pytest.fixture(scope="module")
def explainer() -> arcf.Explainer:
    return arcf.load()


def test_its_files_are_whole_and_small() -> None:
    folder = packaged_model()
    read_manifest(folder).check(folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 50_000_000
    training = json.loads((folder / "training.json").read_text())
    assert {data["name"] for data in training["data"]} == {"worldtree-2020", "strategyqa", "science"}
    assert "CC BY-SA 4.0" in (folder / "README.md").read_text(encoding="utf-8")


def test_it_runs_in_onnx_runtime(explainer: arcf.Explainer) -> None:
    scorer = explainer.ranker.search.scorer
    assert isinstance(scorer, WithPrior)
    assert isinstance(scorer.scorer, OnnxScorer)


def test_its_chains_are_good(explainer: arcf.Explainer) -> None:
    """MAP on packaged questions that it has never seen, well above what words alone reach (bm25: 0.66)."""
    dataset = explainer.dataset
    precisions = []
    for question in dataset.split("dev"):
        gold = dataset.gold_ids(question)
        ranks = np.flatnonzero(np.isin(explainer.ranker.rank(question).facts, gold)) + 1
        precisions.append(average_precision(ranks.tolist(), len(gold)))
    assert fmean(precisions) > 0.71


def test_scores_hardly_depend_on_the_company(explainer: arcf.Explainer) -> None:
    """Integers are rounded on one scale a call: what else is in it may change a score, but by little."""
    scorer, prefix = explainer.ranker.search.scorer, Prefix(QUESTION, (0,))
    some, more = np.arange(20), np.arange(60)
    alone, among = scorer.score(prefix, some), scorer.score(prefix, more)[:20]
    assert np.abs(alone - among).max() < 0.2 * np.ptp(alone)
    assert np.corrcoef(alone, among)[0, 1] > 0.99


def test_the_same_question_gets_the_same_chain(explainer: arcf.Explainer) -> None:
    first, second = (explainer.explain(QUESTION, "melting") for _ in range(2))
    assert first.to_dict()["facts"] == second.to_dict()["facts"]
    assert "melting" in " ".join(fact.text for fact in first.facts)


@pytest.mark.parametrize("facts", [["melting turns ice into water"], ["ice melts"] * 3, ["冰融化成水", "été ☀️"], ["x"]])
def test_small_and_odd_corpora(facts: list[str]) -> None:
    explanation = arcf.load(facts=facts).explain(QUESTION, "melting")
    assert len(explanation.facts) <= len(set(facts))


def test_a_question_of_five_thousand_words(explainer: arcf.Explainer) -> None:
    with pytest.warns(arcf.ArcfWarning, match="longer than the model can read"):
        assert explainer.explain("why does the ice cube melt " * 833, "heat").facts


def test_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(NO_TORCH)
    arguments = ["explain", QUESTION, "--answer", "melting", "--json"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "arcf", *arguments], capture_output=True, text=True, check=True, env=environment
    )
    assert json.loads(done.stdout)["facts"]


def test_the_server_has_it_by_default() -> None:
    command = [sys.executable, "-m", "arcf", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = re.search(r"http://\S+?(?=/?\s)", server.stdout.readline())
            assert address is not None
            body = json.dumps({"question": QUESTION, "answer": "melting"}).encode()
            request = urllib.request.Request(
                f"{address[0]}/api/explain", body, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=60) as response:
                assert json.load(response)["facts"]
        finally:
            server.terminate()
