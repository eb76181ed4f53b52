"""Losses of one term: pure functions of the candidates' scores and of what they should be.

Notation: a is the score of a positive, b of a negative; sigma is the logistic function. Every loss but lambdarank,
whose pairs carry weights of their own, is a mean, so terms with many candidates weigh no more than others.

A loss that compares right candidates with wrong ones has nothing to learn from a term that has only the one or only the
other: it says so (`contrasts`), refuses it, and whoever draws terms leaves it out and counts it.

The losses of distillation compare the candidates' scores with a teacher's, t, and look at no label: they learn from any
term of two candidates or more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from torch import Tensor

from arcf.registry import pick


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the candidates of a term are: right or not, and what a teacher says of them, if there is one.

    Of a term that is not `labelled`, nobody knows which are right, and the labels mean nothing.
    """

    labels: Tensor  # (candidates,), bool
    teacher: Tensor | None = None  # (candidates,), scores
    labelled: bool = True


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss, and what it learns from: terms in which right candidates and wrong ones `contrast`, or any with labels.

    One that does not `judge` takes no notice of labels.
    """

    compute: Callable[[Tensor, Targets], Tensor]
    contrasts: bool = True
    judges: bool = True

    def __call__(self, scores: Tensor, targets: Targets) -> Tensor:
        """Scores (candidates,) and targets -> loss ()."""
        if not self.learns_from(targets):
            raise ValueError("This loss compares right candidates with wrong ones; the term has one kind only.")
        return self.compute(scores, targets)

    def learns_from(self, targets: Targets) -> bool:
        """Whether the term has what the loss wants to know."""
        labels = targets.labels
        has_contrast = bool(labels.any()) and not bool(labels.all())
        return (targets.labelled or not self.judges) and (has_contrast or not self.contrasts)


def ranknet(scores: Tensor, targets: Targets) -> Tensor:
    """-log sigma(a - b), mean over all pairs of a positive and a negative.

    The paper prints -log(sigma(a) - sigma(b)), which is undefined when b >= a; its authors' code computes this one.
    """
    return F.softplus(-_differences(scores, targets)).mean()


def nce(scores: Tensor, targets: Targets) -> Tensor:
    """-log(exp a / (exp a + sum of exp b)), mean over positives, each against all negatives and no other positive.

    Noise-contrastive estimation with uniform noise: its constant cancels.
    """
    labels = targets.labels
    noise = scores[~labels].logsumexp(0)  # ()
    return F.softplus(noise - scores[labels]).mean()


def bxent(scores: Tensor, targets: Targets) -> Tensor:
    """-log sigma(a) and -log(1 - sigma(b)), mean over candidates: each is judged alone."""
    return F.binary_cross_entropy_with_logits(scores, targets.labels.to(scores.dtype))


def listwise(scores: Tensor, targets: Targets) -> Tensor:
    """-log softmax over all candidates, mean over positives: cross-entropy against a uniform target (ListNet)."""
    return -scores.log_softmax(0)[targets.labels].mean()


def lambdarank(scores: Tensor, targets: Targets) -> Tensor:
    """-log sigma(a - b), each pair weighted by how much swapping its ranks would change NDCG; sum over pairs.

    The weight |1/log2(1 + rank a) - 1/log2(1 + rank b)| / ideal DCG takes the ranks of the present scores as constants.
    """
    labels = targets.labels
    discounts = 1 / torch.arange(2, len(scores) + 2, device=scores.device, dtype=scores.dtype).log2()  # by rank
    ranks = scores.detach().argsort(descending=True, stable=True).argsort()
    discount = discounts[ranks]  # (candidates,)
    swaps = (discount[labels][:, None] - discount[~labels][None, :]).abs()  # (positives, negatives)
    ideal = discounts[: int(labels.sum())].sum()
    return (swaps / ideal * F.softplus(-_differences(scores, targets))).sum()


def margin(scores: Tensor, targets: Targets) -> Tensor:
    """max(0, 1 - (a - b)), mean over all pairs of a positive and a negative."""
    return F.relu(1 - _differences(scores, targets)).mean()


LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        "ranknet": Loss(ranknet),
        "nce": Loss(nce),
        "bxent": Loss(bxent, contrasts=False),
        "listwise": Loss(listwise),
        "lambdarank": Loss(lambdarank),
        "margin": Loss(margin),
    }
)


def kl(scores: Tensor, targets: Targets, temperature: float = 1.0) -> Tensor:
    """T^2 KL(softmax(t / T) || softmax(scores / T)): which candidates the teacher prefers, and how much.

    T^2 keeps the size of the gradient whatever the temperature (Hinton et al., 2015).
    """
    wanted = (_taught(targets) / temperature).log_softmax(0)
    found = (scores / temperature).log_softmax(0)
    return temperature**2 * F.kl_div(found, wanted, reduction="sum", log_target=True)


def margin_mse(scores: Tensor, targets: Targets, temperature: float = 1.0) -> Tensor:
    """((s_i - s_j) - (t_i - t_j) / T)^2, mean over all pairs of candidates: the teacher's margins.

    Hofstaetter et al. (2020) take the pairs of a right and a wrong candidate; here labels may not be known. With
    d = s - t / T, this is twice the variance of d.
    """
    difference = scores - _taught(targets) / temperature
    return 2 * (difference - difference.mean()).square().mean()


def distillation(name: str, temperature: float) -> Loss:
    """The loss of that name against a teacher.

    Raises:
        UnknownNameError: there is no such loss.
    """
    compute = pick(DISTILLATIONS, name, "loss against a teacher")
    return Loss(partial(compute, temperature=temperature), contrasts=False, judges=False)


def taught(task: Loss, teacher: Loss, weight: float) -> Loss:
    """The loss against a teacher, `weight` times, and the task's own on the terms that this learns from."""

    def compute(scores: Tensor, targets: Targets) -> Tensor:
        distilled = weight * teacher(scores, targets)
        return distilled + task(scores, targets) if task.learns_from(targets) else distilled

    return Loss(compute, contrasts=False, judges=False)


DISTILLATIONS: Mapping[str, Callable[..., Tensor]] = MappingProxyType({"kl": kl, "margin_mse": margin_mse})


def _taught(targets: Targets) -> Tensor:
    if targets.teacher is None:
        raise ValueError("This loss wants a teacher's scores; the term has none.")
    return targets.teacher


def _differences(scores: Tensor, targets: Targets) -> Tensor:
    """Of every pair, a - b: (positives, negatives)."""
    labels = targets.labels
    return scores[labels][:, None] - scores[~labels][None, :]
