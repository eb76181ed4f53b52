"""Taking turns: of all who want to make the same thing on a machine, the first makes it and the others wait for it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from arcf.errors import InputError
from arcf.files import make_folder


@contextmanager
def turn(path: Path) -> Iterator[bool]:
    """Be alone with what is to be kept at a path, among processes and threads of this machine that ask for a turn.

    Gives whether somebody else had the turn before, and had to be waited for.

    It saves work and memory, and nothing else depends on it: where there can be no lock (a folder that cannot be
    written to, a system without them), nobody waits. A process that is killed gives its turn back.
    """
    lock = path.with_name(f".{path.stem}.lock")
    waited = False
    with ExitStack() as stack:
        with suppress(ModuleNotFoundError, InputError, OSError):
            import fcntl

            make_folder(lock.parent)
            file = stack.enter_context(lock.open("wb"))
            stack.callback(_delete, lock)  # Whoever waits for it has it open, and goes on.
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waited = True
                fcntl.flock(file, fcntl.LOCK_EX)
        yield waited


def _delete(lock: Path) -> None:
    with suppress(OSError):
        lock.unlink()
