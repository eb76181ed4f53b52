"""Finding a Ray cluster, or starting Ray on this machine."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arcf.errors import ArcfError, InputError, MissingExtraError, SettingError

HERE = "local"
"""The address of no cluster: Ray is started on this machine, and ended with the work."""

PATIENCE = 5.0
"""Seconds that a cluster has to answer."""

TRIES = 2
"""How often Ray is started here: it gives its own helpers 15 s to start, which is too short on a busy machine."""


def import_ray() -> Any:
    """The library.

    Raises:
        MissingExtraError: it is not installed.
    """
    # Ray tells its makers what it is used for, unless told not to before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtraError("Work on a Ray cluster", "scale") from error
    return ray


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Be connected to the cluster at HOST:PORT, to `auto` (the one that this machine belongs to), or to `HERE`.

    A process that is connected already stays with its cluster.

    Raises:
        MissingExtraError: Ray is not installed.
        SettingError: the address is none.
        InputError: nothing answers there, or something else than we need.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield
        return
    _check(address)
    _init(ray, address, tries=TRIES if address == HERE else 1)
    try:
        yield
    finally:
        ray.shutdown()


def _init(ray: Any, address: str, tries: int) -> None:
    """Connect. What workers print stays in their logs: what we have to say of them, we say ourselves."""
    try:
        dashboard = False if address == HERE else None
        ray.init(address=address, include_dashboard=dashboard, log_to_driver=False, logging_level="ERROR")
    except Exception as error:  # Ray raises plain ones, too.
        ray.shutdown()
        if tries == 1:
            raise _explained(address, error) from error
        _init(ray, address, tries - 1)


def _check(address: str) -> None:
    """Find out in seconds what Ray would find out in minutes."""
    if address in (HERE, "auto"):
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise _no_address(address)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except UnicodeError as error:  # What no host can be called: an empty label, or one that is too long.
        raise _no_address(address) from error
    except (OSError, OverflowError) as error:
        raise InputError(
            f"No Ray cluster answers at {address} ({error}); start its head there with: ray start --head --port={port}"
        ) from error


def _no_address(address: str) -> SettingError:
    return SettingError(f"The address of a Ray cluster is HOST:PORT of its head, or auto, not '{address}'.")


def _explained(address: str, error: Exception) -> ArcfError:
    reason = " ".join(str(error).split())
    if "ersion mismatch" in reason:
        return InputError(
            f"The cluster at {address} has other versions than this machine; install the same everywhere. ({reason})"
        )
    if address == HERE:
        return InputError(f"Ray could not be started on this machine ({reason}).")
    return InputError(
        f"The Ray cluster at {address} cannot be used from here ({reason}); this machine must be one of its nodes: "
        f"ray start --address={'HOST:PORT' if address == 'auto' else address}"
    )
