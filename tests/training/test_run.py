"""Whole runs, in this process, and what they leave behind."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pytest
import torch
import transformers

from arcf.chain import ChainSettings
from arcf.config import read_settings
from arcf.data.loading import read
from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.files import write_text
from arcf.neighborhood import make_neighborhood
from arcf.rankers import Autoregressive
from arcf.scorer import Prefix, load_scorer
from arcf.scorer.dense_prior import DensePrior
from arcf.scorer.precedents import Precedents, explained_in
from arcf.scorer.prior import LexicalPrior, WithPrior
from arcf.training import checkpoint
from arcf.training.figures import Figures
from arcf.training.held_out import HeldOut
from arcf.training.losses import Targets, nce
from arcf.training.run import TrainedModel, fingerprint
from arcf.training.run import train as train_on
from arcf.training.settings import CorpusSettings, TrainingSettings
from arcf.training.sources import make_sources
from arcf.training.split import split_questions
from arcf.training.trainer import Callback, StepReport, Trainer
from arcf.types import QUERY_FORMS, Dataset, Fact, Option

Settings = Callable[..., TrainingSettings]
Arcf = Callable[..., int]
Capture = pytest.CaptureFixture[str]


def train(
    settings: TrainingSettings, dataset: Dataset, output: Path, *rest: object, resume: bool = False
) -> TrainedModel:
    """Train on the one dataset, whatever the settings call it and however often they name it."""
    return train_on(settings, apart(settings, dataset), output, *rest, resume=resume)  # type: ignore[arg-type]


def apart(settings: TrainingSettings, dataset: Dataset) -> dict[str, Dataset]:
    """The dataset by every name of the settings. Of several corpora, each has a fact of its own: none knows others."""
    names = list(settings.data.corpora)
    if len(names) == 1:
        return {names[0]: dataset}
    return {name: replace(dataset, facts=(*dataset.facts, Fact(name, f"only {name}"))) for name in names}


def key_of(settings: TrainingSettings, dataset: Dataset) -> str:
    return fingerprint(settings, make_sources(settings, apart(settings, dataset)))


@pytest.fixture(scope="module")
def trained(settings: Settings, dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    return train(settings(), dataset, tmp_path_factory.mktemp("runs") / "finished")


@pytest.fixture(scope="module")
def finished(trained: TrainedModel) -> Path:
    return trained.folder.parent


def lines(output: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]


def test_what_is_left_behind(finished: Path) -> None:
    found = {path.name for path in finished.iterdir()} - {"tensorboard"}
    assert found == {"best", "checkpoint", "log.jsonl", "manifest.json", "model", "settings.toml"}
    files = ["README.md", "config.json", "model.safetensors", "tokenizer.json", "training.json"]
    assert sorted(path.name for path in (finished / "model").iterdir()) == files
    assert sorted(path.name for path in (finished / "best").iterdir()) == files[1:4]


def test_what_is_returned(trained: TrainedModel, finished: Path, trainer: Callable[..., Trainer]) -> None:
    assert trained.folder == finished / "model"
    results = json.loads((finished / "manifest.json").read_text())["results"]
    assert trained.samples == results["samples_seen"] == 40
    assert trained.held_out_map is not None
    assert results["held_out_map"] == pytest.approx(trained.held_out_map, abs=1e-4)
    assert trained.best_after == results["best_after_samples"]
    assert trained.tokens == sum(step.cost for step in trainer().feed.steps(0, 40, 300))
    assert trained.seconds > 0


def test_nothing_is_printed(settings: Settings, dataset: Dataset, tmp_path: Path, capsys: Capture) -> None:
    """Progress is for whoever asks for it, by a callback."""
    train(settings(optimisation={"epochs": 0.5}), dataset, tmp_path / "run")
    assert capsys.readouterr() == ("", "")


class Seen(Callback):
    def __init__(self) -> None:
        self.calls: list[str] = []

    def at_start(self, trainer: Trainer) -> None:
        self.calls.append(f"start at {trainer.progress.position}")

    def after_step(self, trainer: Trainer, report: StepReport) -> None:
        self.calls.append(f"step {trainer.progress.step}")
        assert report.tokens > 0

    def at_end(self, trainer: Trainer) -> None:
        self.calls.append(f"end at {trainer.progress.position}")


def test_callbacks_are_called(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    seen, again = Seen(), Seen()
    wanted = settings(optimisation={"epochs": 0.5})
    train(wanted, dataset, tmp_path / "run", [seen])
    steps = sum("loss" in line for line in lines(tmp_path / "run"))
    assert seen.calls == ["start at 0", *(f"step {number + 1}" for number in range(steps)), "end at 10"]
    train(wanted, dataset, tmp_path / "run", [again], resume=True)
    assert again.calls == ["start at 10", "end at 10"]


def test_the_held_out_map_is_that_of_the_saved_model(
    trained: TrainedModel, settings: Settings, dataset: Dataset
) -> None:
    """By another program's average precision, of the chains that the model makes once it is loaded again."""
    held_out = split_questions(dataset, CorpusSettings(held_out=2)).held_out
    scorer = load_scorer(trained.folder, [fact.text for fact in dataset.facts])
    chains = ChainSettings(k=8, max_facts=2, min_facts=2, rescored=settings().validation.rescored)
    ranker = Autoregressive(scorer, make_neighborhood(dataset), chains)
    qrels = [ir_measures.Qrel(question.id, gold.uid, 1) for question in held_out for gold in question.gold]
    run = [
        ir_measures.ScoredDoc(question.id, dataset.facts[fact].uid, -place)
        for question in held_out
        for place, fact in enumerate(ranker.rank(question).facts.tolist())
    ]
    expected = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
    assert trained.held_out_map == pytest.approx(expected)


@pytest.mark.parametrize(
    "sampling",
    [
        {"kind": "facts", "query": "stem"},
        {"kind": "facts", "pool": "corpus", "distance": "bm25"},
        {"kind": "paths", "paths": {"retrieved": 6, "starts": 2}},
    ],
    ids=["facts", "facts of the corpus", "paths"],
)
@pytest.mark.parametrize("loss", ["bxent", "nce"])
def test_other_kinds_of_sample(
    loss: str, sampling: dict[str, object], settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    wanted = settings(sampling=sampling, optimisation={"loss": loss, "epochs": 1.0}, validation={"max_facts": 1})
    trained = train(wanted, dataset, tmp_path / "run")
    assert trained.samples == 20
    assert trained.held_out_map is not None
    assert 0 < trained.held_out_map <= 1
    assert read_settings(TrainingSettings, tmp_path / "run" / "settings.toml") == wanted
    scorer = load_scorer(trained.folder, [fact.text for fact in dataset.facts])
    assert scorer.settings.query == sampling.get("query", "answer")
    assert scorer.score(Prefix("Which of these must the heron have?"), np.arange(5)).shape == (5,)


@pytest.mark.parametrize(("loss", "left_out"), [("nce", True), ("bxent", False)])
def test_samples_left_out_are_counted(
    loss: str,
    left_out: bool,
    settings: Settings,
    dataset: Dataset,
    trainer: Callable[..., Trainer],
    tmp_path: Path,
) -> None:
    """In the sight of a single fact, many samples have right candidates only, or wrong ones only."""
    wanted = settings(sampling={"k": 1}, optimisation={"loss": loss})
    trained = train(wanted, dataset, tmp_path / "run")
    results = json.loads((tmp_path / "run" / "manifest.json").read_text())["results"]
    made = trainer(wanted)
    kept = sum(len(step.terms) for step in made.feed.steps(0, made.samples, 10**9))
    assert results["samples_seen"] == trained.samples == made.samples == 40
    assert results["samples_left_out"] == 40 - kept
    assert (results["samples_left_out"] > 0) == left_out
    assert f"- samples left out: {40 - kept}" in (trained.folder / "README.md").read_text()


def test_every_file_is_as_readable_as_any_other(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    files = [path for path in finished.rglob("*") if path.is_file() and "tensorboard" not in path.parts]
    assert {path.stat().st_mode for path in files} == {(tmp_path / "any").stat().st_mode}


def test_the_model_is_readable_by_transformers_and_arcf(finished: Path, dataset: Dataset) -> None:
    model, info = transformers.AutoModel.from_pretrained(finished / "model", output_loading_info=True)
    assert model.config.arcf_encoding == "shared_prefix"
    assert model.config.arcf_query == "answer"
    assert all("pooler" in key for key in info["missing_keys"])
    scorer = load_scorer(finished / "model", [fact.text for fact in dataset.facts])
    assert scorer.score(Prefix("Which of these must the heron have? (answer) seeds"), np.arange(5)).shape == (5,)


def test_a_model_with_a_prior(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    wanted = settings(model={"prior": 12.0})
    trained = train(wanted, dataset, tmp_path / "run")
    scorer = load_scorer(trained.folder, [fact.text for fact in dataset.facts])
    assert isinstance(scorer, WithPrior)
    assert isinstance(scorer.prior, LexicalPrior)
    assert scorer.prior.weight == 12.0


def test_a_model_with_a_dense_prior(settings: Settings, dataset: Dataset, model_folder: Path, tmp_path: Path) -> None:
    """It is that of the model as it was before training, or another that is named."""
    texts, prefix = [fact.text for fact in dataset.facts], Prefix("seeds", (1,))
    expected = DensePrior(str(model_folder), texts, 9.0).score(prefix, np.arange(len(texts)))
    first = train(settings(model={"dense": 9.0}), dataset, tmp_path / "first")
    wanted = settings(model={"dense": 9.0, "name": str(first.folder), "untrained": str(model_folder)})
    for trained in (first, train(wanted, dataset, tmp_path / "second")):
        scorer = load_scorer(trained.folder, texts)
        assert isinstance(scorer, WithPrior)
        np.testing.assert_array_equal(scorer.prior.score(prefix, np.arange(len(texts))), expected)


def test_the_prior_is_part_of_the_loss(settings: Settings, trainer: Callable[..., Trainer]) -> None:
    """A model that says nothing has the loss of the prior alone."""
    made = trainer(settings(model={"prior": 12.0}, optimisation={"loss": "nce"}))
    torch.nn.init.zeros_(made.backbone.head.weight)
    torch.nn.init.zeros_(made.backbone.head.bias)
    step = next(made.feed.steps(0, 20, 300))
    assert any(term.prior.any() for term in step.terms)
    losses = [nce(torch.from_numpy(term.prior), Targets(torch.from_numpy(term.labels))) for term in step.terms]
    assert made.step(step, 0.0).loss == pytest.approx(float(torch.stack(losses).mean()), rel=1e-5)


def test_precedents_are_part_of_the_loss(settings: Settings, trainer: Callable[..., Trainer], dataset: Dataset) -> None:
    """Those of the questions that are learnt, and of no sample its own, whatever words of the query are left out."""
    wanted = settings(model={"precedents": 12.0}, sampling={"word_dropout": 0.5})
    (corpus,) = trainer(wanted).feed.corpora
    assert wanted.scorer.precedents == 12.0
    assert corpus.precedents is not None
    sources = make_sources(wanted, dict.fromkeys(wanted.data.corpora, dataset))
    learnt = explained_in(dataset, sources[0].split.learnt, "answer")
    assert 0 < len(learnt) < len(explained_in(dataset, dataset.training, "answer"))
    samples = [corpus.sampler.draw(0, number) for number in range(corpus.sampler.per_epoch)]
    for sample in filter(None, samples):
        term = corpus.encode(sample, lambda *_: 1)
        others = [known for known in learnt if known.query != sample.query]
        expected = Precedents(learnt, 12.0).score(sample.whole_prefixes[0], sample.candidates)
        np.testing.assert_allclose(term.prior, expected, rtol=1e-6)
        used = {fact for known in others for fact in known.facts}
        assert set(sample.candidates[expected > 0].tolist()) <= used
    assert any(sample.prefixes != sample.whole_prefixes for sample in samples if sample)


def test_precedents_are_part_of_validation(
    settings: Settings, trainer: Callable[..., Trainer], dataset: Dataset
) -> None:
    wanted = settings(model={"precedents": 1000.0})
    made, (source,) = trainer(wanted), make_sources(wanted, dict.fromkeys(wanted.data.corpora, dataset))
    (corpus,) = made.feed.corpora
    found = [
        HeldOut(source, replace(corpus, precedents=precedents), wanted).measure(made.model)
        for precedents in (corpus.precedents, None)
    ]
    assert found[0].map != found[1].map


def test_the_model_explains(finished: Path, data_folder: Path, arcf: Arcf, capsys: Capture) -> None:
    arguments = ("--answer", "seeds", "--facts", data_folder, "--model", finished / "model", "--json")
    assert arcf("explain", "Which of these must the heron have?", *arguments) == 0
    assert len(json.loads(capsys.readouterr().out)["facts"]) >= 1


def test_the_model_card(finished: Path, data_folder: Path) -> None:
    card = (finished / "model" / "README.md").read_text()
    header = card.split("---\n")[1]
    assert 'datasets: ["creatures"]' in header
    assert "10 questions of the split train of creatures, 29 facts; 2 more questions were held out" in card
    assert "held out map" in card
    assert "WorldTree" not in card
    assert f'dataset = "{data_folder}"' in card


def test_the_manifest(finished: Path, settings: Settings, dataset: Dataset) -> None:
    manifest = json.loads((finished / "manifest.json").read_text())
    assert json.loads((finished / "model" / "training.json").read_text()) == manifest
    assert manifest["settings"]["optimisation"]["loss"] == "ranknet"
    data = {"name": "creatures", "split": "train", "facts": 29, "questions": 10, "held_out": 2, "weight": 1.0}
    assert manifest["data"] == [data | {"held_out_facts": 0, "new": 0}]
    assert manifest["fingerprint"] == key_of(settings(), dataset)
    assert manifest["processes"] == 1
    assert {"arcf", "torch", "transformers", "python"} <= manifest["versions"].keys()
    assert manifest["results"]["samples_seen"] == 40
    best = max(line["validation_map"] for line in lines(finished) if "validation_map" in line)
    assert manifest["results"]["held_out_map"] == pytest.approx(best, abs=1e-4)


def test_the_log(finished: Path) -> None:
    steps = [line for line in lines(finished) if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, len(steps) + 1))
    assert steps[-1]["position"] == 40
    assert steps[-1]["epoch"] == 2.0
    assert all(line["tokens_per_second"] > 0 for line in steps)
    validations = [line["position"] for line in lines(finished) if "validation_map" in line]
    assert len(validations) == 3
    assert [position // 15 for position in validations] == [1, 2, 2]
    assert validations[-1] == 40


def test_the_settings_make_the_run_again(finished: Path, settings: Settings) -> None:
    assert read_settings(TrainingSettings, finished / "settings.toml") == settings()


def test_resuming_a_finished_run_changes_nothing(
    finished: Path, settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    shutil.copytree(finished, tmp_path / "again")
    train(settings(), dataset, tmp_path / "again", resume=True)
    for name in ("log.jsonl", "manifest.json", "model/README.md", "model/model.safetensors", "best/model.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (finished / name).read_bytes()


def test_without_validation_the_last_weights_are_the_result(
    settings: Settings, dataset: Dataset, tmp_path: Path
) -> None:
    wanted = settings(data={"held_out": 0}, optimisation={"average_from": 0.5, "epochs": 0.5})
    trained = train(wanted, dataset, tmp_path / "run")
    assert trained.held_out_map is None
    assert trained.best_after is None
    model = trained.folder
    assert not (tmp_path / "run" / "best").exists()
    assert "held_out_map" not in json.loads((tmp_path / "run" / "manifest.json").read_text())["results"]
    average = checkpoint.load_file(next((tmp_path / "run" / "checkpoint").glob("step-*")) / "average.safetensors")
    assert checkpoint.load_file(model / "model.safetensors")["classifier.weight"].equal(average["classifier.weight"])


def test_the_trainer_sees_only_learnt_questions(
    trainer: Callable[..., Trainer], settings: Settings, dataset: Dataset
) -> None:
    (corpus,) = trainer(settings(data={"held_out": 5})).feed.corpora
    assert corpus.sampler.questions == list(split_questions(dataset, CorpusSettings(held_out=5)).learnt)  # type: ignore[attr-defined]


THREE = {
    "first": {"dataset": "here", "held_out": 2},
    "second": {"dataset": "there", "held_out": 4, "weight": 0.5},
    "third": {"held_out": 0, "weight": 2},
}


def test_several_corpora(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    wanted = settings(data={"datasets": THREE}, validation={"questions": 3})
    output = tmp_path / "run"
    trained = train(wanted, dataset, output)
    assert read_settings(TrainingSettings, output / "settings.toml") == wanted
    manifest = json.loads((output / "manifest.json").read_text())
    assert [corpus["questions"] for corpus in manifest["data"]] == [10, 8, 12]
    assert manifest["results"]["samples_seen"] == trained.samples == 2 * (20 + 8 + 48)
    validations = {line["position"]: line for line in lines(output) if "validation_map" in line}
    for line in validations.values():
        each = [line[f"validation_map_{name}"] for name in ("first", "second")]
        assert line["validation_map"] == pytest.approx(sum(each) / 2, abs=1e-5)
        assert "validation_map_third" not in line
    best = max(validations.values(), key=lambda line: line["validation_map"])
    assert trained.best_after is not None
    assert validations[trained.best_after]["validation_map"] == best["validation_map"]
    kept = validations[trained.best_after]
    assert trained.held_out_map == pytest.approx(kept["validation_map"], abs=1e-6)
    assert trained.held_out_maps == pytest.approx(
        {key.removeprefix("validation_map_"): value for key, value in kept.items() if "map_" in key}, abs=1e-6
    )
    assert trained.held_out_maps.keys() >= {"first", "second", "second_unseen"}
    assert "8 questions of the split train of creatures" in (output / "model" / "README.md").read_text()


def test_the_fingerprint_of_several_corpora(settings: Settings, dataset: Dataset) -> None:
    key = key_of(settings(data={"datasets": THREE}), dataset)
    elsewhere = THREE | {"first": THREE["first"] | {"dataset": "elsewhere"}}
    assert key == key_of(settings(data={"datasets": elsewhere}), dataset)
    heavier = THREE | {"first": THREE["first"] | {"weight": 2.0}}
    assert key != key_of(settings(data={"datasets": heavier}), dataset)
    changed = Dataset(dataset.name, dataset.facts[:-1], dataset.splits)
    wanted = settings(data={"datasets": THREE})
    datasets = apart(wanted, dataset)
    for name in THREE:
        assert key != fingerprint(wanted, make_sources(wanted, datasets | {name: changed}))


def test_held_out_facts_are_shown_to_validation_only(
    settings: Settings, dataset: Dataset, trainer: Callable[..., Trainer], tmp_path: Path
) -> None:
    wanted = settings(data={"datasets": {"own": {"held_out": 2, "held_out_facts": 3}}}, model={"prior": 2.0})
    (corpus,) = trainer(wanted).feed.corpora
    split = split_questions(dataset, wanted.data.corpora["own"])
    hidden = {fact.uid for fact in dataset.facts} - {fact.uid for fact in split.shown.facts}
    assert len(hidden) == 3
    assert not hidden & {fact.uid for fact in corpus.neighborhood.facts}
    assert len(corpus.facts.candidates) == len(dataset.facts) - 3 + 1
    output = tmp_path / "run"
    trained = train(wanted, dataset, output)
    assert trained.held_out_maps.keys() >= {"own", "own_new", "own_new_unseen"}
    (validation, *_) = (line for line in lines(output) if "validation_map" in line)
    assert validation.keys() >= {"validation_map_own", "validation_map_own_new", "validation_map_own_new_unseen"}
    assert json.loads((output / "manifest.json").read_text())["data"][0]["held_out_facts"] == 3
    assert "3 of the facts, and the 3 questions that they explain" in (trained.folder / "README.md").read_text()


def test_figures_are_those_of_the_saved_model(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    """By another program's average precision, with other gold taken out of qrels and ranking alike."""
    wanted = settings(data={"datasets": {"own": {"held_out": 2, "held_out_facts": 3}}})
    trained = train(wanted, dataset, tmp_path / "run")
    split = split_questions(dataset, wanted.data.corpora["own"])
    known = {gold.uid for question in split.learnt for gold in question.gold}
    scorer = load_scorer(trained.folder, [fact.text for fact in dataset.facts])
    chains = ChainSettings(k=8, max_facts=2, min_facts=2, rescored=wanted.validation.rescored)
    ranker = Autoregressive(scorer, make_neighborhood(dataset), chains)
    for name, questions in (("own", split.held_out), ("own_new", split.new)):
        for part, left_out in ((name, set()), (f"{name}_unseen", known)):
            gold = {q.id: {gold.uid for gold in q.gold} - left_out for q in questions}
            others = {q.id: {gold.uid for gold in q.gold} & left_out for q in questions}
            uids = {q.id: [dataset.facts[fact].uid for fact in ranker.rank(q).facts] for q in questions if gold[q.id]}
            qrels = [ir_measures.Qrel(name, uid, 1) for name, own in gold.items() for uid in own]
            run = [
                ir_measures.ScoredDoc(name, uid, -place)
                for name, ranked in uids.items()
                for place, uid in enumerate(uid for uid in ranked if uid not in others[name])
            ]
            expected = ir_measures.calc_aggregate([ir_measures.AP], qrels, run)[ir_measures.AP]
            assert trained.held_out_maps[part] == pytest.approx(expected), part


def test_validation_is_in_the_precision_that_is_trained_in(
    settings: Settings, dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        HeldOut, "measure", lambda *_: Figures(float(seen.append(torch.is_autocast_enabled("cpu")) or 0.5))
    )
    for precision in ("bfloat16", "float32"):
        train(settings(run={"precision": precision}, optimisation={"epochs": 0.5}), dataset, tmp_path / precision)
    assert seen == [True, False]


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"avx512_bf16": True, "amx_bf16": False}, "bfloat16"),
        ({"bf16": True}, "bfloat16"),
        ({"avx512_bf16": False, "avx2": True}, "float32"),
        ({}, "float32"),
    ],
)
def test_auto_takes_bfloat16_where_the_processor_has_it(
    capabilities: dict[str, bool],
    expected: str,
    settings: Settings,
    dataset: Dataset,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    train(settings(run={"precision": "auto"}, optimisation={"epochs": 0.1}), dataset, tmp_path / "run")
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["precision"] == expected


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"data": {"held_out": 12}}, InputError, "has 12 questions with gold facts in the split train, of which 12"),
        ({"data": {"split": "nothing", "held_out": 0}}, InputError, "has 0 questions with gold facts"),
        ({"data": {"split": "trian"}}, UnknownNameError, "Did you mean 'train'"),
    ],
)
def test_nothing_to_learn_from(
    changes: dict[str, dict[str, object]],
    error: type[Exception],
    words: str,
    settings: Settings,
    dataset: Dataset,
    tmp_path: Path,
) -> None:
    with pytest.raises(error, match=words):
        train(settings(**changes), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_an_empty_training_split(settings: Settings, data_folder: Path, tmp_path: Path) -> None:
    shutil.copy(data_folder / "facts.jsonl", tmp_path)
    (tmp_path / "questions.train.jsonl").write_text("")
    with pytest.raises((InputError, UnknownNameError), match="train"):
        train(settings(), read(tmp_path), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("device", ["cuda:99", "mps:99", "meta"])
def test_a_device_that_is_not_there(settings: Settings, dataset: Dataset, tmp_path: Path, device: str) -> None:
    with pytest.raises(SettingError, match=f"The device {device} is none that torch can use here"):
        train(settings(run={"device": device}), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_output_and_resume_must_fit(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run to resume"):
        train(settings(), dataset, tmp_path / "run", resume=True)
    (tmp_path / "run").mkdir()
    write_text(tmp_path / "run" / "notes", "mine")
    with pytest.raises(InputError, match="not an empty folder"):
        train(settings(), dataset, tmp_path / "run")
    with pytest.raises(InputError, match="not an empty folder"):
        train(settings(), dataset, tmp_path / "run" / "notes")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes"]


def test_a_model_that_is_not_there(settings: Settings, dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty.config\.json: cannot be read"):
        train(settings(model={"name": str(tmp_path / "empty")}), dataset, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_the_fingerprint_is_of(settings: Settings, dataset: Dataset) -> None:
    key = key_of(settings(), dataset)
    assert key == key_of(settings(run={"checkpoint_minutes": 1}, data={"dataset": "elsewhere"}), dataset)
    assert key != key_of(settings(run={"seed": 2}), dataset)
    assert key != key_of(settings(), Dataset(dataset.name, dataset.facts[:-1], dataset.splits))
    assert key != key_of(settings(sampling={"query": "stem"}), dataset)
    fewer = {"train": dataset.split("train")[:-2]}
    assert key != key_of(settings(), Dataset(dataset.name, dataset.facts, fewer))


def test_the_fingerprint_is_of_the_options_where_they_are_read(settings: Settings, dataset: Dataset) -> None:
    first, *others = dataset.split("train")
    changed = Dataset(
        dataset.name, dataset.facts, {"train": (replace(first, options=(Option("A", "seeds"),)), *others)}
    )
    for form in QUERY_FORMS:
        wanted = settings(sampling={"query": form})
        assert (key_of(wanted, dataset) != key_of(wanted, changed)) == (form == "options")
