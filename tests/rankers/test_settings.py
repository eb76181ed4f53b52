"""A ranker as a description: plain values that build the same ranker anywhere."""

import json
from pathlib import Path

import pytest

from arcf.chain import ChainSettings
from arcf.config import as_toml, read_settings
from arcf.data import load
from arcf.errors import SettingError, UnknownNameError
from arcf.rankers import RANKERS, RankerSettings, Tiers, build_ranker, find_kind
from arcf.scorer import packaged_model
from arcf.types import Dataset, Fact, Question

SETTINGS = RankerSettings(
    "arcf", "runs/best", "tfidf+embedding", "stem", ChainSettings(k=7, rescored=None), Tiers(rest=False), "cpu", 2
)


@pytest.mark.parametrize("settings", [RankerSettings(), SETTINGS])
def test_it_goes_through_json_and_toml(settings: RankerSettings, tmp_path: Path) -> None:
    assert RankerSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    file = tmp_path / "ranker.toml"
    file.write_text(as_toml(settings))
    assert read_settings(RankerSettings, file) == settings


def test_its_identity_is_what_decides_a_ranking() -> None:
    usual = RankerSettings().identity()
    assert RankerSettings(device="cpu", threads=3).identity() == usual
    assert RankerSettings(model=str(packaged_model())).identity() == usual
    assert RankerSettings(chain=ChainSettings(k=7)).identity() != usual
    assert RankerSettings(distance="bm25").identity() != usual


@pytest.mark.parametrize("name", sorted(RANKERS))
def test_every_ranker_refuses_what_it_has_no_use_for(name: str) -> None:
    assert find_kind(RankerSettings(name)) is RANKERS[name]
    if "model" not in RANKERS[name].settings:
        with pytest.raises(SettingError, match=f"The ranker {name} has no use for the setting model"):
            find_kind(RankerSettings(name, "some/model"))


def test_wrong_values() -> None:
    with pytest.raises(UnknownNameError, match="There is no ranker named 'bm52'"):
        find_kind(RankerSettings("bm52"))
    with pytest.raises(SettingError, match="one of answer, stem, options, not 'both'"):
        RankerSettings(query="both")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="at least 1, not 0"):
        RankerSettings(threads=0)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'chain\.num_beams'"):
        RankerSettings.from_dict({"chain": {"num_beam": 2}})
    with pytest.raises(UnknownNameError, match="distance"):
        build_ranker(RankerSettings(distance="euclid"), load())


@pytest.mark.parametrize("name", ["tfidf", "bm25-iterated"])
def test_the_form_of_the_query_is_obeyed(name: str) -> None:
    dataset = Dataset("d", (Fact("a", "moss is green"), Fact("b", "herons wade in water")))
    question = Question("q", "What wades?", answer="moss")
    assert build_ranker(RankerSettings(name), dataset).rank(question).facts[0] == 0
    assert build_ranker(RankerSettings(name, query="stem"), dataset).rank(question).facts[0] == 1


def test_bm25_is_the_textbooks() -> None:
    """Against the formula by hand: k1 = 1.2, b = 0.75, one matching word."""
    dataset = Dataset("d", (Fact("a", "ice ice sun"), Fact("b", "ice rock"), Fact("c", "moss")))
    ranking = build_ranker(RankerSettings("bm25"), dataset).rank(Question("q", "ice"))
    idf, mean = 0.4700036292457356, 2.0  # ln(1 + (3 - 2 + 0.5) / (2 + 0.5)); (3 + 2 + 1) / 3 words
    expected = [idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * size / mean)) for tf, size in ((2, 3), (1, 2))]
    assert ranking.facts.tolist() == [0, 1, 2]
    assert ranking.scores.tolist() == pytest.approx([*expected, 0.0])
