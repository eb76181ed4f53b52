"""Keeping freed memory in the process, for training on CPUs.

glibc gives large freed buffers back to the system at once; every step of training then touches fresh pages, and a page
fault costs more on a virtual machine than the arithmetic on the page.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3


def keep_pages(pad_bytes: int = 256 << 20) -> bool:
    """Tell malloc to keep freed pages, for the rest of the process; True if it agreed.

    The heap grows by `pad_bytes` at a time and never shrinks; buffers of up to 1 GiB come from it instead of from pages
    of their own. Does nothing where the C library is not glibc. With another allocator preloaded (jemalloc), glibc is
    told and nobody listens.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    kept = mallopt(_M_TRIM_THRESHOLD, (1 << 31) - 1) and mallopt(_M_TOP_PAD, pad_bytes)
    # Older versions refuse more than 32 MiB here.
    return bool(kept and (mallopt(_M_MMAP_THRESHOLD, 1 << 30) or mallopt(_M_MMAP_THRESHOLD, 32 << 20)))
