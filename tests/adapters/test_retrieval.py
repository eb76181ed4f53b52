import subprocess
import sys

import pytest

from arcf.adapters.retrieval import retrieve
from arcf.explainer import Explainer


def test_the_chain(explainer: Explainer, question: str) -> None:
    found = retrieve(explainer, question, "melting")
    assert [(fact.uid, fact.place) for fact in found] == [("f1", 1), ("f2", 2), ("f3", 3)]
    assert found[0].text == "ice is a kind of solid"
    assert found[0].metadata == {"uid": "f1", "place": 1, "words": ["ice"]}


@pytest.mark.parametrize("top", [0, 2, 3, 4, 10])
def test_as_many_as_wanted(explainer: Explainer, question: str, top: int) -> None:
    found = retrieve(explainer, question, "melting", top)
    assert [fact.uid for fact in found] == ["f1", "f2", "f3", "f4"][:top]
    assert [fact.place for fact in found] == [1, 2, 3, 0][:top]
    scores = [fact.score for fact in found]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)  # so whoever sorts by them keeps the order


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("llama_index", "llama_index", "llama-index"),
        ("haystack", "haystack", "haystack"),
    ],
)
def test_a_missing_library_is_named(module: str, library: str, extra: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import arcf.adapters.{module}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"pip install 'arcf[{extra}]'" in done.stderr
