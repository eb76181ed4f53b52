"""How much an experiment may cost: the settings that the paper's systems are made with.

A budget is a TOML file of `presets/budget`. `[training]` changes the training preset that it names; `[second_training]`
and `[second_model]` change that for the second dataset, `[single_fact]` and `[path_rerank]` for the two baselines.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arcf.config import make, merged, presets
from arcf.errors import SettingError
from arcf.rankers import RankerSettings
from arcf.registry import pick
from arcf.training.samplers import Conditioning
from arcf.training.settings import TrainingSettings

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second, as far as they can be known before: estimates are made with them, and nothing else."""

    training: float = 1000.0
    inference: float = 4000.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The means of an experiment.

    `preset`: the training preset that it starts from. `main` and `second`: the datasets of 2020 and 2019 (None: only
    one). `questions`: how many of the `split` are ranked, a fixed sample; None: all. `held_out`: how many held-out
    training questions an ensemble's weights are chosen on. `seeds`: how many of the systems `seeded` are trained.
    `timed`: questions that a time is the mean over. `examples`: ids of questions whose rankings are shown. `precision`:
    that of the exported models which rank; None: torch ranks. `tiny`: models begin as tiny random ones.
    """

    name: str
    preset: str
    main: str
    second: str | None = None
    split: str = "dev"
    questions: int | None = None
    held_out: int = 200
    seeds: int = 1
    seeded: tuple[str, ...] = ("ranknet", "single-fact")
    timed: int = 10
    examples: tuple[str, ...] = ()
    precision: str | None = None
    tiny: bool = False
    conditioning: Conditioning = field(default_factory=Conditioning)
    ranker: RankerSettings = field(default_factory=RankerSettings)
    speed: Speed = field(default_factory=Speed)
    changes: Mapping[str, Values] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("seeds", "timed", "held_out"):
            if getattr(self, name) < 1:
                raise SettingError(f"The setting {name} of a budget is at least 1, not {getattr(self, name)}.")

    def training(self, base: str, dataset: str, seed: int, change: Values) -> TrainingSettings:
        """The training settings of a system: those of `base` ("", "single_fact" or "path_rerank"), changed."""
        values = tomllib.loads(pick(presets(TrainingSettings), self.preset, "preset"))
        # Conditioning is what one system has and another has not: none unless a system asks for it.
        values = merged(values, {"sampling": {"conditioning": "none"}})
        for section in ("training", *(["second_training"] if dataset == self.second else []), base):
            values = merged(values, self.changes.get(section, {}))
        if dataset == self.second:
            values = merged(values, {"model": self.changes.get("second_model", {})})
        own = {"data": {"dataset": dataset}, "run": {"seed": seed}}
        return make(TrainingSettings, merged(merged(values, own), change))


CHANGES = ("training", "second_training", "second_model", "single_fact", "path_rerank")


def read_budget(name: str) -> Budget:
    """The budget of that name.

    Raises:
        UnknownNameError: there is none.
    """
    values = tomllib.loads(pick(presets(Budget), name, "budget"))
    changes = {section: values.pop(section, {}) for section in CHANGES}
    return Budget(name=name, changes=changes, **_fields(values))


def _fields(values: Values) -> Values:
    """The fields of a budget from TOML: sections become records, lists become tuples."""
    records: dict[str, type[Any]] = {"conditioning": Conditioning, "ranker": RankerSettings, "speed": Speed}
    made: Values = {}
    for key, value in values.items():
        if key in records:
            made[key] = make(records[key], value, f"{key}.")
        else:
            made[key] = tuple(value) if isinstance(value, list) else value
    return made
