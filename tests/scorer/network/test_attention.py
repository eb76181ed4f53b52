import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from arcf.scorer.network.attention import KeysValues, attend
from arcf.scorer.network.plan import Layout, Plan, make_plan
from arcf.scorer.relative import BUCKETS

HEADS, SIZE = 2, 3
CPU = torch.device("cpu")
LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def layout_of(prefixes: list[int], groups: list[list[int]]) -> Layout:
    lengths = [length for group in groups for length in group]
    return Layout(
        np.cumsum([0, *lengths]), np.cumsum([0, *prefixes]), np.array([len(group) for group in groups], dtype=np.int64)
    )


def rows(count: int) -> Tensor:
    return torch.randn(count, HEADS * SIZE, dtype=torch.float64)


def table() -> Tensor:
    return torch.randn(BUCKETS, HEADS, dtype=torch.float64)


def plain(query: Tensor, own: KeysValues, layout: Layout, prefix: KeysValues, bias: Tensor) -> Tensor:
    """Sequence by sequence and head by head, as the definition says."""
    assert layout.counts is not None
    assert layout.prefix_offsets is not None
    owner = np.repeat(np.arange(len(layout.counts)), layout.counts)
    outputs = []
    for number, group in enumerate(owner):
        mine = slice(layout.offsets[number], layout.offsets[number + 1])
        its = slice(layout.prefix_offsets[group], layout.prefix_offsets[group + 1])
        keys, values = torch.cat([prefix.keys[its], own.keys[mine]]), torch.cat([prefix.values[its], own.values[mine]])
        positions = torch.arange(len(keys))
        offsets = positions[None, :] - positions[its.stop - its.start :, None]
        added = bias[MPNetEncoder.relative_position_bucket(offsets)]  # (queries, keys, heads)
        heads = []
        for head in range(HEADS):
            part = slice(head * SIZE, (head + 1) * SIZE)
            scores = query[mine][:, part] @ keys[:, part].T / SIZE**0.5 + added[:, :, head]
            heads.append(scores.softmax(-1) @ values[:, part])
        outputs.append(torch.cat(heads, 1))
    return torch.cat(outputs)


@pytest.mark.parametrize("biased", [False, True])
@settings(deadline=None)
@given(shape=st.lists(st.tuples(st.integers(1, 8), LENGTHS), min_size=1, max_size=3))
def test_equals_the_definition(biased: bool, shape: list[tuple[int, list[int]]]) -> None:
    torch.manual_seed(0)
    layout = layout_of([prefix for prefix, _ in shape], [lengths for _, lengths in shape])
    count = int(layout.offsets[-1])
    query, own = rows(count), KeysValues(rows(count), rows(count))
    prefix = KeysValues(*(rows(sum(length for length, _ in shape)) for _ in range(2)))
    bias = table() if biased else None
    expected = plain(query, own, layout, prefix, torch.zeros(BUCKETS, HEADS) if bias is None else bias)
    torch.testing.assert_close(attend(query, own, make_plan(layout, HEADS, CPU, bias), prefix), expected)
    first = make_plan(layout, HEADS, CPU, bias, first_only=True)
    starts = torch.from_numpy(layout.offsets[:-1])
    torch.testing.assert_close(attend(query[starts], own, first, prefix), expected[starts])


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("with_prefix", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_gradients_agree_with_finite_differences(biased: bool, with_prefix: bool, first_only: bool) -> None:
    torch.manual_seed(0)
    layout = layout_of([2, 3], [[4, 5, 1], [2]]) if with_prefix else Layout(np.array([0, 4, 9, 10, 12]))
    counts = [4 if first_only else 12, 12, 12, *([5, 5] if with_prefix else [])]
    inputs = [table().requires_grad_(biased), *(rows(count).requires_grad_() for count in counts)]

    def run(bias: Tensor, query: Tensor, key: Tensor, value: Tensor, *prefix: Tensor) -> Tensor:
        plan = make_plan(layout, HEADS, CPU, bias if biased else None, first_only=first_only)
        return attend(query, KeysValues(key, value), plan, KeysValues(*prefix) if prefix else None)

    assert torch.autograd.gradcheck(run, inputs)


def test_the_gradient_of_the_bias_is_that_of_autograd() -> None:
    """Over distances that share buckets, and with several sequences of one prefix in a block."""
    torch.manual_seed(0)
    layout = layout_of([150, 3], [[12, 12, 11, 40], [2]])
    count = int(layout.offsets[-1])
    query, own, prefix = rows(count), KeysValues(rows(count), rows(count)), KeysValues(rows(153), rows(153))
    weights, bias = rows(count), table().requires_grad_()
    outputs = plain(query, own, layout, prefix, bias), attend(query, own, make_plan(layout, HEADS, CPU, bias), prefix)
    gradients = [torch.autograd.grad((output * weights).sum(), bias)[0] for output in outputs]
    torch.testing.assert_close(*gradients)
    assert (gradients[0] != 0).all(1).sum() > 25  # buckets


def test_a_frozen_bias_gets_no_gradient() -> None:
    bias = table()
    query = rows(5).requires_grad_()
    plan = make_plan(Layout(np.array([0, 5])), HEADS, CPU, bias)
    attend(query, KeysValues(rows(5), rows(5)), plan).sum().backward()
    assert query.grad is not None
    assert bias.grad is None


def one_sequence(dropout: float, values: Tensor) -> Tensor:
    plan: Plan = make_plan(Layout(np.array([0, len(values)])), HEADS, CPU)
    zeros = torch.zeros_like(values)
    return attend(zeros, KeysValues(zeros, values), plan, dropout=dropout)


def test_dropout_drops_weights_and_keeps_their_mean() -> None:
    torch.manual_seed(0)
    values = torch.ones(200, HEADS * SIZE, dtype=torch.float64)
    output = one_sequence(0.5, values)
    assert output.std() > 0.01
    assert abs(float(output.mean()) - 1) < 0.02


def test_dropout_passes_back_what_it_let_through() -> None:
    """The output is linear in the values, so value times gradient is the output again: the same mask both ways."""
    torch.manual_seed(0)
    values = rows(20).requires_grad_()
    total = one_sequence(0.3, values).sum()
    total.backward()
    assert values.grad is not None
    torch.testing.assert_close((values.grad * values).sum(), total)
