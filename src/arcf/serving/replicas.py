"""Searches on replicas of the model, kept by Ray Serve; the one application in front of them stays as it is.

The front takes the requests, with its limits, its queue and its answers; a replica only searches. If one dies in the
middle, the search is begun again on another, and the steps that were told already are not told twice: the same question
has the same steps. Meanwhile Ray Serve starts a new replica.
"""

import logging.config
import os
import warnings
from collections.abc import AsyncIterator, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Event, Timer
from time import perf_counter
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from numpy.typing import NDArray

from arcf.chain import ChainSettings, SearchResult
from arcf.cluster import HERE, connected
from arcf.cluster.connection import import_ray
from arcf.errors import ArcfWarning, InputError, SettingError
from arcf.explainer import Explainer, load_explainer
from arcf.explanation import Explanation
from arcf.files import read_json_object
from arcf.neighborhood import make_neighborhood
from arcf.pretrained.location import CONFIG, locate
from arcf.rankers import Autoregressive, RankerSettings
from arcf.rankers.parcel import Parcel
from arcf.scorer import ScorerSettings, packaged_model
from arcf.scorer.base import Prefix
from arcf.scorer.loading import untrained_encoder
from arcf.serving.log import log_config
from arcf.serving.running import advance
from arcf.types import Dataset, Question, Step

TRIES = 4
"""How many replicas may die over one search."""

DEATHS = ("RayActorError", "OutOfMemoryError", "NodeDiedError", "ObjectLostError", "WorkerCrashedError")
"""What Ray calls the end of a replica: of its process, or of the node with what it had answered. Not every Ray has
all of them."""


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """How many replicas there are, on which cluster (see `cluster.connected`), and how many searches each runs.

    A search may take so many `seconds`; Ray itself would wait for ever for a replica that it could be given to.
    Replicas outlive a front that is killed. Under the `name` of its own, it finds them again when it is back.
    """

    count: int
    address: str
    searches: int = 1
    name: str = "arcf"
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.count < 1:
            raise SettingError(f"At least 1 replica is needed, not {self.count}.")


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The end of a search."""

    result: SearchResult
    seconds: float


class Replica:
    """One copy of the model, in a process of its own. It is made from a reference to a `Parcel`."""

    def __init__(self, reference: Any, searches: int) -> None:
        self._threads = CapacityLimiter(searches)
        parcel: Parcel = import_ray().get(reference)
        self._explainer = load_explainer(*parcel.open())

    def pid(self) -> int:
        """The process that it is, to those who watch it."""
        return os.getpid()

    async def steps(
        self, question: Question, settings: ChainSettings, start: tuple[str, ...], excluded: tuple[str, ...]
    ) -> AsyncIterator[Step | Found]:
        """The steps as they are found, then the end. Who asks no longer ends it after the step that it is in."""
        steps = self._explainer.with_settings(settings).steps(question, start, excluded)
        try:
            while not isinstance(found := await self._next(steps), Explanation):
                yield found
            yield Found(found.found, found.seconds)
        finally:
            steps.close()

    async def _next(self, steps: Generator[Step, None, Explanation]) -> Step | Explanation:
        return await to_thread.run_sync(advance, steps, limiter=self._threads)


class _Elsewhere:
    """The scorer of the front, which has none."""

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        raise AssertionError(f"{len(candidates)} candidates of '{prefix.query}' are scored on a replica")


class ReplicatedExplainer(Explainer):
    """An explainer whose searches run on replicas, for so many seconds each.

    Here are only the facts, and what is near them.
    """

    def __init__(self, dataset: Dataset, ranker: Autoregressive, handle: Any, seconds: float = 60.0) -> None:
        super().__init__(dataset, ranker)
        self._handle = handle
        self._seconds = seconds

    def with_settings(self, settings: ChainSettings) -> "ReplicatedExplainer":
        """See `Explainer`."""
        if settings == self.settings:
            return self
        return ReplicatedExplainer(self.dataset, self.ranker.with_settings(settings), self._handle, self._seconds)

    def steps(
        self, question: Question, start: Sequence[str] = (), excluded: Collection[str] = ()
    ) -> Generator[Step, None, Explanation]:
        """See `Explainer`.

        Raises:
            InputError: one replica after the other died over it.
            TimeoutError: its time was over.
        """
        errors, told, end = import_ray().exceptions, 0, perf_counter() + self._seconds
        deaths = tuple(getattr(errors, name) for name in DEATHS if hasattr(errors, name))
        for _ in range(TRIES):
            asked = self._handle.steps.remote(question, self.settings, tuple(start), tuple(excluded))
            try:
                with _ending(asked, end - perf_counter()):
                    for place, found in enumerate(asked):
                        if isinstance(found, Found):
                            return Explanation(
                                found.result, self.dataset, self.ranker, found.seconds, self._ids(excluded)
                            )
                        if place == told:
                            told += 1
                            yield found
            except deaths:
                continue
            except errors.RayTaskError as error:
                # What was raised there, without what Ray says of it.
                raise error.cause from None
        raise InputError(f"{TRIES} replicas died over this question; ask for less (k, max_facts).")


@contextmanager
def _ending(asked: Any, seconds: float) -> Iterator[None]:
    """Give up what is asked of a replica at the end of the block, or after so many seconds if that comes first.

    The thread that waits for an answer cannot look at the clock meanwhile, so another one does.

    Raises:
        TimeoutError: the time was over.
    """
    is_over = Event()

    def give_up() -> None:
        is_over.set()
        asked.cancel()

    clock = Timer(min(max(seconds, 0.0), TIMEOUT_MAX), give_up)
    clock.daemon = True
    clock.start()
    try:
        yield
    except Exception as error:  # Whatever Ray calls it: it depends on how far the search was.
        if is_over.is_set():
            raise TimeoutError(f"no answer came in {seconds:g} s") from error
        raise
    finally:
        clock.cancel()
        asked.cancel()


@contextmanager
def replicated(settings: RankerSettings, dataset: Dataset, replicas: ReplicaSettings) -> Iterator[ReplicatedExplainer]:
    """An explainer with replicas, for as long as the block lasts.

    Raises:
        InputError: the cluster does not answer, or no replica could be started.
        MissingExtraError: Ray is not installed.
        SettingError: this machine has too few processors for them.
    """
    parcel = Parcel.of(settings, dataset)
    with connected(replicas.address), _deployed(parcel, replicas) as handle:
        # Of the model, the front needs no more than what its config.json says.
        folder = locate(settings.model or packaged_model())
        learnt = ScorerSettings.of(read_json_object(folder / CONFIG))
        encoder, query = untrained_encoder(learnt, folder), settings.query or learnt.query
        neighborhood = make_neighborhood(dataset, settings.distance, encoder, settings.threads)
        ranker = Autoregressive(_Elsewhere(), neighborhood, settings.chain, settings.tiers, query)
        yield ReplicatedExplainer(dataset, ranker, handle.options(stream=True), replicas.seconds)


@contextmanager
def _deployed(parcel: Parcel, replicas: ReplicaSettings) -> Iterator[Any]:
    ray = import_ray()
    from ray import serve

    logging.config.dictConfig(log_config(access=False))  # Until the server says how it wants to log.
    cpus = (parcel.settings.threads or 1) * replicas.searches
    _check_room(cpus * replicas.count, int(ray.cluster_resources().get("CPU", 0)), replicas.address)
    deployed = serve.deployment(
        num_replicas=replicas.count,
        max_ongoing_requests=replicas.searches,
        ray_actor_options={"num_cpus": cpus},
    )(Replica)
    serve.start(proxy_location="Disabled")  # Requests come to the front.
    try:
        # By reference: what is bound travels through the controller to every replica anew.
        yield _run(deployed.bind(ray.put(parcel), replicas.searches), replicas.name)
    finally:
        serve.delete(replicas.name)


def _run(application: Any, name: str) -> Any:
    """A handle of an application, when all of its replicas are ready."""
    from ray import serve

    try:
        return serve.run(application, name=name, route_prefix=None)
    except RuntimeError as error:
        raise InputError(f"The replicas could not be started: {str(error).strip().splitlines()[-1]}") from error


def _check_room(wanted: int, there: int, address: str) -> None:
    """Ray waits for the processors of all replicas without a word: on a cluster they may come, here they will not."""
    if wanted <= there:
        return
    short = f"The replicas want {wanted} processors, and there are {there}"
    if address == HERE:
        raise SettingError(f"{short}; ask for fewer --replicas, --workers or --threads.")
    warnings.warn(f"{short}; nothing is served until the cluster has grown.", ArcfWarning, stacklevel=2)
