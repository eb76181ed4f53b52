import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from arcf.scorer.network.attention import KeysValues, attend
from arcf.scorer.network.plan import Layout, Plan, make_plan

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


def plain(query: Tensor, own: KeysValues, layout: Layout, prefix: KeysValues) -> Tensor:
    """Sequence by sequence and head by head, as the definition says."""
    assert layout.counts is not None
    assert layout.prefix_offsets is not None
    owner = np.repeat(np.arange(len(layout.counts)), layout.counts)
    outputs = []
    for number, group in enumerate(owner):
        mine = slice(layout.offsets[number], layout.offsets[number + 1])
        its = slice(layout.prefix_offsets[group], layout.prefix_offsets[group + 1])
        keys, values = torch.cat([prefix.keys[its], own.keys[mine]]), torch.cat([prefix.values[its], own.values[mine]])
        heads = []
        for head in range(HEADS):
            part = slice(head * SIZE, (head + 1) * SIZE)
            weights = (query[mine][:, part] @ keys[:, part].T / SIZE**0.5).softmax(-1)
            heads.append(weights @ values[:, part])
        outputs.append(torch.cat(heads, 1))
    return torch.cat(outputs)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 8), LENGTHS), min_size=1, max_size=3))
def test_equals_the_definition(shape: list[tuple[int, list[int]]]) -> None:
    torch.manual_seed(0)
    layout = layout_of([prefix for prefix, _ in shape], [lengths for _, lengths in shape])
    count = int(layout.offsets[-1])
    query, own = rows(count), KeysValues(rows(count), rows(count))
    prefix = KeysValues(*(rows(sum(length for length, _ in shape)) for _ in range(2)))
    expected = plain(query, own, layout, prefix)
    torch.testing.assert_close(attend(query, own, make_plan(layout, HEADS, CPU), prefix), expected)
    first = make_plan(layout, HEADS, CPU, first_only=True)
    starts = torch.from_numpy(layout.offsets[:-1])
    torch.testing.assert_close(attend(query[starts], own, first, prefix), expected[starts])


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("with_prefix", [False, True])
def test_gradients_agree_with_finite_differences(with_prefix: bool, first_only: bool) -> None:
    torch.manual_seed(0)
    layout = layout_of([2, 3], [[4, 5, 1], [2]]) if with_prefix else Layout(np.array([0, 4, 9, 10, 12]))
    plan = make_plan(layout, HEADS, CPU, first_only=first_only)
    counts = [4 if first_only else 12, 12, 12, *([5, 5] if with_prefix else [])]
    inputs = [rows(count).requires_grad_() for count in counts]

    def run(query: Tensor, key: Tensor, value: Tensor, *prefix: Tensor) -> Tensor:
        return attend(query, KeysValues(key, value), plan, KeysValues(*prefix) if prefix else None)

    assert torch.autograd.gradcheck(run, inputs)


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
