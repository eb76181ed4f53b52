"""What a model was trained with: through config.json and back, and from configs of earlier versions."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arcf.errors import SettingError
from arcf.pretrained.location import MINILM
from arcf.scorer import Prefix, ScorerSettings, load_scorer, packaged_model
from arcf.scorer.export import export
from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.types import QUERY_FORMS

PREFIX = Prefix("What is ice (answer) a solid.", (1, 3))
IDS = np.arange(-1, 7)
EVERY = [
    ScorerSettings(),
    ScorerSettings(encoding="joint"),
    ScorerSettings("shared_prefix", prior=15.0, similarity=9.5),
    ScorerSettings("late", similarity=9.5, read_ahead=3),
    *(ScorerSettings("shared_prefix", query=form) for form in QUERY_FORMS),
]


@pytest.mark.parametrize("settings", EVERY)
def test_to_a_config_and_back(settings: ScorerSettings) -> None:
    config = settings.to_config()
    assert all(key.startswith("arcf_") for key in config)
    assert ScorerSettings.of(json.loads(json.dumps(config | {"model_type": "bert", "query": "not this"}))) == settings


@pytest.mark.parametrize(
    "settings",
    [
        ScorerSettings("shared_prefix", prior=2.5, similarity=0.5, query="options"),
        ScorerSettings("late", prior=2.5, similarity=0.5, query="stem", read_ahead=2),
    ],
    ids=lambda settings: settings.encoding,
)
def test_through_the_folder_of_a_model_and_its_export(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...], settings: ScorerSettings
) -> None:
    tiny("bert").with_settings(settings).save(tmp_path / "model")
    export(tmp_path / "model", tmp_path / "exported")
    assert load_backbone(tmp_path / "model").settings == settings
    for folder in ("model", "exported"):
        scorer = load_scorer(tmp_path / folder, facts)
        assert scorer.settings == scorer.for_facts(["ice"]).settings == settings


def test_settings_are_given_without_changing_the_model(tiny: Callable[..., Backbone], tmp_path: Path) -> None:
    backbone = tiny("bert")
    joint = backbone.with_settings(ScorerSettings(encoding="joint"))
    joint.save(tmp_path / "joint")
    assert backbone.settings == ScorerSettings()
    assert joint.model is backbone.model
    backbone.save(tmp_path / "plain")
    assert load_backbone(tmp_path / "plain").settings == ScorerSettings()


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ({"model_type": "bert"}, ScorerSettings()),
        ({"arcf_encoding": "joint"}, ScorerSettings(encoding="joint", query="answer")),
        ({"arcf_encoding": "shared_prefix", "arcf_prior": 15.0}, ScorerSettings("shared_prefix", prior=15.0)),
        ({"arcf_encoding": None, "arcf_query": None, "arcf_similarity": None}, ScorerSettings()),
    ],
)
def test_what_an_old_config_lacks_is_as_it_was_then(config: dict[str, object], settings: ScorerSettings) -> None:
    assert ScorerSettings.of(config) == settings


def test_a_folder_that_was_saved_before_still_loads(
    tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]
) -> None:
    """Without the form of questions; and the weights of prior and similarity only where they were not 0."""
    tiny("bert").with_settings(ScorerSettings("shared_prefix")).save(tmp_path)
    expected = load_scorer(tmp_path, facts).score(PREFIX, IDS)
    config = json.loads((tmp_path / "config.json").read_text())
    for key in ("arcf_query", "arcf_prior", "arcf_similarity"):
        del config[key]
    (tmp_path / "config.json").write_text(json.dumps(config))
    scorer = load_scorer(tmp_path, facts)
    assert scorer.settings == ScorerSettings("shared_prefix", query="answer")
    np.testing.assert_array_equal(scorer.score(PREFIX, IDS), expected)


def test_the_packaged_model_is_as_it_was_trained_and_exported() -> None:
    config = json.loads((packaged_model() / "config.json").read_text())
    trained = ScorerSettings("late", prior=15.0, similarity=15.0, query="answer", read_ahead=4)
    assert ScorerSettings.of(config) == replace(trained, dense=6.0, untrained=MINILM, precedents=10.0)


def test_a_number_of_layers_that_cannot_be() -> None:
    with pytest.raises(SettingError, match="read_ahead must be at least 0, not -1"):
        ScorerSettings.of({"arcf_encoding": "late", "arcf_read_ahead": -1})


def test_a_form_of_questions_that_is_not_known() -> None:
    with pytest.raises(SettingError, match="in the form 'riddle', which this arcf does not know; it knows answer, ste"):
        ScorerSettings.of({"arcf_query": "riddle"})
