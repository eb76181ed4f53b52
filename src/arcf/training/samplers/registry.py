"""The samplers by name. A new one is a class in a file of its own and a line here."""

from arcf.registry import pick
from arcf.training.samplers.base import Material, QuestionSampler, Sampler
from arcf.training.samplers.facts import FactSampler
from arcf.training.samplers.paths import PathSampler
from arcf.training.samplers.prefixes import PrefixSampler
from arcf.training.samplers.settings import Sampling
from arcf.training.samplers.unlabelled import UnlabelledSampler

SAMPLERS: dict[str, type[QuestionSampler]] = {
    "prefixes": PrefixSampler,
    "facts": FactSampler,
    "paths": PathSampler,
    "unlabelled": UnlabelledSampler,
}


def make_sampler(material: Material, sampling: Sampling, seed: int) -> Sampler:
    """The sampler of the kind that the settings name.

    Raises:
        UnknownNameError: there is no such kind.
    """
    return pick(SAMPLERS, sampling.kind, "kind of sample")(material, sampling, seed)
