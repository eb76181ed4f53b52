"""A Haystack component.

pipeline.add_component("explain", ChainRetriever(facts="facts.jsonl"))
pipeline.run({"explain": {"query": "Which process turned the ice cube to water?", "answer": "melting"}})

Haystack reads a pipeline from a file only with classes that it is told to trust:
Pipeline.load(file, allowed_modules=["arcf.adapters.haystack"]).
"""

from arcf.adapters.retrieval import retrieve
from arcf.errors import MissingExtraError
from arcf.explainer import Explainer, load

try:
    from haystack import Document, component  # type: ignore[import-not-found, unused-ignore]
except ModuleNotFoundError as error:
    raise MissingExtraError("The Haystack component", "haystack") from error


@component  # type: ignore[untyped-decorator, unused-ignore]
class ChainRetriever:
    """Retrieves the chain of facts that explains a query; with `top_k`, that many facts.

    Model and facts are given by name or path, as to `arcf.load`, so that a pipeline can be written to a file; they are
    loaded once, when first needed. A document's meta holds the fact's `uid`, its `place` in the chain (0: not in it),
    and the `words` that it was seen by.
    """

    def __init__(self, model: str | None = None, facts: str | None = None, top_k: int | None = None) -> None:
        self.model = model
        self.facts = facts
        self.top_k = top_k
        self._explainer: Explainer | None = None

    def warm_up(self) -> None:
        """Load model and facts, if they are not loaded."""
        if self._explainer is None:
            self._explainer = load(self.model, self.facts)

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator, unused-ignore]
    def run(self, query: str, answer: str = "", top_k: int | None = None) -> dict[str, list[Document]]:
        """The documents of a query; an answer that is known makes better chains."""
        self.warm_up()
        assert self._explainer is not None
        found = retrieve(self._explainer, query, answer, self.top_k if top_k is None else top_k)
        documents = [Document(id=fact.uid, content=fact.text, meta=fact.metadata, score=fact.score) for fact in found]
        return {"documents": documents}
