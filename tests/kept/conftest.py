from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(empty_cache: Path) -> Path:
    return empty_cache
