"""With the real library."""

import asyncio

import pytest

pytest.importorskip("langchain_core", reason="pip install 'arcf[langchain]'")

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from arcf.adapters.langchain import ChainRetriever
from arcf.explainer import Explainer


def test_documents_of_the_chain(explainer: Explainer, question: str) -> None:
    found = ChainRetriever(explainer=explainer).invoke(question, answer="melting")
    assert all(isinstance(document, Document) for document in found)
    assert [document.id for document in found] == ["f1", "f2", "f3"]
    assert found[1].page_content == "melting means changing from a solid to a liquid"
    assert found[1].metadata["place"] == 2
    assert found[0].metadata["score"] > found[1].metadata["score"] > found[2].metadata["score"]


def test_without_an_answer_in_a_pipeline_and_in_a_batch(explainer: Explainer, question: str) -> None:
    retriever = ChainRetriever(explainer=explainer, top_k=2)
    pipeline = retriever | RunnableLambda(lambda documents: [document.id for document in documents])
    assert pipeline.batch([question, question]) == [["f1", "f2"], ["f1", "f2"]]
    assert asyncio.run(pipeline.ainvoke(question)) == ["f1", "f2"]


def test_an_answer_may_be_given_without_waiting(explainer: Explainer, question: str) -> None:
    retriever = ChainRetriever(explainer=explainer)
    found = asyncio.run(retriever.ainvoke(question, answer="melting"))
    assert found == retriever.invoke(question, answer="melting")
    assert found != retriever.invoke(question)
