"""The settings of a training run, as the sections of a configuration file name them.

Names are looked up here, so that a mistake in one is told before anything slow or lasting happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

import torch

from arcf.errors import SettingError
from arcf.neighborhood import recipe
from arcf.pretrained.location import MINILM
from arcf.registry import pick
from arcf.scorer.network.late import Late
from arcf.scorer.network.scorer import ENCODINGS
from arcf.scorer.settings import ScorerSettings
from arcf.training.figures import CHOICES
from arcf.training.losses import DISTILLATIONS, LOSSES
from arcf.training.samplers import SAMPLERS, Sampling, Unlabelled


def _require(condition: bool, rule: str) -> None:
    if not condition:
        raise SettingError(rule)


def _lasting(name: str) -> str:
    """The name of a model, wherever a command is given: a folder by its whole path."""
    return str(Path(name).resolve()) if Path(name).is_dir() else name


def _is_device(name: str) -> bool:
    try:
        return name == "auto" or bool(torch.device(name))
    except RuntimeError:
        return False


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model that is trained.

    `name`: a folder or a name on the Hugging Face hub. `encoding`: shared_prefix, late or joint. `dropout` replaces the
    model's own, None keeps it. `frozen_layers`: the embeddings and so many layers after them stay as they are;
    None trains everything. 0 saves half of a small model's optimiser state and protects words that training never
    shows; more keeps more of what was known, and trains faster. `prior`: the weight of the words that a
    candidate shares with the prefix, which the model's own score is added to; see `scorer.prior`. `similarity`: the
    weight of the cosine of prefix and candidate, in all encodings but joint; see `scorer.network.prefix_first`.
    `read_ahead`: s, the layers of a candidate that see no prefix, in the late encoding; see `scorer.network.late`.
    `dense`: the weight of the cosine of prefix and candidate for an untrained encoder; see `scorer.dense_prior`.
    `untrained`: that encoder, by its name or folder; None: the model as it is before training. A run that goes on from
    a trained model names the one that it was made from. `precedents`: the weight of the explanations of similar
    questions, where a corpus has some that share facts; see `scorer.precedents`.
    """

    name: str = MINILM
    encoding: str = "shared_prefix"
    dropout: float | None = None
    frozen_layers: int | None = None
    prior: float = 0.0
    similarity: float = 0.0
    read_ahead: int = 0
    dense: float = 0.0
    untrained: str | None = None
    precedents: float = 0.0

    def __post_init__(self) -> None:
        pick(ENCODINGS, self.encoding, "encoding")
        _require(self.dropout is None or 0 <= self.dropout < 1, f"dropout must be in [0, 1), not {self.dropout}.")
        for name in ("prior", "similarity", "read_ahead", "dense", "precedents", "frozen_layers"):
            _require((getattr(self, name) or 0) >= 0, f"{name} must be at least 0, not {getattr(self, name)}.")
        fits = not self.similarity or pick(ENCODINGS, self.encoding, "encoding").has_similarity
        _require(fits, f"similarity is no part of the {self.encoding} encoding; set it to 0.")
        late = not self.read_ahead or self.encoding == Late.name
        _require(late, f"read_ahead is no part of the {self.encoding} encoding; set it to 0, or take late.")


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """One corpus among several: `split` of `dataset`, less `held_out` questions, which validation uses.

    `dataset`: a name or a path; None takes the name of the section. `weight`: how often an epoch takes each sample of
    the corpus. Of 0.5 it takes half of them, and the next epoch the other half. `held_out_facts`: so many facts of
    explanations are never shown in training, and the questions that they explain are validated apart. `kind`: the kind
    of its samples; None: that of the section [sampling].
    """

    dataset: str | None = None
    split: str = "train"
    held_out: int = 200
    weight: float = 1.0
    held_out_facts: int = 0
    kind: str | None = None

    def __post_init__(self) -> None:
        for name in ("held_out", "held_out_facts"):
            _require(getattr(self, name) >= 0, f"{name} must be at least 0, not {getattr(self, name)}.")
        _require(self.weight > 0, f"weight must be more than 0, not {self.weight}.")
        fits = not self.held_out_facts or self.held_out > 0
        _require(fits, "held_out_facts are measured beside held-out questions; set held_out to more than 0.")


@dataclass(frozen=True, slots=True)
class DataSettings:
    """The questions that are learnt from: `split` of `dataset`, less `held_out` questions, which validation uses.

    Sections of `datasets`, where there are any, take the place of this one corpus: `[data.datasets.science]`.
    """

    dataset: str = "worldtree-2020"
    split: str = "train"
    held_out: int = 200
    datasets: Mapping[str, CorpusSettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require(self.held_out >= 0, f"held_out must be at least 0, not {self.held_out}.")

    @property
    def corpora(self) -> dict[str, CorpusSettings]:
        """The corpora by name, each with its dataset: the sections, or the one corpus by the last part of its path."""
        if not self.datasets:
            name = PurePath(self.dataset).name or self.dataset
            return {name: CorpusSettings(self.dataset, self.split, self.held_out)}
        return {name: replace(corpus, dataset=corpus.dataset or name) for name, corpus in self.datasets.items()}


@dataclass(frozen=True, slots=True)
class OptimisationSettings:
    """How the weights move.

    A step takes samples until they hold `tokens_per_step` tokens, computed in parts of about `tokens_at_once` (which
    only bounds memory). The learning rate rises over the first `warmup` share of training and falls linearly to 0; it
    is multiplied by `layer_decay` for every layer further from the output. From the share `average_from` of training
    on, weights are averaged, and the average is the result; 1 turns that off.
    """

    loss: str = "ranknet"
    epochs: float = 4.0
    tokens_per_step: int = 5000
    tokens_at_once: int = 2500
    learning_rate: float = 2e-5
    warmup: float = 0.0
    layer_decay: float = 1.0
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    clip: float = 1.0
    average_from: float = 1.0

    def __post_init__(self) -> None:
        pick(LOSSES, self.loss, "loss")
        for name in ("epochs", "tokens_per_step", "tokens_at_once", "learning_rate", "epsilon", "clip"):
            _require(getattr(self, name) > 0, f"{name} must be more than 0, not {getattr(self, name)}.")
        for name in ("warmup", "average_from"):
            _require(0 <= getattr(self, name) <= 1, f"{name} must be from 0 to 1, not {getattr(self, name)}.")
        for name in ("beta1", "beta2"):
            _require(0 <= getattr(self, name) < 1, f"{name} must be in [0, 1), not {getattr(self, name)}.")
        _require(0 < self.layer_decay <= 1, f"layer_decay must be in (0, 1], not {self.layer_decay}.")
        _require(self.weight_decay >= 0, f"weight_decay must be at least 0, not {self.weight_decay}.")


@dataclass(frozen=True, slots=True)
class TeacherSettings:
    """A teacher's scores, which the student's are drawn to besides the task's own loss.

    `scores`: the folder that `arcf teach` has filled. `weight`: what the loss against the teacher weighs beside the
    task's. `loss`: kl or margin_mse; see `training.losses`. `temperature`: what the teacher's scores are divided by,
    and in kl the student's too; above 1, what the teacher thinks of unlikely candidates counts more.
    """

    scores: str
    weight: float = 1.0
    temperature: float = 1.0
    loss: str = "kl"

    def __post_init__(self) -> None:
        pick(DISTILLATIONS, self.loss, "loss against a teacher")
        for name in ("weight", "temperature"):
            _require(getattr(self, name) > 0, f"{name} must be more than 0, not {getattr(self, name)}.")


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """Chains for the held-out questions every `every` samples (and at the end); the best weights are kept.

    `choose_by`: what makes weights the best; the mean over corpora of their MAP, or of MAP and MAP of the gold facts
    that no learnt question uses (map_and_unseen). `questions`: at most so many of each corpus are asked,
    spread evenly; None asks all. The other settings are those of inference, on a budget: `rescored` old facts are
    scored again in each iteration.
    """

    every: int = 2000
    k: int = 180
    max_facts: int = 5
    rescored: int = 32
    questions: int | None = None
    choose_by: str = "map"

    def __post_init__(self) -> None:
        pick(CHOICES, self.choose_by, "choice of weights")
        for name in ("every", "k", "max_facts", "rescored", "questions"):
            value = getattr(self, name)
            _require(value is None or value >= 1, f"{name} must be at least 1, not {value}.")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How the run is carried out.

    `precision`: float32, bfloat16, or auto (bfloat16 where the device has instructions for it). `device`: as torch
    names them (cpu, cuda, cuda:1, mps), or auto (a GPU if there is one).
    """

    seed: int = 1
    checkpoint_minutes: float = 5.0
    precision: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        _require(self.seed >= 0, f"seed must be at least 0, not {self.seed}.")
        _require(self.checkpoint_minutes >= 0, f"checkpoint_minutes must be at least 0, not {self.checkpoint_minutes}.")
        _require(_is_device(self.device), f"device must be auto, cpu, cuda or another of torch's, not '{self.device}'.")
        choices = ("auto", "float32", "bfloat16")
        _require(self.precision in choices, f"precision must be one of {', '.join(choices)}, not '{self.precision}'.")


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """All settings of a run; two runs with equal settings, data and versions give equal weights."""

    model: ModelSettings = field(default_factory=ModelSettings)
    data: DataSettings = field(default_factory=DataSettings)
    sampling: Sampling = field(default_factory=Sampling)
    optimisation: OptimisationSettings = field(default_factory=OptimisationSettings)
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    run: RunSettings = field(default_factory=RunSettings)
    teacher: TeacherSettings | None = None

    def __post_init__(self) -> None:
        samplings = {name: self.sampling_of(corpus) for name, corpus in self.data.corpora.items()}
        for own in samplings.values():
            pick(SAMPLERS, own.kind, "kind of sample").check(own)
        recipe(self.sampling.distance)
        unlabelled = [name for name, own in samplings.items() if not SAMPLERS[own.kind].labelled]
        of_use = bool(unlabelled) or self.sampling.unlabelled == Unlabelled()
        _require(of_use, "sampling.unlabelled is about samples of the kind unlabelled, and no corpus has this kind.")
        for name in unlabelled:
            _require(self.teacher is not None, f"Only a teacher can say what is right in {name}; set teacher.scores.")
            blind = not self.data.corpora[name].held_out
            _require(blind, f"Nobody knows what is right in {name}, so nothing can be validated; set held_out to 0.")
        untold = not (self.teacher and self.model.precedents)
        _require(untold, "A teacher tells nothing of precedents; set model.precedents to 0 until an export.")

    def sampling_of(self, corpus: CorpusSettings) -> Sampling:
        """How samples of one corpus are drawn."""
        return replace(self.sampling, kind=corpus.kind or self.sampling.kind)

    @property
    def scorer(self) -> ScorerSettings:
        """What the trained model carries with it."""
        model = self.model
        return ScorerSettings(
            encoding=model.encoding,
            prior=model.prior,
            similarity=model.similarity,
            query=self.sampling.query,
            read_ahead=model.read_ahead,
            dense=model.dense,
            untrained=_lasting(model.untrained or model.name) if model.dense else "",
            precedents=model.precedents,
        )
