"""Functions that a Ray cluster calls, with the interface of Python's own executors."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, ParamSpec, TypeVar

from arcf.cluster.connection import import_ray
from arcf.cluster.worker import Failure, failed
from arcf.errors import InputError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TRIES = 3
"""How often a function is called again whose worker or node dies."""


class RayExecutor(Executor):
    """Calls functions wherever Ray has room; the process is connected to a cluster. Each call has a processor."""

    def __init__(self) -> None:
        self._ray = import_ray()
        self._under_way: list[Any] = []

    @property
    def size(self) -> int:
        """How many calls the cluster has room for now, at least 1."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(
        self, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        """Call a function; what it raises is told in one sentence, with the node that it happened on."""
        reference = self._ray.remote(_call).options(max_retries=TRIES).remote(function, args, kwargs)
        self._under_way.append(reference)
        future: Future[Result] = Future()
        reference.future().add_done_callback(lambda done: _pass_on(done, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End what is under way, if wanted; the cluster stays."""
        del wait
        for reference in self._under_way if cancel_futures else ():
            self._ray.cancel(reference, force=True)
        self._under_way.clear()


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver must hear of it
        return failed(error)


def _pass_on(done: "Future[Any]", future: "Future[Any]") -> None:
    """Tell one future what came of another."""
    error = CancelledError() if done.cancelled() else done.exception()
    if error is not None:
        last = str(error).strip().rsplit("\n", 1)[-1]
        future.set_exception(InputError(f"A job died with its worker {TRIES + 1} times ({last})."))
    elif isinstance(done.result(), Failure):
        future.set_exception(InputError(done.result().reason))
    else:
        future.set_result(done.result())
