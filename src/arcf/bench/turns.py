"""How long several ways take to do the same: they take turns, so that whatever else the machine does meets them all."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from arcf.types import Question

Way = Callable[[Question], object]


def seconds_in_turns(ways: Mapping[str, Way], questions: Sequence[Question]) -> dict[str, float]:
    """The mean seconds that each way takes for a question; the first of at least two questions is not counted."""
    seconds = dict.fromkeys(ways, 0.0)
    for number, question in enumerate(questions):
        for name, way in ways.items():
            start = perf_counter()
            way(question)
            seconds[name] += (perf_counter() - start) * (number > 0)
    return {name: total / (len(questions) - 1) for name, total in seconds.items()}
