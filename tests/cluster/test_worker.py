"""What a worker says when it cannot: sentences for the driver, never exceptions of its own."""

import errno
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import pytest

from arcf.cluster.worker import Failure, Worker
from arcf.errors import InputError

NODE = f"Node {platform.node()}: "


@dataclass(frozen=True)
class Raising:
    """Fails while preparing, or with every item."""

    preparing: Exception | None = None
    answering: Exception | None = None

    def prepare(self) -> Callable[[int], int]:
        if self.preparing is not None:
            raise self.preparing
        return self.answer

    def answer(self, item: int) -> int:
        if self.answering is not None:
            raise self.answering
        return -item


def test_answers_come_in_the_order_of_the_items() -> None:
    worker = Worker(Raising())
    assert worker.prepare(version("arcf")) is None
    assert worker.answer((1, 2)) == [-1, -2]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InputError("there is no such folder.", "runs/best"), "runs/best: there is no such folder."),
        (OSError(errno.ENOSPC, "No space left on device", "/cache"), "/cache: No space left on device."),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device."),
        (RuntimeError("bad luck"), "RuntimeError: bad luck"),
    ],
)
def test_what_cannot_be_prepared_is_final(error: Exception, reason: str) -> None:
    assert Worker(Raising(preparing=error)).prepare(version("arcf")) == Failure(NODE + reason, final=True)


@pytest.mark.parametrize(("error", "final"), [(InputError("It is empty."), True), (RuntimeError("bad luck"), False)])
def test_only_what_may_be_luck_is_worth_another_try(error: Exception, final: bool) -> None:
    worker = Worker(Raising(answering=error))
    assert worker.prepare(version("arcf")) is None
    failure = worker.answer((1, 2))
    assert isinstance(failure, Failure)
    assert failure.final is final
    assert failure.reason.startswith(NODE)


def test_another_version_of_arcf() -> None:
    failure = Worker(Raising()).prepare("99.0")
    assert failure == Failure(
        f"{NODE}it has arcf {version('arcf')}, not 99.0; install the same everywhere.", final=True
    )
