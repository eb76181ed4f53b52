"""How chains are searched for, as the commands that search for them take it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from arcf.chain import ChainSettings

Visible = Annotated[
    int | None, typer.Option("-k", help="Facts visible from the question and from each chosen fact. [default: 290]")
]
Longest = Annotated[int | None, typer.Option(help="Facts of a chain at most. [default: 9]")]
Shortest = Annotated[int | None, typer.Option(help="Facts of a chain at least, if as many are visible. [default: 3]")]
Exact = Annotated[bool, typer.Option("--exact", help="Score every visible fact in every iteration.")]
ChainOverrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting of chains, such as beams=3; may be repeated."),
]


def chain_settings(
    k: int | None, longest: int | None, shortest: int | None, overrides: Sequence[str] | None, *, exact: bool
) -> "ChainSettings":
    """The settings that a command was given.

    Raises:
        UnknownNameError: there is no such setting.
        SettingError: a value that cannot be.
    """
    from arcf.chain import ChainSettings
    from arcf.config import read_settings

    named = {"k": k, "longest": longest, "shortest": shortest, "rescored": "none" if exact else None}
    given = [f"{key}={value}" for key, value in named.items() if value is not None]
    return read_settings(ChainSettings, overrides=[*(overrides or ()), *given])
