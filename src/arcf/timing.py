"""What was loaded, from where, and how long it took, as messages of `logging`: `arcf -v` shows them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


@contextmanager
def logged(logger: logging.Logger, message: str, *values: object) -> Iterator[None]:
    """Log a message at the level INFO, with the seconds that the block took, when it has ended well."""
    began = perf_counter()
    yield
    logger.info(f"{message} in %.2f s", *values, perf_counter() - began)
