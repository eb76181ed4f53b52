from pathlib import Path

import numpy as np
import pytest

from arcf.errors import InputError
from arcf.training.teacher_scores import SHARD, TeacherScores, claim_folder, read_teacher

KEY = "0123456789abcdef0123"


def shard(start: int = 0) -> list[np.ndarray]:
    """Of 0, 1, 2, 3, 0, 1, ... candidates; a score says whose it is."""
    return [np.full(number % 4, start + number, dtype=np.float32) for number in range(SHARD)]


@pytest.fixture
def scores(tmp_path: Path) -> TeacherScores:
    made = TeacherScores(tmp_path, "mine", KEY)
    made.write(0, shard())
    made.write(2, shard(2 * SHARD))
    return made


def test_by_number(scores: TeacherScores) -> None:
    for start in (0, 2 * SHARD):
        for number in (start + SHARD - 1, start, start + 2, start + 5):
            assert scores.scores(number, number % 4).tolist() == [number] * (number % 4)


def test_what_is_missing(scores: TeacherScores, tmp_path: Path) -> None:
    assert scores.missing(0) == []
    assert scores.missing(SHARD) == []
    assert scores.missing(SHARD + 1) == [1]
    assert scores.missing(4 * SHARD) == [1, 3]
    assert TeacherScores(tmp_path, "mine", "f" * 20).missing(1) == [0]
    scores.require(SHARD)
    with pytest.raises(InputError, match=r"has no scores of 128 of the samples .* from mine; run arcf teach with"):
        scores.require(4 * SHARD)
    with pytest.raises(InputError, match=r"000001\.npz: is not there; run arcf teach again"):
        scores.scores(SHARD, 1)


def test_other_samples_than_those_that_were_scored(scores: TeacherScores) -> None:
    with pytest.raises(InputError, match=r"has 2 scores of a sample with 3 candidates.*run arcf teach again"):
        scores.scores(2, 3)


@pytest.mark.parametrize(
    "damage", ["cut", "empty", "changed", "text", "pickle", "another shape", "not finite", "a folder"]
)
def test_damage_is_told(damage: str, tmp_path: Path) -> None:
    TeacherScores(tmp_path, "mine", KEY).write(0, shard())
    (path,) = tmp_path.rglob("*.npz")
    content = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "empty":
            path.write_bytes(b"")
        case "changed":
            middle = content.index(b"scores.npy") + 200
            path.write_bytes(content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :])
        case "text":
            path.write_text("scores")
        case "pickle":
            np.savez(path, counts=np.array([{}] * SHARD, dtype=object), scores=np.zeros(0))
        case "another shape":
            np.savez(path, counts=np.ones(SHARD, dtype=np.int64), scores=np.zeros(SHARD - 1))
        case "not finite":
            np.savez(path, counts=np.ones(SHARD, dtype=np.int64), scores=np.full(SHARD, np.nan))
        case "a folder":
            path.unlink()
            path.mkdir()
    with pytest.raises(InputError, match="is damaged; delete it and run arcf teach again"):
        TeacherScores(tmp_path, "mine", KEY).scores(1, 1)


def test_a_folder_is_one_teachers(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "scores"
    with pytest.raises(InputError, match="holds no teacher's scores; make them with arcf teach"):
        read_teacher(folder)
    claim_folder(folder, {"model": "abc"})
    claim_folder(folder, {"model": "abc"})
    assert read_teacher(folder) == {"model": "abc"}
    with pytest.raises(InputError, match="scores of another teacher; choose another folder"):
        claim_folder(folder, {"model": "abd"})
