import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.data.record import Record, json_lines
from arcf.errors import InputError


def record(**fields: object) -> Record:
    return Record(fields, "f.jsonl", 7)


def test_strings_are_squeezed_and_numbers_taken_as_written() -> None:
    assert record(text="  two\n\twords ").string("text") == "two words"
    assert record(uid=12).string("uid") == "12"
    assert record(uid=0).string("uid") == "0"
    assert record(uid=None, id="x").string("uid", "id") == "x"
    assert record().string("uid") == ""


@pytest.mark.parametrize("value", [True, 1.5, ["x"], {"x": 1}])
def test_other_values_are_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"^f\.jsonl:7: 'text' should be text, found "):
        record(text=value).string("text")


@pytest.mark.parametrize("fields", [{}, {"text": ""}, {"text": " \n"}, {"text": None}])
def test_required_fields_hold_something(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"^f\.jsonl:7: has no 'stem' or 'text'\.$"):
        record(**fields).required("stem", "text")


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers())), st.booleans())
def test_json_lines_round_trip(objects: list[dict[str, object]], ascii_only: bool) -> None:
    text = "\n\n".join(json.dumps(fields, ensure_ascii=ascii_only) for fields in objects)
    assert [found.fields for found in json_lines(text, "x")] == objects


def test_line_numbers_count_blank_lines_and_only_real_line_ends() -> None:
    lines = [found.line for found in json_lines('{"a": "\u2028"}\r\n\n{"b": 1}\n', "x")]
    assert lines == [1, 3]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"a": ', "is not JSON"),
        ("[1, 2]", "should be a JSON object"),
        ('{"a": "\\ud800"}', "cannot be written as UTF-8"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_bad_lines_are_named(line: str, complaint: str) -> None:
    with pytest.raises(InputError, match=rf"^x:2: .*{complaint}"):
        list(json_lines(f"{{}}\n{line}\n", "x"))


def test_a_pair_of_surrogates_is_a_character() -> None:
    (found,) = json_lines('{"a": "\\ud83d\\ude00"}', "x")
    assert found.fields == {"a": "\N{GRINNING FACE}"}
