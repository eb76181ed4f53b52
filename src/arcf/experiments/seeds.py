"""Whether a system is better than another whatever the seed: the paper's one-tailed test over training runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arcf.experiments.measured import Measured


@dataclass(frozen=True, slots=True)
class SeedTest:
    """The mean MAP of two systems over their seeds, and p of Student's independent t-test, first above second.

    `p` is None where a system has fewer than two seeds, or all of them the same MAP.
    """

    first: str
    second: str
    means: tuple[float, float]
    deviations: tuple[float, float]
    seeds: tuple[int, int]
    p: float | None


def seed_tests(cells: Sequence[Measured]) -> list[SeedTest]:
    """The first system against each of the others."""
    maps: dict[str, list[float]] = {}
    for cell in cells:
        if cell.map_all is not None:
            maps.setdefault(cell.name, []).append(cell.map_all)
    first, *others = maps or {"": []}
    return [_test(first, other, maps) for other in others]


def _test(first: str, second: str, maps: dict[str, list[float]]) -> SeedTest:
    from scipy.stats import ttest_ind

    one, two = maps[first], maps[second]
    varied = min(len(one), len(two)) > 1 and np.ptp(one) + np.ptp(two) > 0
    p = float(ttest_ind(one, two, alternative="greater").pvalue) if varied else None
    deviations = tuple(float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for values in (one, two))
    means = (float(np.mean(one)), float(np.mean(two)))
    return SeedTest(first, second, means, (deviations[0], deviations[1]), (len(one), len(two)), p)
