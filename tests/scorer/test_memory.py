import sys

import pytest

from arcf.scorer.memory import keep_pages


def test_glibc_agrees() -> None:
    assert keep_pages() in ((True, False) if sys.platform == "linux" else (False,))


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_pages() is False
