"""How long an explanation takes: the paper's procedure with another library, and ours, step by step.

All procedures have the same weights, questions and settings, and take turns: whatever else the machine does meets them
all. Chains are not allowed to stop early, so all have the same length.

crossencoder   sentence-transformers' CrossEncoder scores every visible pair in every iteration, as in the paper
joint_exact    the same with arcf's joint encoding
shared_exact   every visible fact in every iteration, the prefix encoded once
shared_fast    as before, but only new facts and the best old ones are scored
onnx_fp32      the same in ONNX Runtime
onnx_int8      the same in int8
late_fast      the same with the first layers of all facts read ahead, as with an index
late_screened  as before, but of the new facts only the most promising ones are scored: arcf's defaults

The weights are trained for one encoding, and run in all: only the time is compared. The procedures that encode pairs
compute their own scores, and are then told those of `shared_exact`: so they follow its chain, and score what it scored.
The fast ones follow their own chains, which may differ a little in what they score.

With late_screened, the questions are also ranked as `arcf rank` ranks a split, side by side, and one at a time.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from arcf.bench.memory import peak_apart
from arcf.bench.samples import worldtree_or_made_up
from arcf.bench.throughput import questions_per_second
from arcf.chain import ChainSearch, ChainSettings
from arcf.errors import MissingExtraError
from arcf.neighborhood import make_neighborhood
from arcf.pretrained.location import locate
from arcf.pretrained.threads import usable_threads
from arcf.rankers import Autoregressive, Ranker
from arcf.registry import pick
from arcf.scorer import STOP, Prefix, Scorer, load_scorer
from arcf.scorer.export import write_export
from arcf.scorer.loading import with_prior
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.scorer.network.late import Late
from arcf.scorer.network.scorer import TorchScorer, make_model
from arcf.scorer.network.shared_prefix import SharedPrefix
from arcf.types import Dataset, Question

SCREENED = ChainSettings(k=290, max_facts=9, min_facts=9)
FAST = replace(SCREENED, rescored=96, screened=None)
EXACT = replace(FAST, rescored=None)
PAIRS_AT_ONCE = 32
"""The default of sentence-transformers."""


@dataclass(slots=True)
class Cost:
    """What the questions cost so far."""

    questions: int = 0
    scorings: int = 0
    seconds: float = 0.0

    @property
    def seconds_per_question(self) -> float:
        """The mean."""
        return self.seconds / self.questions


@dataclass(frozen=True, slots=True)
class ExplainSpeed:
    """The procedures, and what they were measured with.

    `read_ahead` is the number of layers that late_fast reads ahead; `questions_per_second` are those of late_screened,
    one at a time and side by side; `peak_bytes` is that of onnx_int8 in a process of its own.
    """

    model: str
    read_ahead: int
    dataset: str
    facts: int
    threads: int
    costs: Mapping[str, Cost]
    questions_per_second: Mapping[str, float]
    peak_bytes: int | None


class CrossEncoderScorer:
    """sentence-transformers' CrossEncoder on the encoder's weights: a pair is the chain so far and a candidate."""

    def __init__(self, model: str, facts: Sequence[str]) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ModuleNotFoundError as error:
            raise MissingExtraError("The procedure crossencoder", "bench") from error
        self._model: Any = CrossEncoder(model, num_labels=1, device="cpu")
        self._facts = facts

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The score of every pair; the stop sample is a pair with an empty text."""
        chain = " ".join([prefix.query, *(self._facts[fact] for fact in prefix.facts)])
        pairs = [(chain, "" if fact == STOP else self._facts[fact]) for fact in candidates.tolist()]
        scores: NDArray[np.float32] = self._model.predict(pairs, batch_size=PAIRS_AT_ONCE, show_progress_bar=False)
        return scores


@dataclass
class RecordingScorer:
    """A scorer that remembers its scores by prefix."""

    scorer: Scorer
    scores: dict[Prefix, NDArray[np.float32]] = field(default_factory=dict)

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scorer's own scores."""
        self.scores[prefix] = self.scorer.score(prefix, candidates)
        return self.scores[prefix]


@dataclass(frozen=True)
class ReplayingScorer:
    """A scorer that computes scores of its own, and gives those that another recorded."""

    scorer: Scorer
    recorded: RecordingScorer

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        """The recorded scores, after computing others."""
        self.scorer.score(prefix, candidates)
        return self.recorded.scores[prefix]


@dataclass
class Workbench:
    """The weights and facts of all procedures. Exported models go into `folder`."""

    name: str
    backbone: Backbone
    dataset: Dataset
    folder: Path
    read_ahead: int
    recorded: RecordingScorer = field(init=False)

    def __post_init__(self) -> None:
        self.texts = [fact.text for fact in self.dataset.facts]
        self._neighborhood = make_neighborhood(self.dataset)
        self.recorded = RecordingScorer(self.torch(SharedPrefix.name))
        self.late = cache(self._late)

    def torch(self, encoding: str) -> Scorer:
        """The weights in an encoding."""
        model = make_model(self.backbone, encoding)
        model.eval()
        return with_prior(TorchScorer(model, self.backbone.tokenizer.facts(self.texts)), self.texts)

    def onnx(self, precision: str) -> Scorer:
        """The weights in ONNX Runtime."""
        return self._exported(precision, self.folder / precision, SharedPrefix.name)

    def throughput(self) -> Mapping[str, tuple[Ranker, int]]:
        """Ways to rank many questions; see `bench.throughput`."""
        together, alone = (Autoregressive(self.late(n), self._neighborhood, SCREENED) for n in (None, 1))
        return {"one_at_a_time": (together, 1), "side_by_side": (alone, usable_threads())}

    def _late(self, threads: int | None = None) -> Scorer:
        """The weights in ONNX Runtime, in int8, with all facts read ahead."""
        scorer = self._exported("int8", self.folder / "late", Late.name, threads)
        scorer.score(Prefix(""), np.arange(len(self.texts)))  # A fact is read when it is first scored.
        return scorer

    def _exported(self, precision: str, folder: Path, encoding: str, threads: int | None = None) -> Scorer:
        settings = replace(self.backbone.settings, encoding=encoding, read_ahead=self.read_ahead)
        write_export(self.backbone.with_settings(settings), folder, precision, self.name)
        return load_scorer(folder, self.texts, threads=threads)

    def search(self, scorer: Scorer, settings: ChainSettings) -> ChainSearch:
        """A search for chains."""
        return ChainSearch(scorer, self._neighborhood, settings)


PROCEDURES: Mapping[str, Callable[[Workbench], ChainSearch]] = {
    "shared_exact": lambda bench: bench.search(bench.recorded, EXACT),
    "shared_fast": lambda bench: bench.search(bench.recorded.scorer, FAST),
    "onnx_fp32": lambda bench: bench.search(bench.onnx("fp32"), FAST),
    "onnx_int8": lambda bench: bench.search(bench.onnx("int8"), FAST),
    "late_fast": lambda bench: bench.search(bench.late(None), FAST),
    "late_screened": lambda bench: bench.search(bench.late(None), SCREENED),
    "joint_exact": lambda bench: bench.search(ReplayingScorer(bench.torch("joint"), bench.recorded), EXACT),
    "crossencoder": lambda bench: bench.search(
        ReplayingScorer(CrossEncoderScorer(bench.name, bench.texts), bench.recorded), EXACT
    ),
}
"""In the order in which they take their turns: shared_exact is recorded first."""


def measure_explaining(
    model: str,
    procedures: Sequence[str],
    questions: int,
    read_ahead: int | None = None,
    after_turn: Callable[[], None] = lambda: None,
) -> ExplainSpeed:
    """Explain so many questions with each procedure, and with shared_exact, whose chain others follow.

    `read_ahead` layers are read ahead in late_fast; unless given, as many as in training, or half of them all.
    WorldTree's dev questions are used where it is installed, made-up ones of the same lengths otherwise.

    Raises:
        InputError: there is no such model.
        MissingExtraError: a procedure's library is not installed.
        SettingError: so many layers cannot be read ahead.
        UnknownNameError: there is no such procedure.
    """
    for name in procedures:
        pick(PROCEDURES, name, "procedure")
    chosen = [name for name in PROCEDURES if name in procedures or name == "shared_exact"]
    folder = str(locate(model))
    backbone = load_backbone(folder)
    ahead = (backbone.settings.read_ahead or len(backbone.layers) // 2) if read_ahead is None else read_ahead
    dataset = worldtree_or_made_up(backbone.tokenizer.raw)
    asked = _sample(dataset, questions)
    with tempfile.TemporaryDirectory(prefix="arcf-bench-") as temporary:
        bench = Workbench(folder, backbone, dataset, Path(temporary), ahead)
        searches = {name: PROCEDURES[name](bench) for name in chosen}
        costs = {name: Cost() for name in chosen}
        for question in asked:
            for name, search in searches.items():
                _ask(search, question, costs[name])
                after_turn()
        rates = questions_per_second(bench.throughput(), asked) if "late_screened" in chosen else {}
        peak = peak_apart(bench.folder / "int8", bench.texts, asked, FAST) if "onnx_int8" in chosen else None
    return ExplainSpeed(model, ahead, dataset.name, len(dataset.facts), torch.get_num_threads(), costs, rates, peak)


def _ask(search: ChainSearch, question: Question, cost: Cost) -> None:
    start = perf_counter()
    found = search.find(question)
    cost.seconds += perf_counter() - start
    cost.scorings += found.scorings
    cost.questions += 1


def _sample(dataset: Dataset, count: int) -> Sequence[Question]:
    """Questions from all over the dev split (or whatever split there is)."""
    questions = dataset.splits.get("dev") or next(iter(dataset.splits.values()))
    return questions[:: max(1, len(questions) // count)][:count]
