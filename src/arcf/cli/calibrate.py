"""`arcf calibrate`: probabilities for a model's scores, and how far they can be trusted."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcf.cli.output import console, print_json, progress_console, table_of
from arcf.errors import ArcfWarning, InputError, SettingError

if TYPE_CHECKING:
    from arcf.chain import Calibration
    from arcf.evaluation.observation import Observation
    from arcf.types import Dataset, Question

    Observations = list[Observation]


def calibrate(
    model: Annotated[str | None, typer.Argument(help="Folder of a trained model [default: the packaged one].")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A dataset with gold facts; repeat it. [default: science]")
    ] = None,
    split: Annotated[
        str, typer.Option(help="Whose questions; of training, those come first that the model did not learn from.")
    ] = "train",
    questions: Annotated[int, typer.Option(min=1, help="Questions of each dataset at most.")] = 200,
    foreign: Annotated[
        str | None,
        typer.Option(help="A dataset that the others cannot explain: some of its questions are asked of each of them."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The file to write. [default: calibration.json in the model's folder]")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Keep observed chains in this file, and go on from it.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Judge the calibration that the model has.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the reliability diagram into this picture.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit the probabilities that facts belong to an explanation on chains of questions with known gold.

    Example: arcf calibrate runs/best --dataset worldtree-2020 --dataset science --keep chains.jsonl

    The questions of a training split are drawn as training draws those that it holds out: up to that number, they are
    questions that the model did not learn from. Of a split that it learnt without holding any out, take another one.
    """
    from arcf.chain import load_calibration
    from arcf.evaluation.fitting import cross_fit
    from arcf.evaluation.plots import check_picture
    from arcf.files import check_writable
    from arcf.pretrained.location import CALIBRATION, locate
    from arcf.scorer import packaged_model

    name = model or str(packaged_model())
    if check and output is not None:
        raise SettingError("--check writes no calibration; leave out --output.")
    if plot is not None:
        check_picture(plot)
    for written in filter(None, (keep, None if check else output or locate(name) / CALIBRATION)):
        check_writable(written)
    known = load_calibration(name) if check else None
    if check and known is None:
        raise InputError("has no calibration to check; make one with arcf calibrate.", name)
    asked = _questions(dataset or ["science"], foreign, split, questions)
    _warn_of_learnt(name, asked, split)
    observed = _observe(name, asked, keep)
    calibrations = cross_fit(observed) if known is None else [known] * len(observed)
    report = _report(observed, calibrations, fitted=known is None)
    if known is None:
        report["calibration"] = str(_write(name, output, observed, report))
    if plot is not None:
        _draw(observed, calibrations, plot)
    show = print_json if as_json else _print
    show(report)


def _questions(
    names: list[str], foreign: str | None, split: str, count: int
) -> "list[tuple[Dataset, tuple[Question, ...]]]":
    """The questions of each dataset; with `foreign`, every fifth is one of another dataset."""
    from arcf.data import load
    from arcf.evaluation import observation

    asked: list[tuple[Dataset, tuple[Question, ...]]] = []
    other = load(foreign) if foreign else None
    for corpus in map(load, names):
        drawn = observation.draw(corpus, split, count)
        if not drawn:
            raise InputError(f"The split '{split}' of {corpus.name} has no gold facts to observe.")
        if corpus.name in (before.name for before, _ in asked):
            raise SettingError(f"Two datasets are called {corpus.name}; give each once, and a folder of its own name.")
        more = observation.foreign(corpus, other, split, len(drawn) // 4) if other else ()
        asked.append((corpus, (*drawn, *more)))
    return asked


def _warn_of_learnt(model: str, asked: "list[tuple[Dataset, tuple[Question, ...]]]", split: str) -> None:
    """Say so where questions are asked that the model knows: it is surer of these than of others."""
    from arcf.evaluation.observation import held_out

    for corpus, questions in asked:
        known, own = held_out(model, corpus, split), sum(question in corpus.split(split) for question in questions)
        if known is not None and own > known:
            message = f"The model has learnt {own - known} of these questions of {corpus.name}, so it looks surer than"
            advice = "take another split (--split dev)" + (f" or fewer of them (--questions {known})" if known else "")
            warnings.warn(f"{message} it will be of others; {advice}.", ArcfWarning, stacklevel=2)


def _observe(model: str, asked: "list[tuple[Dataset, tuple[Question, ...]]]", keep: Path | None) -> "Observations":
    from rich.progress import Progress

    from arcf.evaluation.observation import Kept, observe_all
    from arcf.rankers import RankerSettings, build_autoregressive

    observed: Observations = []
    kept = Kept(keep, model) if keep is not None else None
    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Observing chains", total=sum(len(questions) for _, questions in asked))
        for corpus, questions in asked:
            ranker = build_autoregressive(RankerSettings(model=model), corpus)
            observed += observe_all(ranker, corpus, questions, kept, lambda: bar.advance(task))
    return observed


def _report(observed: "Observations", calibrations: "list[Calibration]", *, fitted: bool) -> dict[str, Any]:
    """What the probabilities are worth on each corpus, and chains before and after they end by them."""
    from dataclasses import asdict

    from arcf.chain.search import MIN_CONFIDENCE
    from arcf.evaluation import fitting
    from arcf.evaluation.calibration import brier_score, expected_calibration_error

    least = fitting.best_end(observed, calibrations) if fitted else MIN_CONFIDENCE
    corpora = {}
    for name, (own, its) in fitting.by_corpus(*fitting.explicable(observed, calibrations)).items():
        pairs = fitting.pairs(own, its)
        corpora[name] = {
            "questions": len(own),
            "facts": len(pairs),
            "right": sum(right for _, right in pairs) / max(len(pairs), 1),
            "ece": expected_calibration_error(pairs),
            "ece_softmax": expected_calibration_error(fitting.softmax_pairs(own)),
            "brier": brier_score(pairs),
            "stop_alone": asdict(fitting.quality(own, fitting.lengths_without(own))),
            "with_confidence": asdict(fitting.quality(own, fitting.lengths_with(own, its, least))),
        }
    everything = fitting.pairs(observed, calibrations)
    refused = [length == 0 for length in fitting.lengths_with(observed, calibrations, least)]
    return {
        "min_confidence": least,
        "ece": expected_calibration_error(everything),
        "refused": _share(refused, [one.gold > 0 for one in observed]),
        "foreign_refused": _share(refused, [one.gold == 0 for one in observed]),
        "corpora": corpora,
    }


def _share(values: list[bool], which: list[bool]) -> float | None:
    chosen = [value for value, wanted in zip(values, which, strict=True) if wanted]
    return sum(chosen) / len(chosen) if chosen else None


def _write(model: str, output: Path | None, observed: "Observations", report: dict[str, Any]) -> Path:
    from arcf.evaluation.fitting import fit
    from arcf.pretrained.location import CALIBRATION, locate
    from arcf.scorer.exported.folder import is_exported, read_manifest

    folder = locate(model)
    path = output or folder / CALIBRATION
    kept = ("questions", "facts", "right", "ece")
    fit(observed, {name: {key: one[key] for key in kept} for name, one in report["corpora"].items()}).write(path)
    if path.parent == folder and is_exported(folder):
        read_manifest(folder).with_file(path).write(folder)
    return path


def _draw(observed: "Observations", calibrations: "list[Calibration]", path: Path) -> None:
    from arcf.evaluation import fitting
    from arcf.evaluation.calibration import reliability
    from arcf.evaluation.plots import plot_reliability

    parts = fitting.by_corpus(*fitting.explicable(observed, calibrations))
    plot_reliability({name: reliability(fitting.pairs(*part)) for name, part in parts.items()}, path)


def _print(report: dict[str, Any]) -> None:
    table = table_of("", "questions", "right", "ECE", "softmax's ECE", "chains", "precision", "recall", "F1", "facts")
    for name, one in report["corpora"].items():
        head = [name, str(one["questions"]), *(f"{one[key]:.3f}" for key in ("right", "ece", "ece_softmax"))]
        for chains in ("stop_alone", "with_confidence"):
            judged = one[chains]
            values = [f"{judged[key]:.3f}" for key in ("precision", "recall", "f1")]
            table.add_row(*head, chains.replace("_", " "), *values, f"{judged['length']:.1f}")
            head = [""] * 5
    terminal = console()
    terminal.print(table)
    terminal.print(f"ECE over all {report['ece']:.3f}; chains end below a confidence of {report['min_confidence']}")
    terminal.print(f"no explanation found for {report['refused']:.1%} of the questions")
    if report["foreign_refused"] is not None:
        terminal.print(f"and for {report['foreign_refused']:.1%} of those of another dataset")
    if "calibration" in report:
        terminal.print(f"written: {report['calibration']}", markup=False)
