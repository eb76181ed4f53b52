"""The options of commands that can work on a cluster."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arcf.errors import SettingError

if TYPE_CHECKING:
    from rich.progress import Progress

    from arcf.rankers import OnCluster

OPTION = "--ray"

Ray = Annotated[
    str | None,
    typer.Option(
        OPTION,
        metavar="[HOST:PORT]",
        help="Work on the Ray cluster of that address, or auto; without one, Ray is started on this machine.",
    ),
]

Workers = Annotated[
    int | None, typer.Option(min=1, help="Workers on the cluster [default: as many as it has processors for].")
]


def chosen_cluster(ray: str | None, workers: int | None) -> "OnCluster | None":
    """The cluster that the options mean, if any.

    Raises:
        SettingError: workers are asked for, and no cluster.
    """
    if ray is None:
        if workers is not None:
            raise SettingError("--workers is how many work on a cluster; it goes with --ray.")
        return None
    from arcf.rankers import OnCluster

    return OnCluster(ray, workers)


def tell_workers(bar: "Progress", verb: str, alive: int, workers: int) -> None:
    """Say beside a bar how fast it goes, and how many workers there are."""
    task = bar.tasks[0]
    said = f"{verb} ({task.speed or 0.0:.1f} questions/s, {alive} of {workers} workers)"
    bar.update(task.id, description=said)


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
