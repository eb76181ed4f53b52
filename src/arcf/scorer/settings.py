"""What a model was trained with and is run with: one record, which its config.json carries."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from arcf.errors import SettingError
from arcf.types import QUERY_FORMS, QueryForm

LEAD = "arcf_"
"""Before the names in config.json, where transformers keeps its own."""


@dataclass(frozen=True, slots=True)
class ScorerSettings:
    """The settings of a trained scorer.

    `encoding`: how it reads a prefix and a candidate; None for a model that arcf has not trained. `prior`: what the
    words that a candidate shares with the prefix weigh in its score; see `scorer.prior`. `similarity`: what the cosine
    of prefix and candidate weighs; see `scorer.network.prefix_first`. `query`: the form of the questions that it has
    learnt from. `read_ahead`: s, the layers of a candidate that see no prefix, in the late encoding; see
    `scorer.network.late`. `dense`: what the cosine of the vectors of an untrained encoder weighs; see
    `scorer.dense_prior`. `untrained`: that encoder, by its name or folder; an export has it in its own folder.
    `precedents`: what the explanations of questions like the one that is asked weigh, where a corpus has any; see
    `scorer.precedents`.
    """

    encoding: str | None = None
    prior: float = 0.0
    similarity: float = 0.0
    query: QueryForm = "answer"
    read_ahead: int = 0
    dense: float = 0.0
    untrained: str = ""
    precedents: float = 0.0

    def __post_init__(self) -> None:
        if self.query not in QUERY_FORMS:
            raise SettingError(
                f"The model has learnt from questions in the form '{self.query}', which this arcf does not know; "
                f"it knows {', '.join(QUERY_FORMS)}."
            )

        if self.read_ahead < 0:
            raise SettingError(f"read_ahead must be at least 0, not {self.read_ahead}.")

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Self:
        """The settings that the content of a config.json holds; what it lacks is as in models before it was known."""
        names = (entry.name for entry in fields(cls))
        return cls(**{name: config[LEAD + name] for name in names if config.get(LEAD + name) is not None})

    def to_config(self) -> dict[str, Any]:
        """The entries of a config.json."""
        return {LEAD + name: value for name, value in asdict(self).items()}
