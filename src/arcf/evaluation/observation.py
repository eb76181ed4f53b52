"""Chains of questions with known gold, watched as they grow: what calibration is fitted on and judged by."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from arcf.chain import Evidence
from arcf.chain.search import stop_wins
from arcf.data.sample import sample_questions
from arcf.errors import InputError
from arcf.files import read_json_object, read_text, write_text
from arcf.pretrained.location import find_folder
from arcf.rankers import Autoregressive
from arcf.runs.journal import fingerprint
from arcf.scorer import scores_identity
from arcf.scorer.exported.folder import TRAINING
from arcf.types import Chain, Dataset, Question


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """What spoke for a fact, whether it is `right` (gold), and whether stopping scored as high (`stop_wins`)."""

    evidence: Evidence
    right: bool
    stop_wins: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """The chain of a question of a corpus, grown as long as it may be; `gold` is how many facts explain it."""

    corpus: str
    question: str
    gold: int
    steps: tuple[ObservedStep, ...]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The observation that `to_dict` made plain values of."""
        steps = [
            ObservedStep(Evidence(**step["evidence"]), bool(step["right"]), bool(step["stop_wins"]))
            for step in values["steps"]
        ]
        return cls(str(values["corpus"]), str(values["question"]), int(values["gold"]), tuple(steps))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def draw(dataset: Dataset, split: str, count: int) -> tuple[Question, ...]:
    """At most `count` questions with gold facts of a split, at random but always the same, in the dataset's order.

    The first ones of the order from which training holds out its own: of the training split, questions that a model
    did not learn from, as long as `count` is not more than it held out.
    """
    questions = [question for question in dataset.split(split) if dataset.gold_ids(question)]
    return sample_questions(questions, count)


def foreign(own: Dataset, other: Dataset, split: str, count: int) -> tuple[Question, ...]:
    """Questions of another dataset for a corpus that cannot explain them; their ids name where they are from.

    Without them, all that calibration ever sees is questions that have an explanation.
    """
    drawn = sample_questions(other.split(split), count) if own.name != other.name else ()
    return tuple(replace(question, id=f"{other.name}:{question.id}", gold=()) for question in drawn)


def observe(ranker: Autoregressive, dataset: Dataset, question: Question) -> Observation:
    """Grow the longest chain of a question, never stopping: where it should have ended can be decided afterwards.

    Of a question without gold the first fact is enough: it is wrong, and a chain that knew would end before it.
    """
    search, gold = ranker.search, set(dataset.gold_ids(question))
    longest = search.settings.max_facts if gold else 1
    chain, board = Chain(question, (), False), search.new_board()
    steps: list[ObservedStep] = []
    while len(chain.facts) < longest:
        choices = search.score_visible(chain, board)
        if not len(choices.facts):
            break
        grown = search.extend(chain, choices)
        step = grown.steps[-1]
        evidence = search.evidence(chain, choices, 0, step.seen_from)
        steps.append(ObservedStep(evidence, step.chosen.fact in gold, stop_wins(step)))
        chain = grown
    return Observation(dataset.name, question.id, len(gold), tuple(steps))


def held_out(model: str | Path, dataset: Dataset, split: str) -> int | None:
    """How many questions of a split a model's training held out; None where it says nothing of the split."""
    folder = find_folder(model)
    if folder is None or not (folder / TRAINING).is_file():
        return None
    learnt = read_json_object(folder / TRAINING).get("data", [])
    counts = [one["held_out"] for one in learnt if (one["name"], one["split"]) == (dataset.name, split)]
    return min(counts, default=None)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of observations, one a line, each with a mark of all that decides it."""

    path: Path
    model: str

    def marks(self, ranker: Autoregressive, dataset: Dataset, questions: Sequence[Question]) -> list[str]:
        """A hash for each question: of it and its gold, and of all that decides its observation besides it.

        That is what the model's scores come from, how chains are searched for, the facts, and the training questions,
        which may be precedents.
        """
        search, facts = ranker.search, (dataset.name, fingerprint(dataset, ()))
        decisive = (scores_identity(self.model), asdict(search.settings), search.query, facts)
        return [
            sha256(json.dumps((decisive, asdict(question)), sort_keys=True).encode()).hexdigest()
            for question in questions
        ]

    def read(self, marks: Collection[str]) -> dict[str, Observation]:
        """The observations of these marks, each by its own. A last line that a kill cut short is taken away.

        Raises:
            InputError: the file cannot be read, or a line is no observation.
        """
        if not self.path.exists():
            return {}
        text = read_text(self.path)
        if text and not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            write_text(self.path, text)
        try:
            records = [json.loads(line) for line in text.splitlines()]
            return {record["mark"]: Observation.from_dict(record) for record in records if record["mark"] in marks}
        except (ValueError, TypeError, KeyError) as error:
            raise InputError("holds something else than observed chains; choose another file.", self.path) from error

    def add(self, mark: str, found: Observation) -> None:
        """Append an observation."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mark": mark} | found.to_dict()) + "\n")


def observe_all(
    ranker: Autoregressive,
    dataset: Dataset,
    questions: Sequence[Question],
    kept: Kept | None = None,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Observation]:
    """The observation of each question, in order.

    Args:
        ranker: what finds the chains.
        dataset: their corpus.
        questions: those with known gold.
        kept: a file of observations; what was observed of the same question in the same way is not made again, the
            others are appended.
        progress: is called after each question.

    Raises:
        InputError: the file cannot be read, or is none of observations.
    """
    marks = kept.marks(ranker, dataset, questions) if kept else [""] * len(questions)
    known = kept.read(set(marks)) if kept else {}
    for mark, question in zip(marks, questions, strict=True):
        found = known.get(mark)
        if found is None:
            found = observe(ranker, dataset, question)
            if kept:
                kept.add(mark, found)
        progress()
        yield found
