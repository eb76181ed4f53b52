"""What runs in a worker's process."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

from arcf.errors import ArcfError

Item = TypeVar("Item", contravariant=True)
Answer = TypeVar("Answer", covariant=True)


class Work(Protocol[Item, Answer]):
    """What every worker does: plain values that travel to each node once, and are made the means of answering there."""

    def prepare(self) -> Callable[[Item], Answer]:
        """Load all that is needed; what comes back answers one item."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer. One that is `final` would be the same elsewhere, or the next time."""

    reason: str
    final: bool = False
    died: bool = False


class Worker:
    """Prepares once, then answers chunk after chunk. Failures come back as values: Ray's errors hide the sentence."""

    def __init__(self, work: Work[Any, Any]) -> None:
        self._work = work

    def prepare(self, expected: str) -> Failure | None:
        """Get ready; `expected` is the driver's version of arcf."""
        if version("arcf") != expected:
            reason = f"it has arcf {version('arcf')}, not {expected}; install the same everywhere."
            return Failure(_here(reason), final=True)
        try:
            self._answer = self._work.prepare()
        except Exception as error:  # noqa: BLE001 - whatever it is, the driver must hear of it
            return failed(error, final=True)
        return None

    def answer(self, items: Sequence[Any]) -> list[Any] | Failure:
        """The answers to a chunk."""
        try:
            return [self._answer(item) for item in items]
        except Exception as error:  # noqa: BLE001 - whatever it is, another worker may be luckier
            return failed(error, final=isinstance(error, ArcfError))


def failed(error: Exception, final: bool = False) -> Failure:
    """What went wrong on this node, in one sentence."""
    if isinstance(error, ArcfError):
        reason = str(error)
    elif isinstance(error, OSError):
        reason = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}."
    else:
        reason = f"{type(error).__name__}: {error}"
    return Failure(_here(reason), final)


def _here(reason: str) -> str:
    return f"Node {platform.node()}: {reason}"
