"""`arcf train`: learn to score the next fact of a chain."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.output import note, progress_console
from arcf.errors import InputError, MissingExtraError, SettingError
from arcf.types import Dataset

if TYPE_CHECKING:
    from arcf.training.settings import DataSettings
    from arcf.training.trainer import Callback


def train(
    config: Annotated[Path | None, typer.Argument(help="A TOML file of settings.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Packaged settings to start from: minilm, student, mixed, mpnet, mpnet-gpu, teacher or paper."
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="One setting; may be repeated.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Short for --set data.dataset=NAME-OR-PATH.")] = None,
    distance: Annotated[str | None, typer.Option(help="Short for --set sampling.distance=NAME.")] = None,
    query: Annotated[str | None, typer.Option(help="Short for --set sampling.query=answer|stem|options.")] = None,
    output: Annotated[Path, typer.Option(help="Folder of the run: model, checkpoint, log, manifest.")] = Path(
        "runs/latest"
    ),
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the folder's checkpoint; its settings are remembered.")
    ] = False,
) -> None:
    """Train a scorer on questions with gold facts.

    Several processes: torchrun --nproc-per-node 2 -m arcf train --preset minilm

    After a kill: arcf train --resume --output runs/minilm

    Example: arcf train --preset minilm --dataset worldtree-2020 --output runs/minilm --set optimisation.loss=nce
    """
    from arcf.config import read_settings, toml_value

    try:
        from arcf.training.run import SETTINGS
        from arcf.training.run import train as run
        from arcf.training.settings import TrainingSettings
    except ModuleNotFoundError as error:
        raise MissingExtraError("Training", "train") from error

    if config is None and preset is None:
        config = output / SETTINGS
        if not resume:
            raise SettingError("Give a configuration file or a preset, such as --preset minilm.")
        if not config.is_file():
            raise InputError(
                "holds no run to resume; name the folder of one (--output), or train without --resume.", output
            )
    short = {"data.dataset": dataset, "sampling.distance": distance, "sampling.query": query}
    given = [*(overrides or []), *(f"{key}={toml_value(value)}" for key, value in short.items() if value)]
    settings = read_settings(TrainingSettings, config, preset, given)
    if settings.data.datasets:
        _check_sections(given)
    datasets = load_datasets(settings.data)
    with _watcher() as watcher:
        trained = run(settings, datasets, output, [watcher], resume=resume)
    scored = f" (held-out MAP {trained.held_out_map:.4f})" if trained.held_out_map is not None else ""
    note(f"The model is in {trained.folder}{scored}")


def _check_sections(given: Sequence[str]) -> None:
    """What is said of the one corpus would be passed over."""
    names = [setting.partition("=")[0].strip() for setting in given]
    if lost := [name for name in names if name.startswith("data.") and name.count(".") == 1]:
        key = lost[0].removeprefix("data.")
        raise SettingError(f"The settings name their datasets in sections; set data.datasets.NAME.{key} instead.")


def _watcher() -> "AbstractContextManager[Callback]":
    """A bar on a terminal, lines in a file or pipe, and silence with -q."""
    from arcf.training.bar import Bar
    from arcf.training.lines import Lines

    terminal = progress_console()
    return nullcontext(Lines(note)) if terminal.quiet else Bar(terminal)


def load_datasets(settings: "DataSettings") -> dict[str, Dataset]:
    """The datasets that a run learns from, by the names that the settings give them; each is read once."""
    from arcf.data import load

    places = {name: corpus.dataset or name for name, corpus in settings.corpora.items()}
    loaded = {place: load(place) for place in dict.fromkeys(places.values())}
    return {name: loaded[place] for name, place in places.items()}
