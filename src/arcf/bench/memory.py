"""How much memory work takes, measured where nothing else has taken any: in a process of its own. No torch here."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from arcf.chain import ChainSettings
from arcf.explainer import load
from arcf.types import Question

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of memory that a process holds: its own, and those that other processes have too.

    `mapped` are pages of files that only this process has looked at: the system takes them back when it needs them.
    """

    own: int
    shared: int
    mapped: int


def held(process: int | str = "self") -> Held | None:
    """What a process holds now, if the system tells (Linux does)."""
    rollup = Path(f"/proc/{process}/smaps_rollup")
    if not rollup.exists():
        return None
    lines = (line.split() for line in rollup.read_text(encoding="ascii").splitlines()[1:])
    pages = {name.rstrip(":"): int(kilobytes) * 1024 for name, kilobytes, *_ in lines}
    own, shared = pages["Anonymous"], pages["Shared_Clean"] + pages["Shared_Dirty"]
    return Held(own, shared, max(0, pages["Private_Clean"] + pages["Private_Dirty"] - own))


def apart(work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """What a function gives in a new process, which imports no more than the function's own module does."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *args, **kwargs).result()


def peak_apart(model: Path, facts: Sequence[str], questions: Sequence[Question], settings: ChainSettings) -> int | None:
    """The most memory that explaining these questions takes, from loading on; in bytes."""
    return apart(_peak, model, facts, questions, settings)


def _peak(model: Path, facts: Sequence[str], questions: Sequence[Question], settings: ChainSettings) -> int | None:
    explainer = load(model, facts, settings)
    for question in questions:
        explainer.explain(question)
    return peak_bytes()


def peak_bytes() -> int | None:
    """The most memory that this process ever held (resident), if the system tells."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
