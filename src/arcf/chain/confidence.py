"""How sure a chain may be of a fact: the probability that it belongs to the explanation.

A score has a meaning only beside other scores of the same prefix, so it says nothing of how good a chain is. A logistic
model of a few weights makes a probability of what is known of a fact when it is chosen:

    p = 1 / (1 + exp(-(bias + weights . evidence)))

It is fitted on questions that the scorer did not learn from (`arcf calibrate`), and lies beside the scorer's weights as
`calibration.json`. A scorer without one gives scores and no probabilities.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.files import read_json_object, write_text
from arcf.pretrained.location import CALIBRATION, find_folder
from arcf.types import SeenFrom

FORMAT: Final = "arcf-calibration"
VERSION: Final = 1
RIVALS: Final = 5
"""How many of the next best facts a fact is compared with: of one alone, a fact that says the same would hide much."""

LEAST_SHARE: Final = 0.05
"""Added to shares of words before their logarithm is taken."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a fact when it is chosen, on scales that mean the same in every corpus.

    `share`: the log of its share in the softmax over all that was visible. `lead`: its score less the mean of the next
    five. `over_stop`: its score less that of stopping; 0 for the `first` fact, for which stopping is no choice.
    `place`: ln(1 + facts chosen before it). `familiar`: ln(0.05 + the share of its words, by weight, that the question
    or the chain has too); `covered`: ln(0.05 + the share of the question's words that the chain has with it), in which
    a word that no fact has counts like the rarest. `first_familiar` and `first_covered` are the same for the first
    fact and 0 for others: by them a question shows that it is not of this corpus. `from_question`: 1 if the question
    makes it visible by more than light words. `sources`: ln(1 + sources that do so). `near`: what the scorer's prior
    says of it, 0 where it has none, and `first_near` the same for the first fact.
    """

    share: float
    lead: float
    over_stop: float
    first: float
    place: float
    familiar: float
    covered: float
    first_familiar: float
    first_covered: float
    from_question: float
    sources: float
    near: float = 0.0
    first_near: float = 0.0

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """What the parts are called, in order."""
        return tuple(entry.name for entry in fields(cls))

    def with_near(self, near: float) -> Self:
        """The same with what a prior says."""
        return replace(self, near=near, first_near=self.first * near)

    def values(self) -> NDArray[np.float64]:
        """The parts as a vector, in the order of `names`."""
        return np.array([getattr(self, name) for name in self.names()])


def weigh(
    scores: NDArray[np.float64],
    place: int,
    stop_score: float | None,
    before: int,
    overlap: tuple[float, float],
    seen_from: Sequence[SeenFrom],
) -> Evidence:
    """The evidence for the fact at a place of an iteration's `scores`, best first, `before` facts being chosen.

    `overlap` is that of `Neighborhood.overlap`.
    """
    score = float(scores[place])
    rivals = np.delete(scores, place)[:RIVALS]
    telling = [seen for seen in seen_from if seen.is_telling]
    familiar, covered = (math.log(LEAST_SHARE + share) for share in overlap)
    is_first = stop_score is None
    return Evidence(
        share=-math.log(float(np.exp(scores - score).sum())),
        lead=score - float(rivals.mean()) if len(rivals) else 0.0,
        over_stop=0.0 if stop_score is None else score - stop_score,
        first=float(is_first),
        place=math.log1p(before),
        familiar=familiar,
        covered=covered,
        first_familiar=is_first * familiar,
        first_covered=is_first * covered,
        from_question=float(any(seen.source is None for seen in telling)),
        sources=math.log1p(len(telling)),
    )


@dataclass(frozen=True, slots=True)
class Calibration:
    """The weights of the logistic model. `fitted_on` tells from which questions they come, in plain values."""

    bias: float
    weights: Mapping[str, float]
    fitted_on: Mapping[str, Any] = field(default_factory=dict)

    def probability(self, evidence: Evidence) -> float:
        """The probability that a fact belongs to the explanation."""
        logit = self.bias + sum(weight * getattr(evidence, name) for name, weight in self.weights.items())
        return 0.5 * (1.0 + math.tanh(0.5 * logit))  # the logistic function, without overflow

    @classmethod
    def read(cls, path: Path) -> Self:
        """The calibration in a file.

        Raises:
            InputError: it is not one, or was made by another version of arcf.
        """
        record = read_json_object(path)
        if record.get("format") != FORMAT or record.get("version") != VERSION:
            raise InputError(f"is not a calibration of version {VERSION}; make it again with arcf calibrate.", path)
        weights = record.get("weights")
        if not isinstance(weights, dict) or set(weights) != set(Evidence.names()):
            raise InputError(f"needs the weights {', '.join(Evidence.names())}; make it with arcf calibrate.", path)
        numbers: dict[str, Any] = {"bias": record.get("bias")} | weights
        if not all(isinstance(value, int | float) and math.isfinite(value) for value in numbers.values()):
            raise InputError("needs numbers as bias and weights; make it again with arcf calibrate.", path)
        return cls(numbers.pop("bias"), numbers, record.get("fitted_on", {}))

    def write(self, path: Path) -> None:
        """Write the file.

        Raises:
            InputError: it cannot be written.
        """
        record = {"format": FORMAT, "version": VERSION} | asdict(self)
        write_text(path, json.dumps(record, indent=2) + "\n")


def load_calibration(model: str | Path) -> Calibration | None:
    """The calibration of a model in a folder; None if it has none, or lies on the hub.

    Raises:
        InputError: its calibration cannot be read.
    """
    folder = find_folder(model)
    path = folder / CALIBRATION if folder is not None else None
    return Calibration.read(path) if path is not None and path.is_file() else None
