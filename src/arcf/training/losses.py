"""Losses of one prefix: pure functions of the candidates' scores and of which candidates are right.

Notation: a is the score of a positive, b of a negative; sigma is the logistic function. Every loss but lambdarank,
whose terms carry weights of their own, is the mean over its terms, so prefixes with many candidates weigh no more than
others. A prefix without a positive or without a negative says nothing about the order: its loss is 0, and so is its
gradient (which exists: such a prefix may stand alone).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own custom
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]
"""scores (candidates,) and boolean labels (candidates,) -> loss ()."""


def ranknet(scores: Tensor, labels: Tensor) -> Tensor:
    """-log sigma(a - b), mean over all pairs of a positive and a negative.

    The paper prints -log(sigma(a) - sigma(b)), which is undefined when b >= a; its authors' code computes this one.
    """
    return F.softplus(-_differences(scores, labels)).mean() if _has_both(labels) else _nothing(scores)


def nce(scores: Tensor, labels: Tensor) -> Tensor:
    """-log(exp a / (exp a + sum of exp b)), mean over positives, each against all negatives and no other positive.

    Noise-contrastive estimation with uniform noise: its constant cancels.
    """
    if not _has_both(labels):
        return _nothing(scores)
    noise = scores[~labels].logsumexp(0)  # ()
    return F.softplus(noise - scores[labels]).mean()


def bxent(scores: Tensor, labels: Tensor) -> Tensor:
    """-log sigma(a) and -log(1 - sigma(b)), mean over candidates: each is judged alone."""
    if not _has_both(labels):
        return _nothing(scores)
    return F.binary_cross_entropy_with_logits(scores, labels.to(scores.dtype))


def listwise(scores: Tensor, labels: Tensor) -> Tensor:
    """-log softmax over all candidates, mean over positives: cross-entropy against a uniform target (ListNet)."""
    return -scores.log_softmax(0)[labels].mean() if _has_both(labels) else _nothing(scores)


def lambdarank(scores: Tensor, labels: Tensor) -> Tensor:
    """-log sigma(a - b), each pair weighted by how much swapping its ranks would change NDCG; sum over pairs.

    The weight |1/log2(1 + rank a) - 1/log2(1 + rank b)| / ideal DCG takes the ranks of the present scores as constants.
    """
    if not _has_both(labels):
        return _nothing(scores)
    discounts = 1 / torch.arange(2, len(scores) + 2, device=scores.device, dtype=scores.dtype).log2()  # by rank
    ranks = scores.detach().argsort(descending=True, stable=True).argsort()
    discount = discounts[ranks]  # (candidates,)
    swaps = (discount[labels][:, None] - discount[~labels][None, :]).abs()  # (positives, negatives)
    ideal = discounts[: int(labels.sum())].sum()
    return (swaps / ideal * F.softplus(-_differences(scores, labels))).sum()


def margin(scores: Tensor, labels: Tensor) -> Tensor:
    """max(0, 1 - (a - b)), mean over all pairs of a positive and a negative."""
    return F.relu(1 - _differences(scores, labels)).mean() if _has_both(labels) else _nothing(scores)


LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        "ranknet": ranknet,
        "nce": nce,
        "bxent": bxent,
        "listwise": listwise,
        "lambdarank": lambdarank,
        "margin": margin,
    }
)


def _differences(scores: Tensor, labels: Tensor) -> Tensor:
    """Of every pair, a - b: (positives, negatives)."""
    return scores[labels][:, None] - scores[~labels][None, :]


def _has_both(labels: Tensor) -> bool:
    return bool(labels.any()) and not bool(labels.all())


def _nothing(scores: Tensor) -> Tensor:
    """0, with a gradient of 0."""
    return scores.sum() * 0.0
