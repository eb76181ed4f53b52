import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcf.scorer.ragged import Ragged, within

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=6)


@given(ROWS, st.data())
def test_take_is_indexing_row_by_row(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(-1, len(rows) - 1), max_size=8))
    taken = Ragged.of(rows).take(np.array(chosen, dtype=np.int64))
    assert [row.tolist() for row in map(taken.__getitem__, range(len(taken)))] == [rows[index] for index in chosen]


@given(ROWS)
def test_within_counts_every_row_from_zero(rows: list[list[int]]) -> None:
    ragged = Ragged.of(rows)
    assert within(ragged.lengths).tolist() == [place for row in rows for place in range(len(row))]


def test_no_rows() -> None:
    empty = Ragged.of([])
    assert len(empty) == 0
    assert within(empty.lengths).tolist() == []


@given(ROWS, ROWS)
def test_concatenation_puts_rows_after_rows(first: list[list[int]], second: list[list[int]]) -> None:
    joined, expected = Ragged.concatenate([Ragged.of(first), Ragged.of(second)]), Ragged.of(first + second)
    assert joined.tokens.tolist() == expected.tokens.tolist()
    assert joined.offsets.tolist() == expected.offsets.tolist()
