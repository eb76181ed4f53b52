"""A LlamaIndex retriever.

retriever = ChainRetriever(arcf.load(facts="facts.jsonl"))
nodes = retriever.retrieve("Which process turned the ice cube to water? (answer) melting")
"""

from arcf.adapters.retrieval import retrieve
from arcf.errors import MissingExtraError
from arcf.explainer import Explainer
from arcf.types import ANSWER_MARK

try:
    from llama_index.core.retrievers import BaseRetriever  # type: ignore[import-not-found, unused-ignore]
    from llama_index.core.schema import (  # type: ignore[import-not-found, unused-ignore]
        NodeWithScore,
        QueryBundle,
        TextNode,
    )
except ModuleNotFoundError as error:
    raise MissingExtraError("The LlamaIndex retriever", "llama-index") from error


class ChainRetriever(BaseRetriever):  # type: ignore[misc, unused-ignore]
    """Retrieves the chain of facts that explains a query; with `top_k`, that many facts.

    A node's metadata holds the fact's `uid`, its `place` in the chain (0: not in it), and the `words` it was seen by.
    """

    def __init__(self, explainer: Explainer, top_k: int | None = None) -> None:
        super().__init__()
        self.explainer = explainer
        self.top_k = top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question, _, answer = query_bundle.query_str.partition(ANSWER_MARK)
        return [
            NodeWithScore(node=TextNode(id_=fact.uid, text=fact.text, metadata=fact.metadata), score=fact.score)
            for fact in retrieve(self.explainer, question, answer, self.top_k)
        ]
