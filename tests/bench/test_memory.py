"""Memory as the system tells it."""

import os
from pathlib import Path

import numpy as np
import pytest

from arcf.bench.memory import held

MEGABYTES = 64_000_000


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="asks Linux")
def test_what_is_written_is_own_and_what_is_mapped_is_not(tmp_path: Path) -> None:
    np.zeros(MEGABYTES, np.uint8).tofile(tmp_path / "file")
    before = held()
    mapped = np.memmap(tmp_path / "file", np.uint8, "r")
    assert mapped.sum() == 0
    read = held(os.getpid())
    written = np.ones(MEGABYTES, np.uint8)
    after = held()
    assert before is not None
    assert read is not None
    assert after is not None
    assert read.mapped - before.mapped == pytest.approx(MEGABYTES, rel=0.1)
    assert read.own - before.own < 0.1 * MEGABYTES
    assert after.own - read.own == pytest.approx(written.nbytes, rel=0.1)


def test_a_process_that_is_not_there() -> None:
    assert held(2**30) is None
