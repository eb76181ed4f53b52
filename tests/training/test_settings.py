from dataclasses import replace
from pathlib import Path

import pytest

from arcf.config import as_toml, presets, read_settings
from arcf.errors import ArcfError, SettingError, UnknownNameError
from arcf.scorer.settings import ScorerSettings
from arcf.training.samplers import Conditioning, Sampling, Unlabelled
from arcf.training.settings import (
    DataSettings,
    ModelSettings,
    OptimisationSettings,
    RunSettings,
    TeacherSettings,
    TrainingSettings,
    ValidationSettings,
)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ModelSettings(encoding="jiont"), UnknownNameError, "Did you mean 'joint'"),
        (lambda: ModelSettings(dropout=1.0), SettingError, r"dropout must be in \[0, 1\), not 1.0"),
        (lambda: ModelSettings(prior=-1.0), SettingError, "prior must be at least 0"),
        (lambda: ModelSettings(encoding="joint", similarity=1.0), SettingError, "no part of the joint encoding"),
        (lambda: DataSettings(held_out=-1), SettingError, "held_out must be at least 0"),
        (lambda: OptimisationSettings(loss="nec"), UnknownNameError, "Did you mean 'nce'"),
        (lambda: OptimisationSettings(epochs=0), SettingError, "epochs must be more than 0"),
        (lambda: OptimisationSettings(warmup=2), SettingError, "warmup must be from 0 to 1"),
        (lambda: OptimisationSettings(beta1=1), SettingError, r"beta1 must be in \[0, 1\)"),
        (lambda: OptimisationSettings(layer_decay=0), SettingError, r"layer_decay must be in \(0, 1\]"),
        (lambda: OptimisationSettings(weight_decay=-1), SettingError, "weight_decay must be at least 0"),
        (lambda: ValidationSettings(max_facts=0), SettingError, "max_facts must be at least 1, not 0"),
        (lambda: RunSettings(seed=-1), SettingError, "seed must be at least 0"),
        (lambda: RunSettings(device="gpu"), SettingError, "device must be auto"),
        (lambda: RunSettings(precision="half"), SettingError, "precision must be one of auto, float32, bfloat16"),
        (lambda: TrainingSettings(sampling=Sampling("path")), UnknownNameError, "Did you mean 'paths'"),
        (lambda: TrainingSettings(sampling=Sampling(distance="tfdif")), UnknownNameError, "Did you mean 'tfidf'"),
        (lambda: ModelSettings(read_ahead=2), SettingError, "read_ahead is no part of the shared_prefix encoding"),
        (lambda: ModelSettings(encoding="late", read_ahead=-1), SettingError, "read_ahead must be at least 0, not -1"),
        (
            lambda: TrainingSettings(sampling=Sampling("unlabelled"), data=DataSettings("some/corpus", held_out=0)),
            SettingError,
            "Only a teacher can say what is right in corpus; set teacher.scores",
        ),
        (
            lambda: TrainingSettings(sampling=Sampling("unlabelled"), teacher=TeacherSettings("scores")),
            SettingError,
            "nothing can be validated; set held_out to 0",
        ),
        (
            lambda: TrainingSettings(sampling=Sampling(unlabelled=Unlabelled(2))),
            SettingError,
            "no corpus has this kind",
        ),
        (lambda: TeacherSettings("scores", loss="margin"), UnknownNameError, "Did you mean 'margin_mse'"),
        (lambda: TeacherSettings("scores", temperature=0), SettingError, "temperature must be more than 0"),
        (
            lambda: TrainingSettings(model=ModelSettings(precedents=1.0), teacher=TeacherSettings("scores")),
            SettingError,
            "A teacher tells nothing of precedents; set model.precedents to 0",
        ),
        (
            lambda: TrainingSettings(sampling=Sampling("facts", conditioning=Conditioning())),
            SettingError,
            "only samples of the kind prefixes",
        ),
    ],
)
def test_mistakes_are_told_on_construction(make: object, error: type[ArcfError], words: str) -> None:
    with pytest.raises(error, match=words):
        make()  # type: ignore[operator]


def test_what_a_model_carries_with_it() -> None:
    settings = TrainingSettings(
        model=ModelSettings(prior=2.0, similarity=3.0), sampling=Sampling("facts", query="options")
    )
    assert settings.scorer == ScorerSettings("shared_prefix", 2.0, 3.0, "options")
    joint = replace(settings, model=ModelSettings(encoding="joint"))
    assert joint.scorer == ScorerSettings("joint", 0.0, 0.0, "options")
    late = replace(settings, model=ModelSettings(encoding="late", read_ahead=3))
    assert late.scorer == ScorerSettings("late", query="options", read_ahead=3)


def test_the_encoder_of_a_dense_prior_is_found_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "encoder").mkdir()
    monkeypatch.chdir(tmp_path)
    settings = TrainingSettings(model=ModelSettings(name="encoder", dense=1.0))
    assert settings.scorer.untrained == str(tmp_path / "encoder")
    assert replace(settings, model=ModelSettings(name="a/name-of-the-hub", dense=1.0)).scorer.untrained.startswith("a/")


@pytest.mark.parametrize("name", presets(TrainingSettings))
def test_every_preset_is_read_and_written(name: str, tmp_path: Path) -> None:
    settings = read_settings(TrainingSettings, preset=name)
    path = tmp_path / "settings.toml"
    path.write_text(as_toml(settings))
    assert read_settings(TrainingSettings, path) == settings
