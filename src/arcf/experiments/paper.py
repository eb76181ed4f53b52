"""The paper's own figures (Cartuyvels, Spinks and Moens, 2020), to stand beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass

TEST_2020 = "2020 test, distilroberta-base"
RANDOM_2020 = "2020 test, distilroberta-base; from 'about 25%'"
DIFFERENCE_2020 = "2020 val, distilroberta-base; from the printed difference"
TEST_2019 = "2019 test, bert-base-uncased"
TRAIN_2020 = "2020 train"
P100 = "one Tesla P100"


@dataclass(frozen=True, slots=True)
class Theirs:
    """A figure of the paper, and what it was measured on: the split, and after a comma the model."""

    value: float
    where: str

    @property
    def split(self) -> str:
        """The split, such as 2020 test."""
        return self.where.partition(",")[0]


#: Table 1: the mean fraction of gold facts within reach, by k.
REACHABILITY: Mapping[int, float] = {90: 0.90, 130: 0.95, 180: 0.97, 290: 0.99}

#: Table 2a: MAP by system, on the test sets of 2020 and 2019.
MAIN: Mapping[str, tuple[float, float]] = {
    "TF-IDF": (0.3743, 0.3870),
    "Single fact": (0.4992, 0.5574),
    "Path re-rank": (0.4629, 0.5313),
    "Ensemble": (0.5081, 0.5625),
    "ARCF, RankNet": (0.5815, 0.5707),
    "ARCF, RankNet, CN": (0.5810, 0.5575),
    "ARCF, NCE": (0.5728, 0.5634),
    "ARCF, NCE, CN": (0.5759, 0.5691),
}

#: Table 2b: MAP on the validation set of 2020; the paper prints differences from the first.
VALIDATION = 0.5931
ABLATIONS: Mapping[str, float] = {
    "ARCF, RankNet": 0.0,
    "ARCF, bXENT": -0.0060,
    "ARCF, SF train": -0.101,
    "ARCF, SF inf": -0.041,
    "ARCF, without prefix and neighborhoods": -0.054,
    "ARCF, without R3": -0.0001,
    "ARCF, without R3 and S2": -0.079,
}
#: "About 25% of pre-trained models", on the test set of 2020.
RANDOM = 0.25 * 0.5815

#: Table 2c: hours of training and seconds a question.
HOURS: Mapping[str, float] = {"Single fact": 56.3, "Path re-rank": 16.2, "ARCF, RankNet": 5.7}
SECONDS: Mapping[str, float] = {"Single fact": 18.4, "Path re-rank": 31.8, "ARCF, RankNet": 9.6}

#: Tables 2d (at L = 8) and 2e (at k = 180): MAP on the test set of 2020 and seconds a question.
BY_K: Mapping[int, tuple[float, float]] = {
    90: (0.567, 2.5),
    130: (0.577, 3.6),
    180: (0.581, 4.9),
    210: (0.581, 5.7),
    290: (0.581, 7.8),
}
BY_L: Mapping[int, tuple[float, float]] = {
    2: (0.561, 0.43),
    4: (0.576, 1.4),
    6: (0.581, 2.9),
    8: (0.581, 4.9),
    10: (0.581, 7.6),
    12: (0.581, 11.0),
    14: (0.582, 15.1),
}
