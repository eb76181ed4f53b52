"""The quality of chains, by hand and against scikit-learn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from arcf.evaluation import ChainCalibration, evaluate
from arcf.evaluation.chains import chain_quality
from arcf.evaluation.judgement import judge
from arcf.runs import ChosenUids, Run
from arcf.types import Dataset, Fact, Gold, Question

UIDS = "abcdef"


def quality_of(*pairs: tuple[str, str, bool]) -> object:
    """The quality for questions given as gold, chain and whether the stop sample ended it."""
    questions = tuple(
        Question(f"q{n}", "?", gold=tuple(Gold(uid) for uid in gold)) for n, (gold, _, _) in enumerate(pairs)
    )
    dataset = Dataset("d", tuple(Fact(uid, uid) for uid in UIDS), {"dev": questions})
    chains = {f"Q{n}": ChosenUids(tuple(chain.upper()), stopped) for n, (_, chain, stopped) in enumerate(pairs)}
    run = Run("r", dict.fromkeys(chains, tuple(UIDS)), chains=chains)
    return chain_quality(run, judge(run, dataset, "dev"))


def test_by_hand() -> None:
    quality = quality_of(("ab", "abc", False), ("abcd", "a", True))
    assert quality is not None
    values = {name: getattr(quality, name) for name in quality.__dataclass_fields__}  # type: ignore[attr-defined]
    assert values == pytest.approx(
        {
            "questions": 2,
            "precision": (2 / 3 + 1) / 2,
            "recall": (1 + 0.25) / 2,
            "f1": (0.8 + 0.4) / 2,
            "length": 2,
            "gold_length": 3,
            "stopped": 0.5,
            "complete": 0.5,
            "too_early": 0.5,
            "too_late": 0.5,
        }
    )


@given(st.sets(st.sampled_from(UIDS), min_size=1), st.lists(st.sampled_from(UIDS), min_size=1, unique=True))
def test_against_scikit_learn(gold: set[str], chain: list[str]) -> None:
    quality = quality_of(("".join(gold), "".join(chain), True))
    wanted, found = [uid in gold for uid in UIDS], [uid in chain for uid in UIDS]
    for name, reference in {"precision": precision_score, "recall": recall_score, "f1": f1_score}.items():
        assert getattr(quality, name) == pytest.approx(reference(wanted, found, zero_division=0))


def test_an_empty_chain_and_a_gold_fact_annotated_twice() -> None:
    quality = quality_of(("aa", "", False), ("aa", "a", True))
    assert (quality.precision, quality.recall, quality.gold_length) == (0.5, 0.5, 1)  # type: ignore[attr-defined]
    assert (quality.too_early, quality.too_late) == (0, 0)  # type: ignore[attr-defined]


def test_only_questions_with_gold_and_a_chain_count() -> None:
    questions = (Question("q", "?", gold=(Gold("a"),)), Question("r", "?", gold=(Gold("a"),)), Question("s", "?"))
    dataset = Dataset("d", (Fact("a", "a"),), {"dev": questions})
    rankings = dict.fromkeys("qrs", ("a",))
    chains = {"q": ChosenUids(("a",), True), "s": ChosenUids((), True)}
    result = evaluate(Run("r", rankings, chains=chains), dataset, "dev")
    assert result.chains is not None
    assert (result.chains.questions, result.chains.f1) == (1, 1.0)
    assert result.to_dict()["chains"]["complete"] == 1.0
    without = evaluate(Run("r", rankings), dataset, "dev")
    assert without.chains is None
    assert without.to_dict()["chains"] is None


def calibration_of(*pairs: tuple[str, str, tuple[float, ...]]) -> ChainCalibration | None:
    """The calibration for questions given as gold, chain and how sure it is of each fact."""
    questions = tuple(
        Question(f"q{n}", "?", gold=tuple(Gold(uid) for uid in gold)) for n, (gold, _, _) in enumerate(pairs)
    )
    dataset = Dataset("d", tuple(Fact(uid, uid) for uid in UIDS), {"dev": questions})
    chains = {f"Q{n}": ChosenUids(tuple(chain.upper()), True, sure) for n, (_, chain, sure) in enumerate(pairs)}
    run = Run("r", dict.fromkeys(chains, tuple(UIDS)), chains=chains)
    return evaluate(run, dataset, "dev").calibration


def test_confidences_against_gold() -> None:
    # Two facts of 0.75, both right; one of 0.25, wrong: 2/3 * 0.25 + 1/3 * 0.25.
    found = calibration_of(("ab", "ac", (0.75, 0.25)), ("b", "b", (0.75,)))
    assert found is not None
    assert (found.facts, found.ece) == (3, pytest.approx(0.25))
    assert [(one.count, one.probability, one.right) for one in found.bins] == [(1, 0.25, 0), (2, 0.75, 1)]


def test_chains_without_confidences_or_facts_have_no_calibration() -> None:
    assert calibration_of(("ab", "ac", ()), ("b", "", ())) is None
