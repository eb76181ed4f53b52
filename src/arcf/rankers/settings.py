"""A ranker as plain values: what an experiment records, and what another process builds the same ranker from."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from arcf.chain import ChainSettings
from arcf.config import make
from arcf.errors import SettingError
from arcf.scorer import model_identity, packaged_model
from arcf.types import QUERY_FORMS, QueryForm


@dataclass(frozen=True, slots=True)
class Tiers:
    """What follows the chain in the ranking; without a tier, its facts are left out (the paper's ablations).

    `scored` (S2): facts that were scored but not chosen, by score. `rest` (R3): facts that were never visible, by
    their distance from the question and the chain.
    """

    scored: bool = True
    rest: bool = True


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The description of a ranker.

    `kind`: a name of `RANKERS`. `model`: a folder, or a name on the Hugging Face hub; None: the packaged one.
    `distance`: what makes facts visible. `query`: the form in which questions are asked; None: as the model has learnt
    it, with the answer if there is no model. `chain`: how chains are searched for. `tiers`: what is ranked. `device`
    and `threads`: where a model runs, which changes no result beyond rounding.
    """

    kind: str = "arcf"
    model: str | None = None
    distance: str = "tfidf"
    query: QueryForm | None = None
    chain: ChainSettings = field(default_factory=ChainSettings)
    tiers: Tiers = field(default_factory=Tiers)
    device: str = "auto"
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.query is not None and self.query not in QUERY_FORMS:
            raise SettingError(f"The form of a query is one of {', '.join(QUERY_FORMS)}, not '{self.query}'.")
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"The number of threads is at least 1, not {self.threads}.")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings that `to_dict` made plain values of.

        Raises:
            UnknownNameError: there is no such setting.
            SettingError: a value that cannot be.
        """
        return make(cls, values)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def identity(self) -> dict[str, Any]:
        """All that decides a ranking: the model by its files instead of its name, and not where it runs."""
        values = self.to_dict()
        del values["device"], values["threads"]
        return values | {"model": model_identity(self.model or packaged_model())}
