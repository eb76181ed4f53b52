"""From a teacher to a student, with tiny models."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
import torch

from arcf.config import as_toml
from arcf.errors import InputError, SettingError
from arcf.scorer import load_scorer, packaged_model
from arcf.scorer.prior import WithPrior
from arcf.training.distributed import Workers
from arcf.training.feed import batch_of
from arcf.training.losses import Targets, kl
from arcf.training.run import TrainedModel, fingerprint, make_trainer, train
from arcf.training.settings import TeacherSettings, TrainingSettings
from arcf.training.sources import make_sources
from arcf.training.teacher_scores import SHARD
from arcf.training.teaching import plan_lessons, teach
from arcf.training.trainer import Trainer
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]
Make = Callable[..., Trainer]
Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def teacher(settings: Settings, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    wanted = settings(
        model={"prior": 3.0}, optimisation={"loss": "nce", "epochs": 8.0, "learning_rate": 5e-3}, data={"held_out": 0}
    )
    return train(wanted, dict.fromkeys(wanted.data.corpora, dataset), tmp_path_factory.mktemp("runs") / "teacher")


@pytest.fixture(scope="module")
def student(settings: Settings, other_model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainingSettings:
    """Two corpora, one of which nobody has explained."""
    return settings(
        model={"name": str(other_model_folder)},
        data={
            "datasets": {
                "own": {"held_out": 2, "held_out_facts": 1},
                "more": {"kind": "unlabelled", "held_out": 0, "split": "nothing", "weight": 3},
            }
        },
        sampling={"word_dropout": 0.4, "conditioning": {"start": 0}, "unlabelled": {"max_facts": 2, "nearest": 4}},
        optimisation={"epochs": 6.0, "learning_rate": 5e-3},
        teacher={"scores": str(tmp_path_factory.mktemp("scores") / "made"), "weight": 0.7, "temperature": 2.0},
    )


@pytest.fixture(scope="module")
def datasets(dataset: Dataset) -> dict[str, Dataset]:
    """The unexplained split has a question about the facts, and one about nothing."""
    asked = (replace(dataset.split("train")[0], id="unexplained", gold=()), *dataset.split("nothing"))
    return dict.fromkeys(("own", "more"), Dataset(dataset.name, dataset.facts, {**dataset.splits, "nothing": asked}))


def folder_of(settings: TrainingSettings) -> Path:
    assert settings.teacher
    return Path(settings.teacher.scores)


@pytest.fixture(scope="module")
def scores(teacher: TrainedModel, student: TrainingSettings, datasets: dict[str, Dataset]) -> Path:
    folder = folder_of(student)
    teach([teacher.folder], plan_lessons(student, datasets, folder), folder)
    return folder


def made(settings: TrainingSettings, datasets: dict[str, Dataset]) -> Trainer:
    return make_trainer(settings, make_sources(settings, datasets), Workers(), torch.device("cpu"))


@pytest.mark.usefixtures("scores")
def test_scores_are_the_teachers_of_whole_queries(
    student: TrainingSettings, datasets: dict[str, Dataset], teacher: TrainedModel
) -> None:
    trainer = made(student, datasets)
    for corpus in trainer.feed.corpora:
        scorer = load_scorer(teacher.folder, [fact.text for fact in corpus.neighborhood.facts])
        assert isinstance(scorer, WithPrior)
        assert corpus.teacher is not None
        shortened = 0
        for number in range(20):
            turn, place = divmod(number, corpus.sampler.per_epoch)
            sample = corpus.sampler.draw(turn, int(corpus.sampler.order(turn)[place]))
            term = corpus.term(number, trainer.model.cost)
            if sample is None or term is None:
                assert sample is term is None
                continue
            (prefix,) = sample.prefixes
            shortened += prefix.query != sample.query
            expected = scorer.score(replace(prefix, query=sample.query), sample.candidates)
            assert term.teacher is not None
            np.testing.assert_allclose(term.teacher, expected, atol=1e-5)
        assert shortened


def test_several_teachers_give_their_mean(
    scores: Path, student: TrainingSettings, datasets: dict[str, Dataset], teacher: TrainedModel, tmp_path: Path
) -> None:
    packaged, folder = packaged_model(), tmp_path / "both"
    short = replace(student, optimisation=replace(student.optimisation, epochs=0.2))
    for models, output in (([packaged], tmp_path / "packaged"), ([teacher.folder, packaged], folder)):
        teach(models, plan_lessons(short, datasets, output), output)
    for path in folder.rglob("*.npz"):
        name = path.relative_to(folder)
        each = [np.load(place / name)["scores"] for place in (scores, tmp_path / "packaged")]
        np.testing.assert_allclose(np.load(path)["scores"], np.mean(each, axis=0), atol=1e-4)
    with pytest.raises(InputError, match="another teacher"):
        teach([teacher.folder], plan_lessons(short, datasets, folder), folder)


@pytest.mark.usefixtures("scores")
def test_the_loss_of_a_step(student: TrainingSettings, datasets: dict[str, Dataset]) -> None:
    trainer = made(student, datasets)
    (step, *_) = trainer.feed.steps(0, trainer.samples, 800)
    assert {term.labelled for term in step.terms} == {True, False}
    values = []
    for term in step.terms:
        own = trainer.model(batch_of([term])).detach()
        labels, taught_by = torch.from_numpy(term.labels), torch.from_numpy(term.teacher)  # type: ignore[arg-type]
        values.append(0.7 * float(kl(own, Targets(labels, taught_by), 2.0)))
        if term.labelled and term.has_contrast:
            pairs = own[labels][:, None] - own[~labels][None, :]
            values[-1] += float(torch.log1p(torch.exp(-pairs)).mean())
    assert trainer.step(step, 0.0).loss == pytest.approx(fmean(values), abs=1e-5)


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize("loss", ["kl", "margin_mse"])
def test_a_student_comes_nearer_to_its_teacher(
    loss: str, student: TrainingSettings, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    assert student.teacher
    wanted = replace(student, teacher=TeacherSettings(student.teacher.scores, weight=3.0, loss=loss))
    trained = train(wanted, datasets, tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line]
    assert fmean(losses[-6:]) < 0.8 * fmean(losses[:6])
    assert trained.held_out_maps.keys() >= {"own", "own_new"}
    assert "more" not in trained.held_out_maps


def test_what_is_there_is_not_scored_again(
    scores: Path, teacher: TrainedModel, student: TrainingSettings, datasets: dict[str, Dataset]
) -> None:
    assert [lesson.samples for lesson in plan_lessons(student, datasets, scores)] == [0, 0]
    longer = replace(student, optimisation=replace(student.optimisation, epochs=10.0))
    lessons = plan_lessons(longer, datasets, scores)
    before = {path: path.stat().st_mtime_ns for path in scores.rglob("*.npz")}
    calls: list[None] = []
    teach([teacher.folder], lessons, scores, progress=lambda: calls.append(None))
    assert len(calls) == sum(lesson.samples for lesson in lessons) == SHARD
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert [lesson.samples for lesson in plan_lessons(longer, datasets, scores)] == [0, 0]


def test_a_kill_costs_one_file_at_most(
    teacher: TrainedModel, student: TrainingSettings, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    longer = replace(student, optimisation=replace(student.optimisation, epochs=10.0))
    lessons = plan_lessons(longer, datasets, tmp_path)
    left = SHARD + 3

    def kill() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        teach([teacher.folder], lessons, tmp_path, progress=kill)
    rest = plan_lessons(longer, datasets, tmp_path)
    assert sum(lesson.samples for lesson in rest) == sum(lesson.samples for lesson in lessons) - SHARD
    assert len(list(tmp_path.rglob("*.npz*"))) == 1


@pytest.mark.usefixtures("scores")
@pytest.mark.parametrize(
    "changes",
    [{"sampling": {"k": 7}}, {"sampling": {"word_dropout": 0.1}}, {"run": {"seed": 2}}],
    ids=["k", "words", "seed"],
)
def test_other_samples_have_no_scores(
    changes: dict[str, dict[str, object]], student: TrainingSettings, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    """Whatever decides the samples; what only decides how they are learnt from does not count."""
    other = student
    for section, values in changes.items():
        other = replace(other, **{section: replace(getattr(other, section), **values)})
    with pytest.raises(InputError, match="of the samples that these settings draw from own; run arcf teach"):
        train(other, datasets, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("scores")
def test_other_recipes_share_the_scores(student: TrainingSettings, datasets: dict[str, Dataset]) -> None:
    assert student.teacher
    other = replace(
        student,
        optimisation=replace(student.optimisation, loss="bxent", epochs=2.0, learning_rate=1.0),
        teacher=replace(student.teacher, weight=2.0, loss="margin_mse"),
        model=replace(student.model, prior=2.0),
    )
    made(other, datasets)


def test_no_scores_at_all(student: TrainingSettings, datasets: dict[str, Dataset], tmp_path: Path) -> None:
    wanted = replace(student, teacher=TeacherSettings(str(tmp_path / "none")))
    with pytest.raises(InputError, match=r"run arcf teach|arcf teach\."):
        train(wanted, datasets, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_another_teacher_or_another_form(
    scores: Path, teacher: TrainedModel, student: TrainingSettings, datasets: dict[str, Dataset], tmp_path: Path
) -> None:
    stem = replace(student, sampling=replace(student.sampling, query="stem"))
    with pytest.raises(SettingError, match="form 'answer', and the samples have the form 'stem'"):
        teach([teacher.folder], plan_lessons(stem, datasets, tmp_path), tmp_path)
    assert not list(tmp_path.iterdir())
    (scores / "teacher.json").rename(scores / "kept")
    (scores / "teacher.json").write_text('{"model.safetensors": "another"}')
    try:
        with pytest.raises(InputError, match="scores of another teacher"):
            teach([teacher.folder], plan_lessons(student, datasets, scores), scores)
        other = fingerprint(student, make_sources(student, datasets))
    finally:
        (scores / "kept").replace(scores / "teacher.json")
    assert fingerprint(student, make_sources(student, datasets)) != other


def test_the_command(
    teacher: TrainedModel, settings: Settings, data_folder: Path, tmp_path: Path, arcf: Arcf, capsys: Capture
) -> None:
    """As people do it: teach, then train; the folder of the teacher's run will do."""
    wanted = settings(data={"dataset": str(data_folder)}, optimisation={"epochs": 1.0})
    (tmp_path / "student.toml").write_text(as_toml(wanted))
    scores = f"teacher.scores={tmp_path / 'scores'}"
    run = teacher.folder.parent
    assert arcf("teach", run, tmp_path / "student.toml", "--set", scores) == 0
    assert f"The scores are in {tmp_path / 'scores'}" in capsys.readouterr().err
    assert arcf("teach", run, tmp_path / "student.toml", "--output", tmp_path / "scores") == 0
    assert len(list((tmp_path / "scores").rglob("*.npz"))) == 1
    assert arcf("train", tmp_path / "student.toml", "--set", scores, "--output", tmp_path / "run") == 0
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "[teacher]" in card


def test_the_folder_of_scores_is_enough_for_questions_without_gold(
    teacher: TrainedModel, settings: Settings, data_folder: Path, tmp_path: Path, arcf: Arcf
) -> None:
    (tmp_path / "student.toml").write_text(as_toml(settings(optimisation={"epochs": 1.0})))
    section = {"dataset": data_folder, "held_out": 0, "kind": "unlabelled"}
    own = [part for key, value in section.items() for part in ("--set", f"data.datasets.own.{key}={value}")]
    student = ("teach", teacher.folder, tmp_path / "student.toml", *own)
    assert arcf(*student, "--output", tmp_path / "123") == 0
    assert list((tmp_path / "123").rglob("*.npz"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give the student's configuration file or a preset"),
        (("--preset", "minilm"), "Give the folder of scores: --output, or teacher.scores"),
        (("nowhere.toml", "--output", "scores"), "nowhere.toml: cannot be read"),
    ],
)
def test_mistakes_of_the_command(arguments: tuple[str, ...], words: str, arcf: Arcf, capsys: Capture) -> None:
    assert arcf("teach", "some-model", *arguments) == 2
    assert words in capsys.readouterr().err
