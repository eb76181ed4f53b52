"""A ranker as plain values: what an experiment records, and what another process builds the same ranker from."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from arcf.chain import ChainSettings
from arcf.config import make
from arcf.errors import SettingError
from arcf.rankers.fusion import FUSIONS, check_weights
from arcf.registry import pick
from arcf.scorer import model_identity, packaged_model
from arcf.types import QUERY_FORMS, QueryForm


@dataclass(frozen=True, slots=True)
class Tiers:
    """What follows the chain in the ranking; without a tier, its facts are left out (the paper's ablations).

    `scored` (S2): facts that were scored but not chosen, by score, and those that were visible but not worth a scoring,
    by what they promised. `rest` (R3): facts that were never visible, by their distance from the question and the
    chain.
    """

    scored: bool = True
    rest: bool = True


@dataclass(frozen=True, slots=True)
class PathSettings:
    """The chains of a path re-ranker.

    They begin with the `retrieved` (T) facts nearest to the question and have up to `max_facts` (C) facts, 1 or 2. Of
    the facts that share a word with the first one, the `linked` that share the most follow it; None: all of them.
    """

    retrieved: int = 50
    max_facts: int = 2
    linked: int | None = None

    def __post_init__(self) -> None:
        if self.retrieved < 1 or self.max_facts not in (1, 2) or (self.linked is not None and self.linked < 1):
            raise SettingError(
                "Paths take retrieved and linked from 1 on, and max_facts 1 or 2, not "
                f"{self.retrieved}, {self.linked} and {self.max_facts}."
            )


@dataclass(frozen=True, slots=True)
class EnsembleSettings:
    """Rankers that are asked together.

    Each of the `members` is the name of a ranker, or NAME:MODEL with a model of its own. `method`: a name of `FUSIONS`.
    `weights`: one for each member; without any, all weigh the same.
    """

    members: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    method: str = "scores"

    def __post_init__(self) -> None:
        pick(FUSIONS, self.method, "way to fuse")
        check_weights(self.weights, len(self.members))

    def split(self) -> tuple[tuple[str, str | None], ...]:
        """The members as names and, where they have one of their own, models."""
        parts = (member.partition(":") for member in self.members)
        return tuple((kind.strip(), model.strip() or None) for kind, _, model in parts)


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The description of a ranker.

    `kind`: a name of `RANKERS`. `model`: a folder, or a name on the Hugging Face hub; None: the packaged one.
    `distance`: what makes facts visible; its embeddings are those of the model's own encoder, if it has one. `query`:
    the form in which questions are asked; None: as the model has learnt it, with the answer if there is no model.
    `chain`: how chains are searched for. `tiers`: what is ranked. `device` and `threads`: where a model runs, which
    changes no result beyond rounding. `retrieved`: how many facts are scored alone, the nearest ones; None: all.
    `paths`: the chains of a path re-ranker. `ensemble`: its members. `vectors`: whether those of all facts tell which
    are worth a score, for a model with a dense prior; None: if they are few, or kept. See `rankers.screening`.
    `precedents`: whether explained questions of the dataset are gone by, with a model that gives them a weight.
    """

    kind: str = "arcf"
    model: str | None = None
    distance: str = "tfidf"
    query: QueryForm | None = None
    chain: ChainSettings = field(default_factory=ChainSettings)
    tiers: Tiers = field(default_factory=Tiers)
    device: str = "auto"
    threads: int | None = None
    retrieved: int | None = None
    paths: PathSettings = field(default_factory=PathSettings)
    ensemble: EnsembleSettings = field(default_factory=EnsembleSettings)
    vectors: bool | None = None
    precedents: bool = True

    def __post_init__(self) -> None:
        if self.query is not None and self.query not in QUERY_FORMS:
            raise SettingError(f"The form of a query is one of {', '.join(QUERY_FORMS)}, not '{self.query}'.")
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"The number of threads is at least 1, not {self.threads}.")
        if self.retrieved is not None and self.retrieved < 1:
            raise SettingError(f"At least 1 fact is retrieved, not {self.retrieved}.")

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
        models = [model_identity(model) for _, model in self.ensemble.split() if model]
        values |= {"members": models} if models else {}
        return values | {"model": model_identity(self.model or packaged_model())}
