import platform
import sys

import pytest

from arcf.training.memory import keep_pages


def test_glibc_agrees() -> None:
    assert keep_pages() is (platform.libc_ver()[0] == "glibc")


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_pages() is False
