"""Explanations of many questions: a job of plain values, and the file that they are written to as they are found.

The file has one explanation a line: what `Explanation.to_dict` gives, and before it `run`, a hash of all that decides
the explanation besides its question. So a file tells by itself what it holds: a job that is given again explains what
is missing.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from arcf.errors import InputError
from arcf.explainer import load_explainer
from arcf.files import check_writable, locked
from arcf.rankers import OnCluster, RankerSettings
from arcf.rankers.parcel import Parcel
from arcf.rankers.screening import decided
from arcf.runs.journal import fingerprint
from arcf.types import Dataset, Question

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExplanationJob:
    """Questions in, explanations out, and everything that decides them.

    It holds no model, only the description of one: any part of it can be done wherever a ranker of that description can
    be built. `top_k`: so many facts of each ranking are told as well.
    """

    ranker: RankerSettings
    dataset: Dataset
    questions: Sequence[Question]
    top_k: int = 0

    def run(self) -> str:
        """A hash of all that decides an explanation besides its question: version, settings, model, facts.

        So do training questions: distances learn from them how common words are.
        """
        ranker = decided(self.ranker, self.dataset)
        decisive = {"arcf": version("arcf"), "ranker": ranker.identity(), "top_k": self.top_k}
        decisive |= fingerprint(self.dataset, ())
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]

    def decided(self) -> "ExplanationJob":
        """The job with what the cache decides of it now; see `rankers.screening`."""
        return replace(self, ranker=decided(self.ranker, self.dataset))

    def without(self, done: Collection[str]) -> "ExplanationJob":
        """The part of the job that is left when the questions of some ids are done."""
        return replace(self, questions=[question for question in self.questions if question.id not in done])

    def prepare(self) -> Callable[[Question], Record]:
        """What makes the explanation of a question, as plain values, after all that it needs is loaded.

        Raises:
            InputError: the model cannot be read.
            MissingExtraError: the model needs a library that is not installed.
        """
        job = self.decided()
        return _explaining(job.ranker, job.dataset, job.run(), job.top_k)

    def records(self) -> Iterator[Record]:
        """The explanations of all questions, in their order, each as soon as it is found; see `prepare`."""
        if self.questions:
            yield from map(self.prepare(), self.questions)


@dataclass(frozen=True, slots=True, eq=False)
class ExplanationWork:
    """What a worker of a cluster builds its explainer from, and what it adds to each explanation; see the job's own."""

    parcel: Parcel
    run: str
    top_k: int

    def prepare(self) -> Callable[[Question], Record]:
        """See `ExplanationJob.prepare`; on this machine."""
        return _explaining(*self.parcel.open(), self.run, self.top_k)


def explaining_on(
    cluster: OnCluster, report: Callable[[int, int], None] = lambda *_: None
) -> Callable[[ExplanationJob], Iterator[Record]]:
    """What does a job on a cluster, in any order, whichever workers die on the way.

    `report` is called before each explanation: so many workers are ready, of so many.
    """

    def records(job: ExplanationJob) -> Iterator[Record]:
        if not job.questions:
            return
        job = job.decided()
        work = ExplanationWork(Parcel.of(job.ranker, job.dataset), job.run(), job.top_k)
        with cluster.pool(job.ranker, work) as pool:
            for record in pool.answers(job.questions):
                report(pool.alive, pool.size)
                yield record

    return records


def _explaining(settings: RankerSettings, dataset: Dataset, run: str, top_k: int) -> Callable[[Question], Record]:
    explainer = load_explainer(settings, dataset)
    return lambda question: {"run": run} | explainer.explain(question, whole=top_k > 0).to_dict(top_k)


def explain_to_file(
    job: ExplanationJob,
    output: Path,
    progress: Callable[[], None] = lambda: None,
    work: Callable[[ExplanationJob], Iterator[Record]] = ExplanationJob.records,
) -> None:
    """Append the explanations that a file lacks, each when it is found.

    A kill costs no more than the explanations in work: the next time, the job goes on with them.

    Args:
        job: what is to be explained.
        output: where it is written.
        progress: is called after each question.
        work: what does the job, or the part that is left of it, in any order: here, one after the other, unless given.

    Raises:
        InputError: the file cannot be written, another command writes it, it holds something else than
            explanations of this job, or two questions have one id, or one has none.
    """
    _check_ids(job.questions)
    check_writable(output)
    job = job.decided()
    with locked(output):
        left = job.without(explained(output, job))
        for _ in range(len(job.questions) - len(left.questions)):
            progress()
        for record in work(left):
            with output.open("ab") as file:
                file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            progress()


def _check_ids(questions: Sequence[Question]) -> None:
    """A file tells by the ids of its questions which are done."""
    count = Counter(question.id for question in questions)
    if count[""]:
        raise InputError("A question has no id, so nobody could tell whether it is done; give each question its own.")
    if repeated := [name for name, times in count.items() if times > 1]:
        raise InputError(f"{count[repeated[0]]} questions have the id '{repeated[0]}'; give each question its own.")


def explained(path: Path, job: ExplanationJob) -> frozenset[str]:
    """The ids of the questions whose explanations a file holds. A last line that a kill cut short is taken away.

    Raises:
        InputError: the file holds something else than explanations of this job; it is left as it is.
    """
    if not path.exists():
        return frozenset()
    asked, run = {question.id: question for question in job.questions}, job.run()
    done, whole = set(), 0
    with path.open("r+b") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                _check_cut(line, run, path, number)
                file.truncate(whole)
                break
            done.add(_explained(line, asked, run, path, number))
            whole += len(line)
    return frozenset(done)


def _explained(line: bytes, asked: dict[str, Question], run: str, path: Path, number: int) -> str:
    """The id of the question that a line explains."""
    match _parsed(line):
        case {"run": str(found), "id": str(name), "question": stem, "answer": answer, **more}:
            if found != run:
                raise InputError(
                    "is an explanation of another model, other settings or other facts; go on with those, or choose "
                    "another file.",
                    path,
                    number,
                )
            explains = (stem, answer, more.get("options", []))
            if name in asked and _parts(asked[name]) != explains:
                raise InputError(f"explains another question of the id '{name}'; choose another file.", path, number)
            return name
    raise InputError("is no explanation as arcf explain writes it; choose another file.", path, number)


def _parts(question: Question) -> tuple[str, str, list[str]]:
    """What a line says of its question besides its id."""
    return question.stem, question.answer, [option.text for option in question.options]


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _check_cut(line: bytes, run: str, path: Path, number: int) -> None:
    """Nothing is taken away but the beginning of a line of our own."""
    head = json.dumps({"run": run})[:-1].encode()
    if not (line.startswith(head) or head.startswith(line)):
        raise InputError("is no explanation as arcf explain writes it; choose another file.", path, number)
