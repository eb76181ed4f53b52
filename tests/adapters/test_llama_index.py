"""With the real library."""

import pytest

pytest.importorskip("llama_index.core", reason="pip install 'arcf[llama-index]'")

from arcf.adapters.llama_index import ChainRetriever
from arcf.explainer import Explainer


def test_nodes_of_the_chain(explainer: Explainer, question: str) -> None:
    found = ChainRetriever(explainer).retrieve(f"{question} (answer) melting")
    assert [node.node.node_id for node in found] == ["f1", "f2", "f3"]
    assert [node.score for node in found] == sorted((node.score for node in found), reverse=True)
    assert found[1].node.get_content() == "melting means changing from a solid to a liquid"
    assert found[1].node.metadata["place"] == 2


def test_without_an_answer(explainer: Explainer, question: str) -> None:
    assert len(ChainRetriever(explainer, top_k=4).retrieve(question)) == 4
