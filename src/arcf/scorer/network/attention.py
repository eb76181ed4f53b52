"""Attention of flat sequences, each to its prefix and to itself, forward and backward written out.

For the sequences of one prefix, all queries times the prefix's keys is one dense product without any padding, and only
the small part within a sequence is padded. Both parts lie side by side in one matrix of scores, so that one softmax
spans them. Written as a `Function` because autograd would make a copy of that matrix for each of its two parts and for
each step of the softmax; here, one is kept.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from arcf.scorer.network.plan import Block, Plan


@dataclass(frozen=True, slots=True, eq=False)
class KeysValues:
    """Keys and values of prefix tokens in one layer, flat: (prefix tokens, hidden)."""

    keys: Tensor
    values: Tensor


def attend(
    query: Tensor, own: KeysValues, plan: Plan, prefix: KeysValues | None = None, dropout: float = 0.0
) -> Tensor:
    """Softmax attention of every query to its prefix's keys and its own sequence's keys.

    Args:
        query: (queries, hidden), one row per token, or per sequence if only first tokens ask.
        own: keys and values of the sequences' own tokens, (tokens, hidden).
        plan: which rows belong together, and what their relative positions add to the scores.
        prefix: keys and values of the prefixes' tokens; None if there are none or they are rows of `own`.
        dropout: share of the attention weights that is set to 0; 0 costs nothing.

    Returns:
        (queries, hidden)
    """
    keys, values = (prefix.keys, prefix.values) if prefix else (None, None)
    # Mixed precision has set the type of all inputs already; inside, it would change the softmax's alone.
    with torch.autocast(query.device.type, enabled=False):
        result: Tensor = _Attend.apply(query, own.keys, own.values, keys, values, plan.bias, plan, dropout)  # type: ignore[no-untyped-call]
    return result


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0913 - what autograd differentiates must be a parameter
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        prefix_key: Tensor | None,
        prefix_value: Tensor | None,
        bias: Tensor | None,
        plan: Plan,
        dropout: float,
    ) -> Tensor:
        del bias  # the plan has it: a parameter for its gradient only
        head_size = query.shape[1] // plan.heads
        q = _gather(query, plan.queries.index, head_size).mul_(head_size**-0.5)
        k = _gather(key, plan.keys.index, head_size)
        v = _gather(value, plan.keys.index, head_size)
        output = torch.empty_like(q)
        weights, masks = [], []
        shared_key, shared_value = (key, value) if prefix_key is None else (prefix_key, prefix_value)
        for block in plan.blocks:
            pk, pv = _prefix_heads(shared_key, block, plan.heads), _prefix_heads(shared_value, block, plan.heads)
            weight = _weights(q[block.query_rows], k[block.key_rows], pk, plan, block)
            mask = torch.empty_like(weight).bernoulli_(1 - dropout).div_(1 - dropout) if dropout else None
            used = weight if mask is None else weight * mask
            _average(used, v[block.key_rows], pv, block, output[block.query_rows])
            weights.append(weight)
            masks.append(mask)
        ctx.save_for_backward(q, k, v, shared_key, shared_value, *weights, *masks)
        ctx.plan = plan
        ctx.has_prefix = prefix_key is not None
        return output.index_select(0, plan.queries.inverse).view(query.shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        plan: Plan = ctx.plan
        q, k, v, prefix_key, prefix_value, *kept = ctx.saved_tensors
        weights, masks = kept[: len(plan.blocks)], kept[len(plan.blocks) :]
        grad_out = _gather(gradient.contiguous(), plan.queries.index, q.shape[1])
        if len(plan.queries.padding):
            grad_out.index_fill_(0, plan.queries.padding, 0.0)
        grad_q, grad_k, grad_v = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        shared_rows = len(prefix_key) if ctx.has_prefix else plan.joined
        grad_pk, grad_pv = torch.zeros_like(prefix_key[:shared_rows]), torch.zeros_like(prefix_value[:shared_rows])
        grad_bias = torch.zeros_like(plan.bias) if plan.bias is not None and ctx.needs_input_grad[5] else None
        for block, weight, mask in zip(plan.blocks, weights, masks, strict=True):
            rows, own = block.query_rows, block.key_rows
            pk, pv = _prefix_heads(prefix_key, block, plan.heads), _prefix_heads(prefix_value, block, plan.heads)
            d_pk, d_pv = _prefix_heads(grad_pk, block, plan.heads), _prefix_heads(grad_pv, block, plan.heads)
            used = weight if mask is None else weight * mask
            _sum_back(used, grad_out[rows], block, grad_v[own], d_pv)
            d_weight = _products(grad_out[rows], v[own], pv, block, plan.heads)
            if mask is not None:
                d_weight.mul_(mask)
            d_score = torch._softmax_backward_data(d_weight, weight, -1, weight.dtype)
            _average(d_score, k[own], pk, block, grad_q[rows])
            _sum_back(d_score, q[rows], block, grad_k[own], d_pk)
            if grad_bias is not None:
                _sum_buckets(d_score, block, grad_bias)
        grad_q.mul_(q.shape[1] ** -0.5)
        flat_q = grad_q.index_select(0, plan.queries.inverse).view(gradient.shape)
        flat_k, flat_v = _flat_gradient(grad_k, grad_pk, ctx), _flat_gradient(grad_v, grad_pv, ctx)
        given = (grad_pk, grad_pv) if ctx.has_prefix else (None, None)
        return flat_q, flat_k, flat_v, *given, grad_bias, None, None


def _flat_gradient(own: Tensor, shared: Tensor, ctx: Any) -> Tensor:
    """The gradient of flat keys or values: (tokens, hidden)."""
    plan: Plan = ctx.plan
    flat = own.index_select(0, plan.keys.inverse).view(-1, shared.shape[1])
    if plan.joined:
        flat[: plan.joined] += shared
    return flat


def _gather(flat: Tensor, index: Tensor, head_size: int) -> Tensor:
    """(tokens, hidden) -> (block rows, head size)."""
    return flat.reshape(-1, head_size).index_select(0, index)


def _prefix_heads(flat: Tensor | None, block: Block, heads: int) -> Tensor | None:
    """A view of one prefix: (heads, P, head size)."""
    if flat is None or block.prefix is None:
        return None
    rows = flat[block.prefix]
    return rows.view(len(rows), heads, -1).transpose(0, 1)


def _products(q: Tensor, k: Tensor, pk: Tensor | None, block: Block, heads: int) -> Tensor:
    """Every query times its prefix's keys and its own keys: (heads, C * Q, P + L)."""
    size = q.shape[1]
    own_q, own_k = q.view(-1, block.query_length, size), k.view(-1, block.length, size)  # (heads * C, .., size)
    own = torch.bmm(own_q, own_k.transpose(1, 2)).view(heads, -1, block.length)  # (heads, C * Q, L)
    if pk is None:
        return own
    width = pk.shape[1]
    result = q.new_empty(heads, block.count * block.query_length, width + block.length)
    torch.bmm(q.view(heads, -1, size), pk.transpose(1, 2), out=result[:, :, :width])
    result[:, :, width:] = own
    return result


def _weights(q: Tensor, k: Tensor, pk: Tensor | None, plan: Plan, block: Block) -> Tensor:
    """Attention weights: (heads, C * Q, P + L)."""
    scores = _products(q, k, pk, block, plan.heads)
    apart = scores.view(plan.heads, block.count, block.query_length, -1)
    if plan.bias is not None:
        added = plan.bias[block.buckets].to(scores.dtype)  # (Q, P + L, heads)
        apart.add_(added.permute(2, 0, 1)[:, None])
    if block.padding is not None:
        apart[..., -block.length :].masked_fill_(block.padding, -torch.inf)
    return torch.softmax(scores, -1)


def _sum_buckets(d_score: Tensor, block: Block, grad_bias: Tensor) -> None:
    """What all scores pass back to the bias of their relative positions, added to `grad_bias`: (buckets, heads)."""
    assert block.buckets is not None
    heads, (queries, keys) = len(d_score), block.buckets.shape
    sums = d_score.view(heads, block.count, queries, keys).sum(1, dtype=grad_bias.dtype)  # (heads, Q, P + L)
    grad_bias.index_add_(0, block.buckets.view(-1), sums.view(heads, -1).T)


def _own(weight: Tensor, block: Block) -> Tensor:
    """The part of the weights that lies on own keys: (heads * C, Q, L)."""
    return weight.view(-1, block.query_length, weight.shape[2])[:, :, -block.length :]


def _average(weight: Tensor, v: Tensor, pv: Tensor | None, block: Block, out: Tensor) -> None:
    """Weighted sums of values, into `out`: (heads * C * Q, head size)."""
    size = v.shape[1]
    own_out, own_v = out.view(-1, block.query_length, size), v.view(-1, block.length, size)
    if pv is None:
        torch.bmm(_own(weight, block), own_v, out=own_out)
        return
    torch.bmm(weight[:, :, : pv.shape[1]], pv, out=out.view(len(pv), -1, size))
    own_out.baddbmm_(_own(weight, block), own_v)


def _sum_back(weight: Tensor, rows: Tensor, block: Block, own: Tensor, prefix: Tensor | None) -> None:
    """The transpose of `_average`: what every query passes back, into `own` and added to `prefix`."""
    size = rows.shape[1]
    own_rows = rows.view(-1, block.query_length, size)
    torch.bmm(_own(weight, block).transpose(1, 2), own_rows, out=own.view(-1, block.length, size))
    if prefix is not None:
        heads, width = prefix.shape[:2]
        prefix += torch.bmm(weight[:, :, :width].transpose(1, 2), rows.view(heads, -1, size))
