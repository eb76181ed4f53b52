"""Functions on a real cluster."""

import os

import pytest

from arcf.cluster import RayExecutor
from arcf.data import load
from arcf.errors import InputError

pytest.importorskip("ray")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore:::ray")]


@pytest.mark.usefixtures("cluster")
def test_results_failures_and_deaths() -> None:
    with RayExecutor() as executor:
        assert executor.size >= 2
        done, failed, dead = executor.submit(len, "abc"), executor.submit(load, "no.txt"), executor.submit(os._exit, 1)
        assert done.result(120) == 3
        with pytest.raises(InputError, match=r"^Node .*no\.txt"):
            failed.result(120)
        with pytest.raises(InputError, match=r"^A job died with its worker 4 times \("):
            dead.result(120)
