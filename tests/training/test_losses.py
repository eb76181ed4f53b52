from collections.abc import Sequence
from math import exp, log, log2

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from arcf.training.losses import DISTILLATIONS, LOSSES, Loss, Targets, distillation, taught

SHIFT_INVARIANT = sorted(set(LOSSES) - {"bxent"})


def softplus(x: float) -> float:
    return log(1 + exp(x))


# Scores 2, 1, 0, -1; the first and the third are right. Differences a - b: 1, 3 and -1, 1.
SCORES, LABELS = [2.0, 1.0, 0.0, -1.0], [True, False, True, False]
PAIRS = [1.0, 3.0, -1.0, 1.0]
DISCOUNTS = [1 / log2(rank + 1) for rank in (1, 2, 3, 4)]
SWAPS = [
    DISCOUNTS[0] - DISCOUNTS[1],
    DISCOUNTS[0] - DISCOUNTS[3],
    DISCOUNTS[1] - DISCOUNTS[2],
    DISCOUNTS[2] - DISCOUNTS[3],
]
BY_HAND = {
    "ranknet": sum(softplus(-pair) for pair in PAIRS) / 4,
    "nce": sum(-log(exp(a) / (exp(a) + exp(1) + exp(-1))) for a in (2, 0)) / 2,
    "bxent": (softplus(-2) + softplus(1) + softplus(0) + softplus(-1)) / 4,
    "listwise": log(sum(map(exp, SCORES))) - (2 + 0) / 2,
    "lambdarank": sum(s * softplus(-p) for s, p in zip(SWAPS, PAIRS, strict=True)) / (DISCOUNTS[0] + DISCOUNTS[1]),
    "margin": (0 + 0 + 2 + 0) / 4,
}

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
PREFIXES = st.lists(st.tuples(st.floats(-20, 20), st.booleans()), min_size=2, max_size=12)


def targets(labels: Sequence[bool]) -> Targets:
    return Targets(torch.tensor(labels))


def tensors(prefix: list[tuple[float, bool]]) -> tuple[Tensor, Targets]:
    scores, labels = zip(*prefix, strict=True)
    assume(any(labels) and not all(labels))
    return torch.tensor(scores, dtype=torch.float64), targets(labels)


@pytest.mark.parametrize("name", LOSSES)
def test_by_hand(name: str) -> None:
    loss = LOSSES[name](torch.tensor(SCORES, dtype=torch.float64), targets(LABELS))
    assert float(loss) == pytest.approx(BY_HAND[name])


@every_loss
def test_gradient_agrees_with_finite_differences(loss: Loss) -> None:
    scores = torch.tensor([0.3, -1.2, 2.1, 0.9, -0.4], dtype=torch.float64, requires_grad=True)
    wanted = targets([True, False, False, True, False])
    assert torch.autograd.gradcheck(lambda values: loss(values, wanted), [scores])


@every_loss
@pytest.mark.parametrize("label", [True, False])
@given(values=st.lists(st.floats(-8, 8), min_size=1, max_size=6))
def test_one_class_is_refused_or_learnt_from(loss: Loss, label: bool, values: list[float]) -> None:
    """As the loss says: it never takes a term silently and learns nothing from it."""
    scores = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    wanted = targets([label] * len(values))
    if loss.contrasts:
        with pytest.raises(ValueError, match="the term has one kind only"):
            loss(scores, wanted)
        return
    loss(scores, wanted).backward()
    assert scores.grad is not None
    assert bool(((scores.grad < 0) if label else (scores.grad > 0)).all())  # right ones rise, wrong ones fall


@every_loss
@given(prefix=PREFIXES, random=st.randoms(use_true_random=False))
def test_order_does_not_matter(loss: Loss, prefix: list[tuple[float, bool]], random: object) -> None:
    assume(len({score for score, _ in prefix}) == len(prefix))  # equal scores: LambdaRank's ranks go by order
    shuffled = list(prefix)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert float(loss(*tensors(shuffled))) == pytest.approx(float(loss(*tensors(prefix))), abs=1e-9)


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@given(prefix=PREFIXES, shift=st.floats(-10, 10))
def test_only_differences_matter(name: str, prefix: list[tuple[float, bool]], shift: float) -> None:
    scores, wanted = tensors(prefix)
    assume(len((scores + shift).unique()) == len(scores))
    assert float(LOSSES[name](scores + shift, wanted)) == pytest.approx(float(LOSSES[name](scores, wanted)), abs=1e-9)


@every_loss
@given(prefix=PREFIXES)
def test_never_negative_and_always_finite(loss: Loss, prefix: list[tuple[float, bool]]) -> None:
    scores, wanted = tensors(prefix)
    value = loss(scores * 100, wanted)
    assert torch.isfinite(value)
    assert float(value) >= 0


@every_loss
def test_right_order_costs_less_than_wrong(loss: Loss) -> None:
    wanted = targets([True, True, False, False])
    scores = torch.tensor([4.0, 3.0, -3.0, -4.0])
    assert float(loss(scores, wanted)) < float(loss(-scores, wanted))


every_distillation = pytest.mark.parametrize("name", DISTILLATIONS)
TEACHER = [0.5, 3.0, -1.0, 0.0]
TAUGHT = st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=2, max_size=8)


def taught_by(values: Sequence[float], labels: Sequence[bool] = LABELS, *, labelled: bool = True) -> Targets:
    return Targets(torch.tensor(labels), torch.tensor(values, dtype=torch.float64), labelled)


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_distillation_by_hand(temperature: float) -> None:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    p, q = ([exp(value / temperature) for value in values] for values in (TEACHER, SCORES))
    p, q = ([value / sum(values) for value in values] for values in (p, q))
    by_hand = temperature**2 * sum(a * log(a / b) for a, b in zip(p, q, strict=True))
    assert float(distillation("kl", temperature)(scores, taught_by(TEACHER))) == pytest.approx(by_hand)
    margins = [
        ((SCORES[i] - SCORES[j]) - (TEACHER[i] - TEACHER[j]) / temperature) ** 2 for i in range(4) for j in range(4)
    ]
    found = distillation("margin_mse", temperature)(scores, taught_by(TEACHER))
    assert float(found) == pytest.approx(sum(margins) / 16)


@every_distillation
@given(pairs=TAUGHT, shift=st.floats(-10, 10))
def test_distillation_is_nothing_where_teacher_and_student_agree(
    name: str, pairs: list[tuple[float, float]], shift: float
) -> None:
    """Up to a shift, which changes no ranking; labels change nothing either."""
    scores, teacher = (torch.tensor(values, dtype=torch.float64) for values in zip(*pairs, strict=True))
    labels = torch.zeros(len(pairs), dtype=torch.bool)
    loss = distillation(name, 1.0)
    assert float(loss(teacher + shift, Targets(labels, teacher, labelled=False))) == pytest.approx(0, abs=1e-9)
    apart = float(loss(scores, Targets(labels, teacher)))
    assert apart >= -1e-12
    assert apart == pytest.approx(float(loss(scores + shift, Targets(~labels, teacher, labelled=False))), abs=1e-9)


@every_distillation
def test_distillation_gradients(name: str) -> None:
    scores = torch.tensor(SCORES, dtype=torch.float64, requires_grad=True)
    loss = distillation(name, 2.0)
    assert torch.autograd.gradcheck(lambda values: loss(values, taught_by(TEACHER)), [scores])


@every_distillation
def test_a_single_candidate_has_nothing_to_be_compared_with(name: str) -> None:
    assert float(distillation(name, 1.0)(torch.tensor([3.0]), taught_by([5.0], [True]))) == 0


@every_distillation
def test_distillation_wants_a_teacher(name: str) -> None:
    with pytest.raises(ValueError, match="wants a teacher's scores"):
        distillation(name, 1.0)(torch.tensor(SCORES), targets(LABELS))


@pytest.mark.parametrize("name", LOSSES)
def test_a_teacher_beside_the_task(name: str) -> None:
    """Where the task has nothing to learn from, or nobody knows what is right, the teacher speaks alone."""
    scores, task, teacher = torch.tensor(SCORES, dtype=torch.float64), LOSSES[name], distillation("kl", 1.0)
    both = taught(task, teacher, 0.5)
    alone = 0.5 * float(teacher(scores, taught_by(TEACHER)))
    assert float(both(scores, taught_by(TEACHER))) == pytest.approx(BY_HAND[name] + alone)
    assert float(both(scores, taught_by(TEACHER, labelled=False))) == pytest.approx(alone)
    one_class = float(both(scores, taught_by(TEACHER, [True] * 4)))
    assert (one_class == pytest.approx(alone)) == task.contrasts
    with pytest.raises(ValueError, match="one kind only"):
        task(scores, taught_by(TEACHER, labelled=False))
