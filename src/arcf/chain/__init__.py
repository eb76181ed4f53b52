"""Algorithm 1 of the paper: chains of facts, and the search for them."""

from arcf.chain.beam import BeamSearch
from arcf.chain.search import ChainSearch, ChainSettings, SearchResult, result_of

__all__ = ["BeamSearch", "ChainSearch", "ChainSettings", "SearchResult", "result_of"]
