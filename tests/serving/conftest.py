"""An explainer of the packaged corpus with a stand-in for the model, and clients of its application."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sparse
from fastapi.testclient import TestClient
from numpy.typing import NDArray

from arcf.data import load
from arcf.explainer import Explainer
from arcf.neighborhood import Neighborhood, recipe
from arcf.neighborhood.text import Analyzer
from arcf.rankers import Autoregressive
from arcf.scorer.base import STOP, Prefix
from arcf.serving import ServingSettings, create_app
from arcf.serving.server import address, listen, server_config
from arcf.types import Dataset, Fact

Client = Callable[..., TestClient]


class StandIn:
    """Likes facts near the question and the chain that say something new; stopping gets better with every fact."""

    def __init__(self, facts: Sequence[str]) -> None:
        self._analyzer = Analyzer()
        self._terms: dict[str, int] = {}
        rows = [self._row(text, grow=True) for text in facts]
        places = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        columns = np.array([term for row in rows for term in row], dtype=np.int64)
        counts = sparse.csr_array(
            (np.ones(len(columns)), (places, columns)), shape=(len(rows), max(len(self._terms), 1))
        )
        self._idf = np.log(1 + len(rows) / (1 + np.bincount(columns, minlength=counts.shape[1])))
        weighted = counts @ sparse.diags_array(self._idf)
        norms = np.sqrt(weighted.power(2).sum(axis=1)) + 1e-9
        self._facts = (sparse.diags_array(1 / norms) @ weighted).tocsr()

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        query = np.zeros(self._facts.shape[1])
        query[self._row(prefix.query)] = 1.0
        query *= self._idf
        query /= np.linalg.norm(query) + 1e-9
        chosen = self._facts[list(prefix.facts)].toarray()
        near = self._facts @ (query + 0.9 * chosen.sum(axis=0) / (1 + len(chosen)))
        stale = (self._facts @ chosen.T).max(axis=1) if len(chosen) else np.zeros(self._facts.shape[0])
        scores = 9 * near - 4 * stale - 1
        return np.where(candidates == STOP, 0.32 * len(chosen), scores[candidates]).astype(np.float32)

    def _row(self, text: str, grow: bool = False) -> list[int]:
        terms = self._analyzer.terms(text)
        if grow:
            return [self._terms.setdefault(term, len(self._terms)) for term in terms]
        return [self._terms[term] for term in terms if term in self._terms]


def explain_with_stand_in(dataset: Dataset) -> Explainer:
    neighborhood = Neighborhood(dataset.facts, recipe("tfidf").build(dataset.facts, ()))
    return Explainer(dataset, Autoregressive(StandIn([fact.text for fact in dataset.facts]), neighborhood))


@pytest.fixture(scope="session")
def explainer() -> Explainer:
    return explain_with_stand_in(load("science"))


@pytest.fixture(scope="session")
def corpus_of() -> Callable[[Sequence[str]], Explainer]:
    """An explainer of facts of one's own; their uids are f0, f1, ..."""

    def build(texts: Sequence[str]) -> Explainer:
        facts = tuple(Fact(f"f{place}", text) for place, text in enumerate(texts))
        return explain_with_stand_in(Dataset("own", facts))

    return build


@pytest.fixture(scope="session")
def client_of() -> Client:
    """A client of an application made for it."""

    def build(explainer: Explainer, **settings: object) -> TestClient:
        app = create_app(explainer, ServingSettings(**settings))  # type: ignore[arg-type]
        return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)

    return build


@pytest.fixture(scope="session")
def client(explainer: Explainer, client_of: Client) -> TestClient:
    return client_of(explainer, model="stand-in")


@contextmanager
def _running(explainer: Explainer, settings: ServingSettings) -> Iterator[str]:
    import uvicorn

    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(server_config(create_app(explainer, settings), settings))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield address(listener)
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()


@pytest.fixture(scope="session")
def running() -> Callable[[Explainer, ServingSettings], object]:
    """A real server on a free port of this machine, as a context manager that gives its address."""
    return _running
