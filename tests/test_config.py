import string
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.config import as_toml, make, presets, read_settings
from arcf.errors import ArcfError, InputError, SettingError, UnknownNameError
from arcf.rankers import RankerSettings
from arcf.scorer.network.scorer import ENCODINGS
from arcf.training.figures import CHOICES
from arcf.training.losses import LOSSES
from arcf.training.samplers import Conditioning, Sampling
from arcf.training.settings import (
    CorpusSettings,
    DataSettings,
    ModelSettings,
    OptimisationSettings,
    RunSettings,
    TrainingSettings,
    ValidationSettings,
)
from arcf.types import QUERY_FORMS


def settings(*overrides: str) -> TrainingSettings:
    return read_settings(TrainingSettings, overrides=overrides)


@pytest.mark.parametrize("name", sorted(presets(TrainingSettings)))
def test_every_preset_can_be_read(name: str) -> None:
    read = read_settings(TrainingSettings, preset=name)
    assert read.data.dataset == "worldtree-2020"
    assert read.data.held_out > 0


def test_the_papers_chains_are_the_papers() -> None:
    assert sorted(presets(RankerSettings)) == ["paper"]
    chain = read_settings(RankerSettings, preset="paper").chain
    assert (chain.k, chain.max_facts, chain.min_facts, chain.rescored) == (290, 9, 3, None)
    assert not chain.average_scores
    assert not chain.skip_repeats
    assert chain.num_beams == 1


def test_one_of_a_few_words() -> None:
    assert settings("sampling.query=stem").sampling.query == "stem"
    with pytest.raises(SettingError, match=r"'sampling\.query' takes answer or stem or options, not 'both'"):
        settings("sampling.query=both")


def test_the_papers_preset_is_the_papers() -> None:
    paper = read_settings(TrainingSettings, preset="paper")
    assert paper.model == ModelSettings(name="distilroberta-base", encoding="joint")
    assert paper.sampling.negatives == 55
    chosen = paper.optimisation
    assert (chosen.loss, chosen.epochs, chosen.tokens_per_step) == ("ranknet", 4.0, 5000)
    assert (chosen.learning_rate, chosen.weight_decay, chosen.clip) == (2e-5, 0.01, 1.0)
    assert (chosen.beta1, chosen.beta2, chosen.epsilon) == (0.9, 0.999, 1e-8)


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("optimisation.epochs=2", "optimisation", "epochs", 2.0),
        ("optimisation.learning_rate=1e-3", "optimisation", "learning_rate", 1e-3),
        ("optimisation.learning_rate = 0.5", "optimisation", "learning_rate", 0.5),
        ("sampling.k=99", "sampling", "k", 99),
        ("sampling.negatives=none", "sampling", "negatives", None),
        ('sampling.negatives="none"', "sampling", "negatives", None),
        ("model.dropout=none", "model", "dropout", None),
        ("model.frozen_layers=2", "model", "frozen_layers", 2),
        ("optimisation.loss=nce", "optimisation", "loss", "nce"),
        ("data.dataset=some folder/with spaces", "data", "dataset", "some folder/with spaces"),
        ("data.dataset=C:\\new\\table", "data", "dataset", "C:\\new\\table"),
        ('data.dataset=a "quoted" one', "data", "dataset", 'a "quoted" one'),
        ('data.dataset="2020"', "data", "dataset", "2020"),
        ("data.dataset=a=b", "data", "dataset", "a=b"),
        ("sampling.conditioning.share=0.2", "sampling", "conditioning", Conditioning(0.2)),
        ("sampling.conditioning=none", "sampling", "conditioning", None),
    ],
)
def test_overrides(override: str, section: str, key: str, value: object) -> None:
    found = getattr(getattr(settings(override), section), key)
    assert found == value
    assert type(found) is type(value)


def test_later_overrides_win_and_sections_are_merged() -> None:
    both = settings("sampling.conditioning.share=0.2", "sampling.k=7", "sampling.conditioning.start=1", "sampling.k=8")
    assert both.sampling == Sampling(k=8, conditioning=Conditioning(0.2, 1))


def test_preset_then_file_then_overrides(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[sampling]\nk = 50\nprefixes = 2\n[optimisation]\nloss = "nce"\n')
    read = read_settings(TrainingSettings, path, "paper", ["sampling.k=60"])
    assert (read.sampling.k, read.sampling.prefixes, read.sampling.negatives) == (60, 2, 55)
    assert (read.optimisation.loss, read.optimisation.learning_rate) == ("nce", 2e-5)


@pytest.mark.parametrize(
    ("overrides", "error", "words"),
    [
        (["optimisation.epoch=2"], UnknownNameError, "'optimisation.epoch'.*mean 'optimisation.epochs'"),
        (["optimization.epochs=2"], UnknownNameError, "'optimization'.*mean 'optimisation'"),
        (["sampling.conditioning.shares=1"], UnknownNameError, "mean 'sampling.conditioning.share'"),
        (["optimisation.zzz=2"], UnknownNameError, "choose one of: .*optimisation.loss"),
        (["optimisation.loss=ranknett"], UnknownNameError, "no loss named 'ranknett'.*mean 'ranknet'"),
        (["model.encoding=shared-prefix"], UnknownNameError, "no encoding named.*mean 'shared_prefix'"),
        (["sampling.k=2.5"], SettingError, "'sampling.k' takes a whole number, not 2.5"),
        (["sampling.k=many"], SettingError, "'sampling.k' takes a whole number, not 'many'"),
        (["sampling.k=true"], SettingError, "'sampling.k' takes a whole number, not True"),
        (["sampling.negatives=few"], SettingError, "takes a whole number or none, not 'few'"),
        (["optimisation.epochs=true"], SettingError, "'optimisation.epochs' takes a number, not True"),
        (["optimisation.epochs=inf"], SettingError, "'optimisation.epochs' takes a number, not inf"),
        (["optimisation.learning_rate=nan"], SettingError, "takes a number, not nan"),
        (["model.frozen_layers=-1"], SettingError, "frozen_layers must be at least 0, not -1"),
        (["data.dataset=2020"], SettingError, "'data.dataset' takes a text, not 2020"),
        (["model=3"], SettingError, "'model' takes a section, not 3"),
        (["sampling.conditioning=3"], SettingError, "takes a section or none, not 3"),
        (["optimisation.epochs=0"], SettingError, r"\[optimisation\] epochs must be more than 0, not 0.0"),
        (["optimisation.warmup=2"], SettingError, "warmup must be from 0 to 1"),
        (["optimisation.beta2=1"], SettingError, r"beta2 must be in \[0, 1\)"),
        (["optimisation.layer_decay=0"], SettingError, "layer_decay must be in"),
        (["optimisation.weight_decay=-1"], SettingError, "weight_decay must be at least 0"),
        (["model.dropout=1"], SettingError, r"dropout must be in \[0, 1\), not 1.0"),
        (["sampling.k=0"], SettingError, "k must be at least 1, not 0"),
        (["sampling.conditioning.share=2"], SettingError, r"\[sampling.conditioning\] Conditioning takes a share"),
        (["data.held_out=-1"], SettingError, "held_out must be at least 0"),
        (["data.datasets=3"], SettingError, "'data.datasets' takes sections, not 3"),
        (["data.datasets.mine=3"], SettingError, "'data.datasets.mine' takes a section, not 3"),
        (["data.datasets.mine.weight=0"], SettingError, r"\[data.datasets.mine\] weight must be more than 0, not 0.0"),
        (["data.datasets.mine.wait=1"], UnknownNameError, "Did you mean 'data.datasets.mine.weight'"),
        (["data.datasets.mine.held_out_facts=-1"], SettingError, "held_out_facts must be at least 0, not -1"),
        (
            ["data.datasets.mine.held_out=0", "data.datasets.mine.held_out_facts=1"],
            SettingError,
            "set held_out to more than 0",
        ),
        (["validation.choose_by=unseen"], UnknownNameError, "Did you mean 'map_and_unseen'"),
        (["validation.questions=0"], SettingError, "questions must be at least 1, not 0"),
        (["validation.every=0"], SettingError, "every must be at least 1"),
        (["run.seed=-1"], SettingError, "seed must be at least 0"),
        (["run.checkpoint_minutes=-1"], SettingError, "checkpoint_minutes must be at least 0"),
        (["run.precision=float16"], SettingError, "precision must be one of auto, float32, bfloat16, not 'float16'"),
        (["run.device=gpu"], SettingError, "device must be auto, cpu, cuda.*not 'gpu'"),
        (["epochs"], SettingError, "written section.key=value, not 'epochs'"),
        (["=3"], SettingError, "written section.key=value"),
        (["a..b=3"], SettingError, "written section.key=value"),
    ],
)
def test_mistakes_get_one_sentence(overrides: list[str], error: type[ArcfError], words: str) -> None:
    with pytest.raises(error, match=words) as raised:
        settings(*overrides)
    assert "\n" not in str(raised.value)


def test_broken_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text("[model\n")
    with pytest.raises(InputError, match=r"broken\.toml: is not TOML"):
        read_settings(TrainingSettings, path)
    with pytest.raises(InputError, match=r"missing\.toml: cannot be read"):
        read_settings(TrainingSettings, tmp_path / "missing.toml")
    with pytest.raises(UnknownNameError, match=r"no preset named 'minilmm'.*Did you mean 'minilm'"):
        read_settings(TrainingSettings, preset="minilmm")


def test_none_in_a_file_means_all(tmp_path: Path) -> None:
    path = tmp_path / "all.toml"
    path.write_text('[sampling]\nnegatives = "none"\n')
    assert read_settings(TrainingSettings, path).sampling.negatives is None


def test_sections_of_any_name() -> None:
    data = settings("data.datasets.mine.weight=2", 'data.datasets.other.dataset="a/b.txt"').data
    assert data.corpora == {"mine": CorpusSettings("mine", weight=2.0), "other": CorpusSettings("a/b.txt")}
    assert DataSettings("some/one", "dev", 7).corpora == {"one": CorpusSettings("some/one", "dev", 7)}


def test_as_toml_reads_well() -> None:
    assert as_toml(Sampling(k=5, negatives=None, conditioning=Conditioning()), "sampling.") == (
        '[sampling]\nkind = "prefixes"\nquery = "answer"\ndistance = "tfidf"\nk = 5\npool = "neighborhood"\n'
        "prefixes = 4\n"
        'negatives = "none"\nword_dropout = 0.0\nmining = "none"\n\n'
        "[sampling.conditioning]\nshare = 0.3\nstart = 2\n\n[sampling.paths]\nretrieved = 25\nstarts = 4\n\n"
        "[sampling.unlabelled]\nmax_facts = 6\nnearest = 24\n\n"
    )


positive = st.floats(1e-12, 1e12)
shares = st.floats(0, 1)
counts = st.integers(1, 10**9)
texts = st.text(st.characters(codec="utf-8") | st.sampled_from(string.printable + "\x7f\\\"'"))
all_settings = st.builds(
    TrainingSettings,
    model=st.builds(
        ModelSettings,
        texts,
        st.sampled_from(sorted(ENCODINGS)),
        st.none() | st.floats(0, 0.99),
        st.none() | st.integers(0, 12),
    ),
    data=st.builds(
        DataSettings,
        texts,
        texts,
        st.integers(0, 10**9),
        st.dictionaries(
            texts, st.builds(CorpusSettings, st.none() | texts, texts, counts, positive, counts), max_size=3
        ),
    ),
    sampling=st.builds(
        Sampling,
        query=st.sampled_from(QUERY_FORMS),
        distance=st.sampled_from(["tfidf", "bm25+overlap"]),
        k=counts,
        pool=st.sampled_from(["neighborhood", "corpus"]),
        prefixes=counts,
        negatives=st.none() | counts,
        word_dropout=st.floats(0, 0.99),
        conditioning=st.none() | st.builds(Conditioning, st.floats(1e-9, 1), st.integers(0, 99)),
    ),
    optimisation=st.builds(
        OptimisationSettings,
        loss=st.sampled_from(sorted(LOSSES)),
        epochs=positive,
        tokens_per_step=counts,
        learning_rate=positive,
        warmup=shares,
        weight_decay=st.floats(0, 10),
        average_from=shares,
    ),
    validation=st.builds(
        ValidationSettings, counts, counts, counts, counts, st.none() | counts, st.sampled_from(sorted(CHOICES))
    ),
    run=st.builds(RunSettings, st.integers(0, 2**60), st.floats(0, 1e6), st.sampled_from(["auto", "bfloat16"])),
)


@given(all_settings)
def test_as_toml_makes_the_same_settings_again(made: TrainingSettings) -> None:
    assert make(TrainingSettings, tomllib.loads(as_toml(made))) == made
