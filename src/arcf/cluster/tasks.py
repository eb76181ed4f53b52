"""Functions that a Ray cluster calls, with the interface of Python's own executors."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

from arcf.cluster.connection import import_ray

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TRIES = 3
"""How often a function is called again whose worker or node dies."""


class RayExecutor(Executor):
    """Calls functions wherever Ray has room; the process is connected to a cluster. Each call has `cpus` processors."""

    def __init__(self, cpus: float = 1) -> None:
        self._ray = import_ray()
        self._cpus = cpus

    def submit(
        self, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        """Call a function; see `concurrent.futures.Executor`."""
        remote = self._ray.remote(function).options(num_cpus=self._cpus, max_retries=TRIES)
        future: Future[Result] = remote.remote(*args, **kwargs).future()
        return future
