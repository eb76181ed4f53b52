"""A teacher, or several together, score the samples that students will learn from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arcf.errors import InputError, SettingError
from arcf.scorer import LoadedScorer, load_scorer, scores_identity
from arcf.training.mix import Mix, Rounds
from arcf.training.samplers import Sample, make_sampler
from arcf.training.settings import TrainingSettings
from arcf.training.sources import Source, make_sources
from arcf.training.teacher_scores import SHARD, Scores, TeacherScores, claim_folder
from arcf.types import Dataset


@dataclass(frozen=True, eq=False)
class Lesson:
    """What the samples of one corpus need: the files that are not there yet."""

    source: Source
    rounds: Rounds
    scores: TeacherScores
    shards: tuple[int, ...]

    @property
    def samples(self) -> int:
        """How many samples are to be scored."""
        return len(self.shards) * SHARD

    def give(self, teachers: Sequence[LoadedScorer], progress: Callable[[], None]) -> None:
        """Score them; what was finished before a kill stays."""
        texts = [fact.text for fact in self.source.split.shown.facts]
        own = [teacher.for_facts(texts) for teacher in teachers]
        for shard in self.shards:
            scores = []
            for number in range(shard * SHARD, (shard + 1) * SHARD):
                scores.append(_score(own, self.rounds.draw(number)))
                progress()
            self.scores.write(shard, scores)


def plan_lessons(settings: TrainingSettings, datasets: Mapping[str, Dataset], output: Path) -> tuple[Lesson, ...]:
    """What is to be scored for a run with these settings; `datasets` are those of `settings.data.corpora`, by name.

    Raises:
        InputError: a corpus has no question to learn from.
    """
    sources = make_sources(settings, datasets)
    seed = settings.run.seed
    rounds = [
        Rounds(make_sampler(source.material(), source.sampling, seed), source.settings.weight) for source in sources
    ]
    mix = Mix([own.per_epoch for own in rounds], seed)
    taken = mix.taken(mix.samples(settings.optimisation.epochs))
    lessons = []
    for source, own, samples in zip(sources, rounds, taken, strict=True):
        scores = TeacherScores(output, source.name, source.samples_key(seed))
        lessons.append(Lesson(source, own, scores, tuple(scores.missing(samples))))
    return tuple(lessons)


def teach(
    models: Sequence[str | Path],
    lessons: Sequence[Lesson],
    output: Path,
    device: str = "auto",
    progress: Callable[[], None] = lambda: None,
) -> None:
    """Score the samples of all lessons, into the folder `output`; `progress` is called after each.

    A score is the mean of all teachers' scores. Teachers read whole queries, whatever words a student's samples leave
    out.

    Raises:
        InputError: there is no such model, or the folder is another teacher's.
        SettingError: a teacher has learnt from questions in another form.
    """
    teachers = [load_scorer(model, [], device) for model in models]
    for teacher in teachers:
        for lesson in lessons:
            _check_form(teacher, lesson)
    claim_folder(output, {"teachers": [scores_identity(model) for model in models]})
    for lesson in lessons:
        if lesson.shards:
            lesson.give(teachers, progress)


def _check_form(teacher: LoadedScorer, lesson: Lesson) -> None:
    if lesson.source.sampling.query != teacher.settings.query:
        raise SettingError(
            f"The teacher has learnt from questions in the form '{teacher.settings.query}', and the samples have "
            f"the form '{lesson.source.sampling.query}'; set sampling.query to the teacher's."
        )


def _score(teachers: Sequence[LoadedScorer], sample: Sample | None) -> Scores:
    if sample is None:
        return np.empty(0, dtype=np.float32)
    pairs = list(zip(sample.whole_prefixes, sample.parts, strict=True))
    each = [np.concatenate([teacher.score(*pair) for pair in pairs]) for teacher in teachers]
    found: Scores = np.mean(each, axis=0, dtype=np.float32)
    if not np.isfinite(found).all():
        raise InputError("The teacher's scores are not finite: its training has diverged.")
    return found
