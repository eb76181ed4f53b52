"""How many threads there are to work with."""

import os


def usable_threads() -> int:
    """OMP_NUM_THREADS, if it is set to a number; otherwise as many as this process may use processors."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
