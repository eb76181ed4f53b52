"""How long jobs take: guessed by the budget at first, then learnt from those that are finished."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from statistics import median

from arcf.experiments.budget import Speed
from arcf.experiments.place import Job, Place

#: Seconds that a job takes for loading and writing.
OVERHEAD = 5.0


@dataclass
class Pace:
    """Tokens a second of training and of inference: the median of finished jobs, as machines differ, else a guess.

    It is the median because a job that went on after a kill is known by its last go alone.
    """

    guess: Speed
    _training: list[float] = field(default_factory=list)
    _inference: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, jobs: Iterable[Job], place: Place, guess: Speed) -> "Pace":
        """What the finished ones among some jobs tell."""
        pace = cls(guess)
        for job in jobs:
            pace.learn(job, place)
        return pace

    def learn(self, job: Job, place: Place) -> None:
        """Take a job into account, if it is finished and a model had something to read in it."""
        seconds = place.seconds(job)
        if seconds is not None and seconds > OVERHEAD and (tokens := _tokens(job)):
            self._rates(job).append(tokens / (seconds - OVERHEAD))

    def seconds(self, job: Job) -> float:
        """About how many seconds a job takes."""
        known = self._rates(job)
        guess = self.guess.training if job.kind == "train" else self.guess.inference
        return OVERHEAD + _tokens(job) / (median(known) if known else guess)

    def _rates(self, job: Job) -> list[float]:
        return self._training if job.kind == "train" else self._inference


@cache
def _tokens(job: Job) -> float:
    """Estimates are made again after every job; what they are made from is counted once."""
    return job.tokens()
