"""What a sample looks like, as the section [sampling] of a configuration file says it."""

from dataclasses import dataclass, field
from typing import Literal

from arcf.errors import SettingError
from arcf.types import QueryForm

Pool = Literal["neighborhood", "corpus", "explaining"]


@dataclass(frozen=True, slots=True)
class Conditioning:
    """Conditioning on negatives (CN): prefixes like those of inference, with wrong facts among the chosen ones.

    From epoch `start` on, a share of the prefix's gold facts, uniform from 0 to `share`, is replaced by visible facts
    that are not gold; at least one gold fact stays.
    """

    share: float = 0.3
    start: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or self.start < 0:
            raise SettingError(
                f"Conditioning takes a share in (0, 1] and a start >= 0, not {self.share}, {self.start}."
            )


@dataclass(frozen=True, slots=True)
class Mining:
    """Hard negatives: wrong facts that a ranker took for right ones.

    `run` is a run file of the training questions (`arcf rank --split train`). `share` of a sample's negatives, as far
    as they are visible, come from the first `depth` wrong facts of its question there; the others stay uniform.
    """

    run: str
    share: float = 0.5
    depth: int = 64

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1 or self.depth < 1:
            raise SettingError(f"Mining takes a share in (0, 1] and a depth >= 1, not {self.share}, {self.depth}.")


@dataclass(frozen=True, slots=True)
class Paths:
    """Chains of two facts, for a path re-ranker.

    A chain begins with one of the `retrieved` (T) facts nearest to the question, and goes on with a fact that shares a
    word with it. A sample compares the chains of `starts` such facts.
    """

    retrieved: int = 25
    starts: int = 4

    def __post_init__(self) -> None:
        if self.retrieved < 1 or self.starts < 1:
            raise SettingError(f"Paths take numbers from 1 on, not {self.retrieved} and {self.starts}.")


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """Questions without gold: the prefix has up to `max_facts` of the `nearest` facts, which are all candidates too."""

    max_facts: int = 6
    nearest: int = 24

    def __post_init__(self) -> None:
        if self.max_facts < 0 or self.nearest < 1:
            raise SettingError(
                f"Unlabelled samples take max_facts >= 0 and nearest >= 1, not {self.max_facts}, {self.nearest}."
            )


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a sample looks like.

    `kind`: a name of `SAMPLERS`. `query`: the form of the question. `distance`: what makes facts visible, and `k` how
    many from each source. `pool`: where wrong facts come from, and right ones with them: the visible facts; the whole
    corpus; or those of the visible ones that explain some learnt question, so that nothing is learnt of facts that
    never do. Questions without gold have no such facts: to them, it is the visible ones.
    `prefixes`: samples per question and epoch. `negatives`: how many wrong facts a sample has, uniform from the pool;
    None takes all of them. `word_dropout`: the share of a query's words that a sample leaves out, at random: a question
    that is never read twice the same is harder to learn by heart.
    """

    kind: str = "prefixes"
    query: QueryForm = "answer"
    distance: str = "tfidf"
    k: int = 180
    pool: Pool = "neighborhood"
    prefixes: int = 4
    negatives: int | None = 32
    word_dropout: float = 0.0
    conditioning: Conditioning | None = None
    mining: Mining | None = None
    paths: Paths = field(default_factory=Paths)
    unlabelled: Unlabelled = field(default_factory=Unlabelled)

    def __post_init__(self) -> None:
        for name in ("k", "prefixes", "negatives"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingError(f"The setting {name} must be at least 1, not {value}.")
        if not 0 <= self.word_dropout < 1:
            raise SettingError(f"The setting word_dropout must be in [0, 1), not {self.word_dropout}.")
