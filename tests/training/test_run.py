"""Whole runs, in this process, and what they leave behind."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from rich.console import Console

from arcf.config import read_settings
from arcf.data.loading import read
from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.files import write_text
from arcf.scorer import Prefix, load_scorer
from arcf.scorer.prior import WithPrior
from arcf.training import checkpoint
from arcf.training.losses import nce
from arcf.training.run import fingerprint, split_questions, train
from arcf.training.settings import TrainingSettings
from arcf.training.trainer import Trainer
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]
Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


def run(settings: TrainingSettings, dataset: Dataset, output: Path, *, resume: bool = False) -> Path:
    return train(settings, dataset, output, Console(file=io.StringIO()), resume=resume)


@pytest.fixture(scope="module")
def finished(settings: Settings, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("runs") / "finished"
    assert run(settings(), dataset, output) == output / "model"
    return output


def lines(output: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]


def test_what_is_left_behind(finished: Path) -> None:
    found = {path.name for path in finished.iterdir()} - {"tensorboard"}
    assert found == {"best", "checkpoint", "log.jsonl", "manifest.json", "model", "settings.toml"}
    files = ["README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"]
    assert sorted(path.name for path in (finished / "model").iterdir()) == files
    assert sorted(path.name for path in (finished / "best").iterdir()) == files[1:4]


def test_every_file_is_as_readable_as_any_other(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    files = [path for path in finished.rglob("*") if path.is_file() and "tensorboard" not in path.parts]
    assert {path.stat().st_mode for path in files} == {(tmp_path / "any").stat().st_mode}


def test_the_model_is_readable_by_transformers_and_arcf(finished: Path, dataset: Dataset) -> None:
    model, info = transformers.AutoModel.from_pretrained(finished / "model", output_loading_info=True)
    assert model.config.arcf_encoding == "shared_prefix"
    assert all("pooler" in key for key in info["missing_keys"])
    scorer = load_scorer(finished / "model", [fact.text for fact in dataset.facts])
    assert scorer.score(Prefix("Which of these must the heron have? (answer) seeds"), np.arange(5)).shape == (5,)


def test_a_model_with_a_prior(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    wanted = settings(model={"prior": 12.0})
    folder = run(wanted, dataset, tmp_path / "run")
    scorer = load_scorer(folder, [fact.text for fact in dataset.facts])
    assert isinstance(scorer, WithPrior)
    assert scorer.prior.weight == 12.0


def test_the_prior_is_part_of_the_loss(settings: Settings, trainer: Callable[..., Trainer]) -> None:
    """A model that says nothing has the loss of the prior alone."""
    made = trainer(settings(model={"prior": 12.0}, optimisation={"loss": "nce"}))
    torch.nn.init.zeros_(made.backbone.head.weight)
    torch.nn.init.zeros_(made.backbone.head.bias)
    step = next(made.feed.steps(0, 20, 300, joint=False))
    assert any(term.prior.any() for term in step.terms)
    losses = [nce(torch.from_numpy(term.prior), torch.from_numpy(term.labels)) for term in step.terms]
    assert made.step(step, 0.0).loss == pytest.approx(float(torch.stack(losses).mean()), rel=1e-5)


def test_the_model_explains(finished: Path, data_folder: Path, arcf: Arcf, capsys: Capture) -> None:
    arguments = ("--answer", "seeds", "--facts", data_folder, "--model", finished / "model", "--json")
    assert arcf("explain", "Which of these must the heron have?", *arguments) == 0
    assert len(json.loads(capsys.readouterr().out)["facts"]) >= 1


def test_the_model_card(finished: Path, data_folder: Path) -> None:
    card = (finished / "model" / "README.md").read_text()
    header = card.split("---\n")[1]
    assert 'datasets: ["creatures"]' in header
    assert "10 questions of the split train of creatures, 29 facts; 2 more questions were held out" in card
    assert "held out map" in card
    assert "WorldTree" not in card
    assert f'dataset = "{data_folder}"' in card


def test_the_manifest(finished: Path, settings: Settings, dataset: Dataset) -> None:
    manifest = json.loads((finished / "manifest.json").read_text())
    assert json.loads((finished / "model" / "training.json").read_text()) == manifest
    assert manifest["settings"]["optimisation"]["loss"] == "ranknet"
    assert manifest["data"] == {"name": "creatures", "split": "train", "facts": 29, "questions": 10, "held_out": 2}
    assert manifest["fingerprint"] == fingerprint(settings(), dataset)
    assert manifest["processes"] == 1
    assert {"arcf", "torch", "transformers", "python"} <= manifest["versions"].keys()
    assert manifest["results"]["samples_seen"] == 40
    best = max(line["validation_map"] for line in lines(finished) if "validation_map" in line)
    assert manifest["results"]["held_out_map"] == pytest.approx(best, abs=1e-4)


def test_the_log(finished: Path) -> None:
    steps = [line for line in lines(finished) if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, len(steps) + 1))
    assert steps[-1]["position"] == 40
    assert steps[-1]["epoch"] == 2.0
    assert all(line["tokens_per_second"] > 0 for line in steps)
    validations = [line["position"] for line in lines(finished) if "validation_map" in line]
    assert len(validations) == 3
    assert [position // 15 for position in validations] == [1, 2, 2]
    assert validations[-1] == 40


def test_the_settings_make_the_run_again(finished: Path, settings: Settings) -> None:
    assert read_settings(TrainingSettings, finished / "settings.toml") == settings()


def test_resuming_a_finished_run_changes_nothing(
    finished: Path, settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path / "again")
    run(settings(), dataset, tmp_path / "again", resume=True)
    for name in ("log.jsonl", "manifest.json", "model/README.md", "model/model.safetensors", "best/model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (finished / name).read_bytes()


def test_without_validation_the_last_weights_are_the_result(
    settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    wanted = settings(data={"held_out": 0}, optimisation={"average_from": 0.5, "epochs": 0.5})
    model = run(wanted, dataset, tmp_path / "run")
    assert not (tmp_path / "run" / "best").exists()
    assert "held_out_map" not in json.loads((tmp_path / "run" / "manifest.json").read_text())["results"]
    average = checkpoint.load_file(next((tmp_path / "run" / "checkpoint").glob("step-*")) / "average.safetensors")
    assert checkpoint.load_file(model / "model.safetensors")["classifier.weight"].equal(average["classifier.weight"])


def test_held_out_questions_are_never_learnt_from(settings: Settings, dataset: Dataset) -> None:
    split = split_questions(dataset, settings(data={"held_out": 5}))
    assert len(split.held_out) == 5
    learnt, held_out = ({question.id for question in part} for part in (split.learnt, split.held_out))
    assert not learnt & held_out
    assert learnt | held_out == {question.id for question in dataset.split("train")} - {"bare"}
    other = split_questions(dataset, settings(data={"held_out": 5}, run={"seed": 7}))
    assert other == split


def test_the_trainer_sees_only_learnt_questions(
    trainer: Callable[..., Trainer], settings: Settings, dataset: Dataset
) -> None:
    wanted = settings(data={"held_out": 5})
    made = trainer(wanted)
    assert made.feed.sampler.questions == list(split_questions(dataset, wanted).learnt)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"data": {"held_out": 12}}, InputError, "has 12 questions with gold facts in the split train, of which 12"),
        ({"data": {"split": "nothing", "held_out": 0}}, InputError, "has 0 questions with gold facts"),
        ({"data": {"split": "trian"}}, UnknownNameError, "Did you mean 'train'"),
    ],
)
def test_nothing_to_learn_from(
    changes: dict[str, dict[str, object]],
    error: type[Exception],
    words: str,
    settings: Settings,
    dataset: Dataset,
    tmp_path: Path,
) -> None:
    with pytest.raises(error, match=words):
        run(settings(**changes), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_empty_training_split(settings: Settings, data_folder: Path, tmp_path: Path) -> None:
    shutil.copy(data_folder / "facts.jsonl", tmp_path)
    (tmp_path / "questions.train.jsonl").write_text("")
    with pytest.raises((InputError, UnknownNameError), match="train"):
        run(settings(), read(tmp_path), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("device", ["cuda:99", "mps:99", "meta"])
def test_a_device_that_is_not_there(settings: Settings, dataset: Dataset, tmp_path: Path, device: str) -> None:
    with pytest.raises(SettingError, match=f"device is {device}, which torch cannot use here"):
        run(settings(run={"device": device}), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_output_and_resume_must_fit(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run to resume"):
        run(settings(), dataset, tmp_path / "run", resume=True)
    (tmp_path / "run").mkdir()
    write_text(tmp_path / "run" / "notes", "mine")
    with pytest.raises(InputError, match="not an empty folder"):
        run(settings(), dataset, tmp_path / "run")
    with pytest.raises(InputError, match="not an empty folder"):
        run(settings(), dataset, tmp_path / "run" / "notes")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes"]


def test_a_model_that_is_not_there(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="neither a model folder"):
        run(settings(model={"name": str(tmp_path / "empty")}), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_the_fingerprint_is_of(settings: Settings, dataset: Dataset) -> None:
    key = fingerprint(settings(), dataset)
    assert key == fingerprint(settings(run={"checkpoint_minutes": 1}, data={"dataset": "elsewhere"}), dataset)
    assert key != fingerprint(settings(run={"seed": 2}), dataset)
    assert key != fingerprint(settings(), Dataset(dataset.name, dataset.facts[:-1], dataset.splits))
    fewer = {"train": dataset.split("train")[:-2]}
    assert key != fingerprint(settings(), Dataset(dataset.name, dataset.facts, fewer))
