import math

import numpy as np

from arcf.neighborhood import Lexical, Overlap
from arcf.types import Fact

TEXTS = ["ice ice water", "water flows downhill", "a bird", "the"]


def test_by_hand() -> None:
    distance = Lexical(Overlap()).build([Fact(text, text) for text in TEXTS], [])
    shares = [2 / math.sqrt(3 * 2), 2 / math.sqrt(3 * 3), 0.0, 0.0]
    np.testing.assert_allclose(distance.distances("ice water flowing flowing"), 1 - np.array(shares))
    assert distance.nearest(0, 9).tolist() == [1]
    assert distance.nearest("downhill", 9).tolist() == [1]
