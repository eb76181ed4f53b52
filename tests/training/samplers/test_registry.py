import pytest

from arcf.errors import UnknownNameError
from arcf.neighborhood import make_neighborhood
from arcf.training.samplers import SAMPLERS, Material, Sampling, make_sampler
from arcf.types import Dataset, Fact, Gold, Question

ASKED = Question("q", "ice", gold=(Gold("u0"),))
DATASET = Dataset("made-up", (Fact("u0", "ice melts"),), {"train": (ASKED,)})
MATERIAL = Material(DATASET, (ASKED,), make_neighborhood(DATASET))


@pytest.mark.parametrize(("kind", "made"), SAMPLERS.items(), ids=SAMPLERS)
def test_every_kind_is_made_by_name(kind: str, made: type) -> None:
    assert type(make_sampler(MATERIAL, Sampling(kind=kind), 1)) is made


def test_there_is_no_such_kind() -> None:
    with pytest.raises(UnknownNameError, match=r"no kind of sample named 'prefix'.*Did you mean 'prefixes'"):
        make_sampler(MATERIAL, Sampling(kind="prefix"), 1)
