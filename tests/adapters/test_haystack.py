"""With the real library."""

from pathlib import Path

import pytest

pytest.importorskip("haystack", reason="pip install 'arcf[haystack]'")

from haystack import Pipeline

from arcf.adapters.haystack import ChainRetriever


def test_in_a_pipeline_that_was_written_and_read(facts_file: Path, question: str) -> None:
    pipeline = Pipeline()
    pipeline.add_component("explain", ChainRetriever(model="any", facts=str(facts_file)))
    pipeline = Pipeline.loads(pipeline.dumps(), allowed_modules=["arcf.adapters.haystack"])
    found = pipeline.run({"explain": {"query": question, "answer": "melting"}})["explain"]["documents"]
    assert [document.id for document in found] == ["f1", "f2", "f3"]
    assert [document.score for document in found] == sorted((document.score for document in found), reverse=True)
    assert found[1].content == "melting means changing from a solid to a liquid"
    assert found[1].meta["place"] == 2


def test_a_run_may_want_more(facts_file: Path, question: str) -> None:
    retriever = ChainRetriever(model="any", facts=str(facts_file), top_k=1)
    assert len(retriever.run(question)["documents"]) == 1
    assert len(retriever.run(question, top_k=4)["documents"]) == 4
