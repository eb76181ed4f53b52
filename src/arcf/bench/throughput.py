"""How many questions a second are ranked: one at a time on all threads, or side by side on one thread each."""

from collections.abc import Mapping, Sequence
from time import perf_counter

from arcf.rankers import Ranker
from arcf.runs import rank_questions
from arcf.types import Question

TURNS = 2
"""How often each way has its turn, after one that is not counted: whatever else the machine does meets them all."""


def questions_per_second(ways: Mapping[str, tuple[Ranker, int]], questions: Sequence[Question]) -> dict[str, float]:
    """The rate of each way: a ranker, and how many questions it ranks at once."""
    seconds = dict.fromkeys(ways, 0.0)
    for turn in range(TURNS + 1):
        for name, (ranker, at_once) in ways.items():
            start = perf_counter()
            for _ in rank_questions(ranker, questions, at_once=at_once):
                pass
            seconds[name] += (perf_counter() - start) * (turn > 0)
    return {name: TURNS * len(questions) / taken for name, taken in seconds.items()}
