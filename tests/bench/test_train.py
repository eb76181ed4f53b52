from pathlib import Path

import pytest

from arcf.bench.train import measure_training


@pytest.mark.usefixtures("small_bench")
def test_both_encodings_get_the_same_samples(made_up_model: Path) -> None:
    speed = measure_training(str(made_up_model), 0.0)
    shared, joint = speed.speeds["shared_prefix"], speed.speeds["joint"]
    assert shared.samples == joint.samples
    assert (shared.steps, joint.steps > 1) == (1, True)
    assert 4 < joint.tokens / shared.tokens < 8
