"""Explain answers with chains of facts.

import arcf

explainer = arcf.load()
print(explainer.explain("Which process turned the ice cube to water?", answer="melting"))
"""

from typing import TYPE_CHECKING, Any

from arcf.errors import ArcfError, ArcfWarning
from arcf.types import Chain, Dataset, Fact, Gold, Option, Question, RankedFact, Ranking, Step

if TYPE_CHECKING:
    __version__: str
    from arcf.chain import ChainSettings
    from arcf.explainer import Explainer, load
    from arcf.explanation import Explanation

__all__ = [
    "ArcfError",
    "ArcfWarning",
    "Chain",
    "ChainSettings",
    "Dataset",
    "Explainer",
    "Explanation",
    "Fact",
    "Gold",
    "Option",
    "Question",
    "RankedFact",
    "Ranking",
    "Step",
    "__version__",
    "load",
]

#: Names whose modules import much: they are looked up when first used, so that the command line starts at once.
_LATER = {
    "ChainSettings": "arcf.chain",
    "Explainer": "arcf.explainer",
    "Explanation": "arcf.explanation",
    "load": "arcf.explainer",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("arcf")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
