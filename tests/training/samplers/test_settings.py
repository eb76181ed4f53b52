import pytest

from arcf.errors import SettingError
from arcf.training.samplers import SAMPLERS, Conditioning, Mining, Paths, Sampling


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sampling(word_dropout=1.0), "word_dropout"),
        (lambda: Sampling(k=0), "k must be at least 1, not 0"),
        (lambda: Sampling(prefixes=0), "prefixes must be"),
        (lambda: Sampling(negatives=0), "negatives must be"),
        (lambda: Conditioning(share=0), "share in"),
        (lambda: Conditioning(start=-1), "start >= 0"),
        (lambda: Mining("a run", share=0), "share in"),
        (lambda: Mining("a run", depth=0), "depth >= 1"),
        (lambda: Paths(retrieved=0), "from 1 on, not 0 and 4"),
        (lambda: Paths(starts=0), "from 1 on, not 25 and 0"),
    ],
)
def test_impossible_settings(make: object, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("kind", SAMPLERS)
def test_every_kind_takes_the_usual_settings(kind: str) -> None:
    SAMPLERS[kind].check(Sampling(kind=kind))
    SAMPLERS[kind].check(Sampling(kind=kind, query="stem", distance="bm25", word_dropout=0.2, mining=Mining("a run")))


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling("prefixes", conditioning=Conditioning(), pool="corpus"),
        Sampling("facts", pool="corpus"),
        Sampling("prefixes", pool="explaining"),
        Sampling("paths", paths=Paths(30, 8)),
    ],
    ids=lambda sampling: sampling.kind,
)
def test_settings_of_a_kind(sampling: Sampling) -> None:
    SAMPLERS[sampling.kind].check(sampling)


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (Sampling("facts", conditioning=Conditioning()), "only samples of the kind prefixes have any"),
        (Sampling("paths", conditioning=Conditioning()), "only samples of the kind prefixes have any"),
        (Sampling("paths", pool="corpus"), "samples of the kind paths have no pool = corpus"),
        (Sampling("paths", pool="explaining"), "samples of the kind paths have no pool = explaining"),
        (Sampling("prefixes", paths=Paths(starts=8)), "only samples of the kind paths are of chains"),
        (Sampling("facts", paths=Paths(retrieved=8)), "only samples of the kind paths are of chains"),
    ],
)
def test_settings_without_a_use_are_refused_in_one_sentence(sampling: Sampling, words: str) -> None:
    with pytest.raises(SettingError, match=words) as refusal:
        SAMPLERS[sampling.kind].check(sampling)
    message = str(refusal.value)
    assert message.endswith(".")
    assert message.count(".") == 1
