"""Losses of one term: pure functions of the candidates' scores and of what they should be.

Notation: a is the score of a positive, b of a negative; sigma is the logistic function. Every loss but lambdarank,
whose pairs carry weights of their own, is a mean, so terms with many candidates weigh no more than others.

A loss that compares right candidates with wrong ones has nothing to learn from a term that has only the one or only the
other: it says so (`contrasts`), refuses it, and whoever draws terms leaves it out and counts it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the candidates of a term are: right or not, and what a teacher says of them, if there is one."""

    labels: Tensor  # (candidates,), bool
    teacher: Tensor | None = None  # (candidates,), scores


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss, and whether it `contrasts` right candidates with wrong ones; if not, it learns from any term."""

    compute: Callable[[Tensor, Targets], Tensor]
    contrasts: bool = True

    def __call__(self, scores: Tensor, targets: Targets) -> Tensor:
        """Scores (candidates,) and targets -> loss ()."""
        labels = targets.labels
        if self.contrasts and (bool(labels.all()) or not bool(labels.any())):
            raise ValueError("This loss compares right candidates with wrong ones; the term has one kind only.")
        return self.compute(scores, targets)


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


def _differences(scores: Tensor, targets: Targets) -> Tensor:
    """Of every pair, a - b: (positives, negatives)."""
    labels = targets.labels
    return scores[labels][:, None] - scores[~labels][None, :]
