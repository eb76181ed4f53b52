from pathlib import Path

import pytest

from arcf.kept import keeping


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in which everything is kept."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(keeping, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(keeping, "WORTH_FACTS", 0)
    return tmp_path / "cache"
