import logging

import pytest

from arcf.timing import logged

LOGGER = logging.getLogger("arcf.test")


def test_what_was_done_and_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "arcf"), logged(LOGGER, "read %s", "100% of it"):
        assert not caplog.messages
    assert caplog.messages == ["read 100% of it in 0.00 s"]


def test_what_failed_was_not_done(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "arcf"), pytest.raises(OSError, match="gone"), logged(LOGGER, "read it"):
        raise OSError("gone")
    assert not caplog.messages
