"""The published datasets that arcf can install."""

from dataclasses import dataclass

WORLDTREE_LICENCE = (
    "WorldTree: the questions are for research use only, not commercial; the explanations and tables are under "
    "CC BY-SA 4.0. Please cite Xie et al. (2020), WorldTree V2: A Corpus of Science-Domain Structured Explanations and "
    "Inference Patterns supporting Multi-Hop Inference, LREC 2020."
)


@dataclass(frozen=True, slots=True)
class Release:
    """A dataset as it was published.

    `layout` is the pattern of a file that tells it from its siblings. Without `sha256`, no single archive is the
    official one, and what is installed is judged by reading it; without `url`, none is known to us.
    """

    layout: str
    licence: str
    url: str | None = None
    sha256: str | None = None


RELEASES: dict[str, Release] = {
    "worldtree-2020": Release(
        layout="questions.train.tsv",
        licence=WORLDTREE_LICENCE,
        url="https://cognitiveai.org/dist/tg2020task-dataset.zip",
        sha256="63985c855088c33919012ed722c143bf1ff2381796771a008d6c8ea1dbcf607e",
    ),
    "worldtree-2019": Release(layout="questions/ARC-Elementary+EXPL-*.tsv", licence=WORLDTREE_LICENCE),
}
