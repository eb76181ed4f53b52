from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")


def test_the_packaged_model_and_a_mistake(
    arcf: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arcf("restore", "--output", tmp_path / "restored") == 0
    assert (tmp_path / "restored" / "model.safetensors").is_file()
    assert f"The model is in {tmp_path / 'restored'}" in capsys.readouterr().err
    assert arcf("restore", tmp_path / "restored", "--output", tmp_path / "again") == 2
    assert "is no exported model" in capsys.readouterr().err
