"""Algorithm 1 of the paper: chains of facts, and the search for them."""

from arcf.chain.beam import BeamSearch
from arcf.chain.confidence import Calibration, Evidence, load_calibration
from arcf.chain.search import ChainSearch, ChainSettings, SearchResult, result_of

__all__ = [
    "BeamSearch",
    "Calibration",
    "ChainSearch",
    "ChainSettings",
    "Evidence",
    "SearchResult",
    "load_calibration",
    "result_of",
]
