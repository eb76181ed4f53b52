"""How good the chains themselves are: what people see, before any fact that was not chosen is ranked.

The chosen facts C of a question against its different gold facts G:

    precision = |C and G| / |C|,   recall = |C and G| / |G|,   F1 = 2 |C and G| / (|C| + |G|)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from arcf.evaluation.judgement import Judgement
from arcf.runs.run import ChosenUids, Run


@dataclass(frozen=True, slots=True)
class ChainQuality:
    """Means over the questions with gold whose chain is known; the last four are shares of them.

    `length` and `gold_length` are numbers of facts. `stopped`: the stop sample ended the chain, not its largest length
    or a lack of facts. `complete`: all gold facts were chosen. `too_early`: the stop sample ended the chain although a
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


def chain_quality(run: Run, judgements: Sequence[Judgement]) -> ChainQuality | None:
    """The quality of a run's chains; None where it has none."""
    chains = {name.lower(): chain for name, chain in run.chains.items()}
    known = [judgement for judgement in judgements if judgement.question.id.lower() in chains]
    rows = [_row(chains[judgement.question.id.lower()], frozenset(judgement.gold)) for judgement in known]
    if not rows:
        return None
    return ChainQuality(len(rows), *(sum(column) / len(rows) for column in zip(*rows, strict=True)))


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
