from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood import Analyzer
from arcf.neighborhood.terms import TermCounts, count_terms

TEXTS = st.lists(
    st.lists(st.sampled_from(["ice", "water", "heat", "bird", "the", "7"]), max_size=6).map(" ".join), max_size=6
)


@given(TEXTS, TEXTS)
def test_counts_equal_a_plain_counter(facts: list[str], questions: list[str]) -> None:
    analyzer = Analyzer()
    counted = count_terms(facts, analyzer).with_questions(questions, analyzer)
    rows = [Counter(analyzer.terms(text)) for text in facts]
    asked = [Counter(analyzer.terms(text)) for text in questions]
    assert tuple(counted.vocabulary) == tuple(dict.fromkeys(term for row in rows for term in row))
    assert counted.documents == len(facts) + len(questions)
    for index, row in enumerate(rows):
        dense = counted.rows.csr()[[index]].toarray()[0]
        assert {term: count for term, count in zip(counted.vocabulary, dense, strict=True) if count} == row
    expected = [sum(term in row for row in rows + asked) for term in counted.vocabulary]
    assert counted.document_frequency.tolist() == expected


@given(TEXTS)
def test_state_and_back(facts: list[str]) -> None:
    counted = count_terms(facts, Analyzer())
    state = counted.state()
    assert not any(array.dtype.hasobject for array in state.values())
    again = TermCounts.restore(state)
    assert (list(again.vocabulary), again.documents) == (list(counted.vocabulary), counted.documents)
    assert np.array_equal(again.rows.csr().toarray(), counted.rows.csr().toarray())
    assert np.array_equal(again.document_frequency, counted.document_frequency)


def test_indices_take_four_bytes() -> None:
    assert count_terms(["ice melts", "water flows"], Analyzer()).rows.terms.dtype == np.int32
