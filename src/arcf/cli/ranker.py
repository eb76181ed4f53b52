"""How facts are ranked and chains are searched for, as the commands that do it take it."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from arcf.rankers import RankerSettings

DatasetOrFacts = Annotated[
    str,
    typer.Option(
        "--dataset", "--facts", help="Name of an installed dataset, or path of a zip, folder or file of facts."
    ),
]
Model = Annotated[str | None, typer.Option(help="Folder of a trained model [default: the packaged one].")]
Distance = Annotated[str | None, typer.Option(help="What makes facts visible; several joined by +. [default: tfidf]")]
Query = Annotated[
    str | None,
    typer.Option(help="What of a question is read: answer, stem or options. [default: as the model has learnt it]"),
]
Preset = Annotated[str | None, typer.Option(help="Packaged settings to start from: paper (exact, and slow).")]
Visible = Annotated[
    int | None, typer.Option("-k", help="Facts visible from the question and from each chosen fact. [default: 290]")
]
MaxFacts = Annotated[int | None, typer.Option(help="Facts of a chain at most. [default: 9]")]
MinFacts = Annotated[int | None, typer.Option(help="Facts of a chain at least, if as many are visible. [default: 3]")]
Exact = Annotated[bool, typer.Option("--exact", help="Score every visible fact in every iteration.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Any setting, such as chain.num_beams=3 or tiers.rest=false; repeat it."
    ),
]
Device = Annotated[str | None, typer.Option(help="Where torch weights run: cpu, cuda, ... [default: a GPU if any]")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of the processor. [default: all]")]


def ranker_settings(preset: str | None, overrides: Sequence[str] | None, **named: Any) -> "RankerSettings":
    """The settings that a command was given: a preset, changed by `--set`, changed by options of their own.

    `named` are such options by the key that they set, with two underscores for a dot; None: not given.

    Raises:
        UnknownNameError: there is no such preset or setting.
        SettingError: a value that cannot be.
    """
    from arcf.config import read_settings
    from arcf.rankers import RankerSettings

    given = [f"{key.replace('__', '.')}={json.dumps(value)}" for key, value in named.items() if value is not None]
    return read_settings(RankerSettings, preset=preset, overrides=[*(overrides or ()), *given])
