"""Where questions are asked of many rankers at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from arcf.cluster import Pool, PoolSettings, Work, connected
from arcf.rankers.settings import RankerSettings
from arcf.types import Question

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class OnCluster:
    """A cluster (see `cluster.connected`), and how many workers are wanted there; None: as many as it has room for."""

    address: str
    workers: int | None = None

    @contextmanager
    def pool(self, ranker: RankerSettings, work: Work[Question, Answer]) -> Iterator[Pool[Question, Answer]]:
        """Workers that build this ranker: with a processor for each of its threads, and a GPU if it runs on one."""
        on_gpu = ranker.device.startswith("cuda")
        settings = PoolSettings(self.workers, ranker.threads or 1, 1 if on_gpu else 0)
        with connected(self.address), Pool(work, settings) as pool:
            yield pool
