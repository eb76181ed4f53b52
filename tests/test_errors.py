import copy
import pickle
from pathlib import Path

import pytest

from arcf import errors
from arcf.errors import ArcfError, ArcfWarning, InputError, MissingExtraError, SettingError, UnknownNameError


@pytest.mark.parametrize(
    ("path", "line", "message"),
    [
        (None, None, "is odd."),
        ("x.txt", None, "x.txt: is odd."),
        (Path("a/x.txt"), 3, "a/x.txt:3: is odd."),
    ],
)
def test_input_errors_begin_with_their_place(path: Path | str | None, line: int | None, message: str) -> None:
    assert str(InputError("is odd.", path, line)) == message


def test_unknown_names_offer_the_nearest_and_all() -> None:
    error = UnknownNameError("split", "tets", ["train", "test"])
    assert str(error) == "There is no split named 'tets'; choose one of: test, train. Did you mean 'test'?"
    assert str(UnknownNameError("split", "x", [])) == "There is no split named 'x'; there is none."


def test_a_name_is_not_compared_with_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "COMPARED", 1)
    assert str(UnknownNameError("fact", "tets", ["train", "test"])).endswith("choose one of: test, train.")


def test_a_missing_extra_prints_the_command() -> None:
    assert "pip install 'arcf[plot]'" in str(MissingExtraError("Drawing", "plot"))


@pytest.mark.parametrize(
    "error",
    [
        InputError("is odd.", "x.txt", 3),
        SettingError("It cannot be 0."),
        UnknownNameError("split", "tets", ["train", "test"]),
        MissingExtraError("Drawing", "plot"),
    ],
)
def test_errors_travel_between_processes(error: ArcfError) -> None:
    error.more = "an attribute"  # type: ignore[attr-defined]
    for found in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own
        assert (type(found), str(found), found.args) == (type(error), str(error), error.args)
        assert found.more == "an attribute"


def test_one_tree() -> None:
    found = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert all(issubclass(kind, ArcfError) or kind is ArcfWarning for kind in found)
