"""Running the application with uvicorn."""

import errno
import socket
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from arcf.errors import ArcfWarning, SettingError
from arcf.explainer import Explainer
from arcf.serving.app import create_app
from arcf.serving.connection import TimedConnection
from arcf.serving.log import log_config
from arcf.serving.settings import LOOPBACK, ServingSettings

GRACE = 10
"""Seconds that running searches have to finish when the server is told to stop."""

KEPT = 60
"""Seconds that an idle connection is kept."""
OPEN = "Everyone who reaches this machine can use the server; a token (--token) keeps strangers out."


def serve(
    explainer: Explainer,
    settings: ServingSettings,
    listener: socket.socket,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve on a socket that listens already, until interrupted. `tell` gets its address just before."""
    host = listener.getsockname()[0]
    if _is_loopback(host):
        settings = replace(settings, hosts=(*settings.hosts, host))
    else:
        settings = replace(settings, hosts=() if settings.hosts == LOOPBACK else settings.hosts)
        if settings.token is None:
            warnings.warn(OPEN, ArcfWarning, stacklevel=2)
    if tell is not None:
        tell(address(listener))
    # Ctrl+C is how a server ends; by now it has finished what it was doing.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(server_config(create_app(explainer, settings), settings)).run(sockets=[listener])


def server_config(app: FastAPI, settings: ServingSettings) -> uvicorn.Config:
    """How uvicorn runs the application."""
    return uvicorn.Config(
        app,
        http=TimedConnection,
        log_config=log_config(settings.access_log),
        access_log=False,  # of uvicorn's own, which knows no request ids
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=KEPT,
        lifespan="off",
        ws="none",
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any free one. It may be had before there is anything to serve.

    Raises:
        SettingError: the address cannot be listened on.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise SettingError(f"Port {port} of {host} is in use; choose another with --port.") from error
        # Of a name with an empty label, or one that is too long, Python says no more than which codec failed.
        reason = (error.strerror or error) if isinstance(error, OSError) else "that is no name of a host"
        raise SettingError(
            f"Nothing can listen on {host}, port {port} ({reason}); choose others with --host and --port."
        ) from error


def address(listener: socket.socket) -> str:
    """The address of a listening socket, for a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")
