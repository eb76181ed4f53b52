"""How far a chain can be trusted, in plain words; the page's `verdict.js` says the same.

A calibrated probability has a meaning of its own, so it can be put into words once and for all.
"""

from arcf.explanation import Explanation
from arcf.types import Step

LIKELY, POSSIBLE = 0.5, 0.35
"""From these probabilities on, a fact is called likely or possible; below, it is a guess."""

VERDICTS = {
    "likely": "Probably a good explanation",
    "possible": "Perhaps a good explanation: part of it is a guess",
    "a guess": "Weak: most of it is guesswork",
}
NONE_FOUND = "No good explanation found"
NOT_JUDGED = "Not judged: nothing is known of how sure these facts are"


def in_words(probability: float) -> str:
    """What a probability is called."""
    return "likely" if probability >= LIKELY else "possible" if probability >= POSSIBLE else "a guess"


def verdict(explanation: Explanation) -> str:
    """Whether the chain can be trusted, in one line."""
    if not explanation.chain.facts:
        return NONE_FOUND
    confidence = explanation.confidence
    return NOT_JUDGED if confidence is None else VERDICTS[in_words(confidence)]


def expectation(explanation: Explanation) -> str:
    """The figures behind the verdict, in one sentence; empty if there are none."""
    known = [step.confidence for step in explanation.chain.steps if step.confidence is not None]
    if not known:
        return ""
    mean, pinned = f"{sum(known) / len(known):.0%}", " Pinned facts are not counted." * bool(explanation.chain.start)
    if len(known) == 1:
        return f"The fact that was chosen belongs to it with a probability of {mean}.{pinned}"
    return f"About {sum(known):.0f} of {len(known)} facts can be expected to belong to it ({mean}).{pinned}"


def why_not_stopped(step: Step, least: int) -> str:
    """Why a fact was taken although stopping scored as high, `least` facts being wanted; empty if it scored lower."""
    if step.stop_score is None or step.stop_score < step.chosen.score:
        return ""
    return f"Stopping scored higher, but the chain was to have at least {least} facts."
