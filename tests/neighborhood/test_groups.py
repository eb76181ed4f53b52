import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcf.neighborhood.groups import group

KEYS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), max_size=12)


@given(KEYS)
def test_groups_are_numbered_by_their_first_fact(keys: list[str | None]) -> None:
    groups = group(keys)
    distinct = list(dict.fromkeys(key for key in keys if key is not None))
    assert [keys[fact] for fact in groups.first] == distinct
    assert [groups.of(fact) for fact in range(len(keys))] == [
        None if key is None else distinct.index(key) for key in keys
    ]


@given(KEYS, st.integers(0, 14), st.data())
def test_both_ways_to_the_nearest_equal_a_sort(keys: list[str | None], k: int, data: st.DataObject) -> None:
    groups = group(keys)
    values = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4)))[
        : len(groups.first)
    ]
    source = data.draw(st.sampled_from(["text", *range(len(keys))]))
    each = groups.spread(values, missing=9.0).tolist()
    expected = sorted((value, fact) for fact, value in enumerate(each) if value < 9.0 and fact != source)[:k]
    assert groups.nearest(values, source, k).tolist() == [fact for _, fact in expected]
    everyone = np.arange(len(values))[::-1]
    assert groups.nearest_among(everyone, values[::-1], source, k).tolist() == [fact for _, fact in expected]
