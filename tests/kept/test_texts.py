"""Texts as arrays: the same texts, and found where they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.kept import texts as module
from arcf.kept.texts import PackedTexts, Places, digest_of

TEXTS = st.lists(st.text(st.characters(), max_size=4), max_size=12)


@given(TEXTS, st.integers(-14, 14), st.slices(12))
def test_as_a_list_of_texts(texts: list[str], place: int, part: slice) -> None:
    packed = PackedTexts.of_arrays(PackedTexts.of(texts).arrays("name"), "name")
    assert len(packed) == len(texts)
    assert list(packed) == texts
    assert packed[part] == tuple(texts[part])
    if -len(texts) <= place < len(texts):
        assert packed[place] == texts[place]
    else:
        with pytest.raises(IndexError):
            packed[place]


@given(TEXTS, TEXTS)
def test_the_digest_tells_them_apart(first: list[str], second: list[str]) -> None:
    packed = PackedTexts.of_arrays(PackedTexts.of(first).arrays("name"), "name")
    assert digest_of(packed) == digest_of(first)
    assert (digest_of(first) == digest_of(second)) == (first == second)


def test_more_than_are_decoded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 3)
    texts = [str(number) * (number % 4) for number in range(10)]
    assert list(PackedTexts.of(texts)) == texts


@given(st.lists(st.text(st.characters(), max_size=4), unique=True, max_size=12), st.text(max_size=4))
def test_places(texts: list[str], other: str) -> None:
    packed = PackedTexts.of(texts)
    places = Places.of_arrays(packed, Places.of(packed).arrays("name"), "name")
    assert dict(places) == {text: place for place, text in enumerate(texts)}
    assert places.get(other) == (texts.index(other) if other in texts else None)


def test_texts_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_hash", lambda text: len(text))
    places = Places.of(PackedTexts.of(["aa", "b", "cc", "dd"]))
    assert [places.get(text) for text in ("aa", "b", "cc", "dd", "ee", "")] == [0, 1, 2, 3, None, None]
