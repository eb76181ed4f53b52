from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.errors import InputError
from arcf.training.settings import TrainingSettings
from arcf.training.sources import make_sources
from arcf.types import Dataset

Settings = Callable[..., TrainingSettings]


def test_hard_negatives_of_several_corpora_come_from_one_run(
    settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    """A corpus that the run does not know has none; a run that knows no corpus is a mistake."""
    (tmp_path / "run.txt").write_text("heron\tneed-bird\nheron\tnowhere\nheron\tis-crow\n")
    other = Dataset("other", dataset.facts, {"train": dataset.split("train")[1:]})
    wanted = settings(
        data={"datasets": {"known": {"held_out": 1}, "unknown": {"held_out": 1}}},
        sampling={"mining": {"run": str(tmp_path / "run.txt")}},
    )
    known, unknown = make_sources(wanted, {"known": dataset, "unknown": other})
    assert {name: [dataset.facts[fact].uid for fact in facts] for name, facts in known.mined.items()} == {
        "heron": ["need-bird", "is-crow"]
    }
    assert unknown.mined == {}
    with pytest.raises(InputError, match=r"run\.txt: has no question of the split train of other or the split train"):
        make_sources(wanted, {"known": other, "unknown": other})
