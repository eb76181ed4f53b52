"""How good the chains themselves are: what people see, before any fact that was not chosen is ranked.

The chosen facts C of a question against its different gold facts G:

    precision = |C and G| / |C|,   recall = |C and G| / |G|,   F1 = 2 |C and G| / (|C| + |G|)

Where the chains say how sure they are of each fact, that is compared with how many of the facts are gold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arcf.evaluation.calibration import Bin, expected_calibration_error, reliability
from arcf.evaluation.judgement import Judgement
from arcf.runs.run import ChosenUids, Run


@dataclass(frozen=True, slots=True)
class ChainQuality:
    """Means over the questions with gold whose chain is known; the last four are shares of them.

    `length` and `gold_length` are numbers of facts. `stopped`: the chain ended by itself, not at its largest length
    or a lack of facts. `complete`: all gold facts were chosen. `too_early`: the chain ended by itself although a
    gold fact was missing, be it in sight or not. `too_late`: the last chosen fact is not gold, so to stop before it
    would have been better. A chain may be both.
    """

    questions: int
    precision: float
    recall: float
    f1: float
    length: float
    gold_length: float
    stopped: float
    complete: float
    too_early: float
    too_late: float


@dataclass(frozen=True, slots=True)
class ChainCalibration:
    """Whether the probabilities of the chains' `facts` can be taken at their word, over questions with gold.

    `ece` is their expected calibration error, and `bins` the reliability diagram; see `evaluation.calibration`.
    """

    facts: int
    ece: float
    bins: tuple[Bin, ...]


def chain_quality(run: Run, judgements: Sequence[Judgement]) -> ChainQuality | None:
    """The quality of a run's chains; None where it has none."""
    rows = [_row(chain, gold) for chain, gold in _with_gold(run, judgements)]
    if not rows:
        return None
    return ChainQuality(len(rows), *(sum(column) / len(rows) for column in zip(*rows, strict=True)))


def chain_f1(run: Run, judgements: Sequence[Judgement]) -> dict[str, float]:
    """F1 of the chain of each judged question whose chain is known, by question id."""
    known = [(judgement.question.id, _with_gold(run, [judgement])) for judgement in judgements]
    return {name: _row(*chain)[2] for name, found in known for chain in found}


def chain_calibration(run: Run, judgements: Sequence[Judgement]) -> ChainCalibration | None:
    """What the confidences of a run's chains are worth; None where it has none."""
    pairs = [
        (confidence, uid.lower() in gold)
        for chain, gold in _with_gold(run, judgements)
        for uid, confidence in zip(chain.uids, chain.confidences, strict=False)
    ]
    if not pairs:
        return None
    return ChainCalibration(len(pairs), expected_calibration_error(pairs), reliability(pairs))


def _with_gold(run: Run, judgements: Sequence[Judgement]) -> list[tuple[ChosenUids, frozenset[str]]]:
    """The chain and the gold of each judged question whose chain is known."""
    chains = {name.lower(): run.chains[name] for name in sorted(run.chains)}
    keys = [(judgement.question.id.lower(), judgement) for judgement in judgements]
    return [(chains[key], frozenset(judgement.gold)) for key, judgement in keys if key in chains]


def _row(chain: ChosenUids, gold: frozenset[str]) -> tuple[float, ...]:
    """One question's values, in the order of the record's fields."""
    chosen = [uid.lower() for uid in chain.uids]
    hits = len(gold.intersection(chosen))
    complete = hits == len(gold)
    return (
        hits / len(chosen) if chosen else 0.0,
        hits / len(gold),
        2 * hits / (len(chosen) + len(gold)),
        len(chosen),
        len(gold),
        chain.stopped,
        complete,
        chain.stopped and not complete,
        bool(chosen) and chosen[-1] not in gold,
    )
