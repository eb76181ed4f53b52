"""A run: for every question, the facts that a system ranked, best first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arcf.types import Dataset, Ranking


@dataclass(frozen=True)
class Run:
    """A system's rankings: the uids for every question id, best first, each uid once."""

    name: str
    rankings: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rankings", MappingProxyType(dict(self.rankings)))

    @classmethod
    def of(cls, name: str, dataset: Dataset, rankings: Iterable[Ranking]) -> "Run":
        """A run of rankings as they are made, without a file."""
        facts = dataset.facts
        return cls(
            name, {ranking.question_id: tuple(facts[fact].uid for fact in ranking.facts) for ranking in rankings}
        )
