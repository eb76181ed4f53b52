"""A LangChain retriever.

retriever = ChainRetriever(explainer=arcf.load(facts="facts.jsonl"))
documents = retriever.invoke("Which process turned the ice cube to water?", answer="melting")
"""

from arcf.adapters.retrieval import retrieve
from arcf.errors import MissingExtraError
from arcf.explainer import Explainer

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
except ModuleNotFoundError as error:
    raise MissingExtraError("The LangChain retriever", "langchain") from error


class ChainRetriever(BaseRetriever):
    """Retrieves the chain of facts that explains a query; with `top_k`, that many facts.

    Where the answer is known, `invoke(query, answer=...)` finds better chains. A document's metadata holds the fact's
    `uid`, its `place` in the chain (0: not in it), its `score`, and the `words` that it was seen by.
    """

    explainer: Explainer
    top_k: int | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, answer: str = ""
    ) -> list[Document]:
        del run_manager
        return [
            Document(id=fact.uid, page_content=fact.text, metadata=fact.metadata | {"score": fact.score})
            for fact in retrieve(self.explainer, query, answer, self.top_k)
        ]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, answer: str = ""
    ) -> list[Document]:
        """The same in a thread; LangChain's own would know of no answer."""
        sync = run_manager.get_sync()
        return await run_in_executor(None, self._get_relevant_documents, query, run_manager=sync, answer=answer)
