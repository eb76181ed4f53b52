"""The options of commands that can work on a cluster."""

from collections.abc import Sequence
from typing import Annotated

import typer

OPTION = "--ray"

Ray = Annotated[
    str | None,
    typer.Option(
        OPTION,
        metavar="[HOST:PORT]",
        help="Work on the Ray cluster of that address, or auto; without one, Ray is started on this machine.",
    ),
]


def with_address(arguments: Sequence[str]) -> list[str]:
    """The arguments of the command line, where a `--ray` without an address means this machine.

    Typer knows no options that may or may not have a value.
    """
    if OPTION not in arguments:
        return list(arguments)
    from arcf.cluster.connection import HERE

    following = [*arguments[1:], "-"]
    return [
        f"{OPTION}={HERE}" if argument == OPTION and after.startswith("-") else argument
        for argument, after in zip(arguments, following, strict=True)
    ]
