"""The options that describe a ranker, for every command that builds one."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

DatasetOrFacts = Annotated[
    str,
    typer.Option(
        "--dataset", "--facts", help="Name of an installed dataset, or path of a zip, folder or file of facts."
    ),
]

Exact = Annotated[bool, typer.Option("--exact", help="Score every visible fact in every iteration.")]
Preset = Annotated[str | None, typer.Option(help="Packaged settings to start from: paper (exact, and slow).")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Any setting, such as chain.num_beams=3 or tiers.rest=false; repeat it."
    ),
]

#: What the parameter of an option sets, and how it is declared.
MODEL_OPTIONS: dict[str, tuple[str, Any]] = {
    "model": (
        "model",
        Annotated[str | None, typer.Option(help="Folder of a trained model [default: the packaged one].")],
    ),
    "distance": (
        "distance",
        Annotated[
            str | None,
            typer.Option(help="What makes facts visible; several joined by +. [default: tfidf]"),
        ],
    ),
    "query": (
        "query",
        Annotated[
            str | None,
            typer.Option(help="What of a question is read: answer, stem or options. [default: as the model learnt it]"),
        ],
    ),
    "device": (
        "device",
        Annotated[str | None, typer.Option(help="Where torch weights run: cpu, cuda, ... [default: a GPU if any]")],
    ),
    "threads": (
        "threads",
        Annotated[int | None, typer.Option(min=1, help="Threads of the processor. [default: all]")],
    ),
}
CHAIN_OPTIONS: dict[str, tuple[str, Any]] = {
    "k": (
        "chain.k",
        Annotated[
            int | None,
            typer.Option("-k", help="Facts visible from the question and from each chosen fact. [default: 290]"),
        ],
    ),
    "max_facts": (
        "chain.max_facts",
        Annotated[int | None, typer.Option(help="Facts of a chain at most. [default: 9]")],
    ),
    "min_facts": (
        "chain.min_facts",
        Annotated[int | None, typer.Option(help="Facts of a chain at least, if as many are visible. [default: 0]")],
    ),
    "min_confidence": (
        "chain.min_confidence",
        Annotated[
            float | None,
            typer.Option(
                min=0,
                max=1,
                help="End the chain before a fact that is less likely to belong, of a calibrated model. [default: 0.2]",
            ),
        ],
    ),
}


def with_model(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of a model instead of its parameter `settings`, which is made from them."""
    return _with_options(command, MODEL_OPTIONS)


def with_ranker(command: Callable[..., None]) -> Callable[..., None]:
    """The same, with the options of chains, presets and every other setting."""
    more = {"preset": Preset, "exact": Exact, "overrides": Overrides}
    return _with_options(command, MODEL_OPTIONS | CHAIN_OPTIONS, more)


def _with_options(
    command: Callable[..., None], options: dict[str, tuple[str, Any]], more: dict[str, Any] | None = None
) -> Callable[..., None]:
    """Typer reads a function's signature: this gives it one in which `settings` is replaced by options."""
    annotations = {name: annotation for name, (_, annotation) in options.items()} | (more or {})

    @wraps(command)
    def wrapped(**given: Any) -> None:
        own = {name: given.pop(name) for name in annotations}
        command(settings=_settings(own, options), **given)

    signature = inspect.signature(command)
    kept = [parameter for name, parameter in signature.parameters.items() if name != "settings"]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if annotation is Exact else None,
            annotation=annotation,
        )
        for name, annotation in annotations.items()
    ]
    wrapped.__signature__ = signature.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: hint for name, hint in command.__annotations__.items() if name != "settings"}
    wrapped.__annotations__ |= annotations
    return wrapped


def _settings(given: dict[str, Any], options: dict[str, tuple[str, Any]]) -> Any:
    """The settings that a command was given: a preset, changed by `--set`, changed by options of their own.

    Raises:
        UnknownNameError: there is no such preset or setting.
        SettingError: a value that cannot be.
    """
    from arcf.config import read_settings, toml_value
    from arcf.rankers import RankerSettings

    named = {key: given[name] for name, (key, _) in options.items() if given[name] is not None}
    if given.get("exact"):
        named["chain.rescored"] = "none"
    overrides = [*(given.get("overrides") or ()), *(f"{key}={toml_value(value)}" for key, value in named.items())]
    return read_settings(RankerSettings, preset=given.get("preset"), overrides=overrides)
