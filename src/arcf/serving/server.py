"""Running the application with uvicorn."""

import socket
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import uvicorn

from arcf.errors import ArcfWarning
from arcf.explainer import Explainer
from arcf.serving.app import create_app
from arcf.serving.settings import LOOPBACK, ServingSettings

GRACE = 10
"""Seconds that running searches have to finish when the server is told to stop."""

KEPT = 60
"""Seconds that an idle connection is kept."""
OPEN = "Everyone who reaches this machine can use the server; a token (--token) keeps strangers out."


def serve(
    explainer: Explainer,
    settings: ServingSettings,
    host: str = "127.0.0.1",
    port: int = 8000,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted. `tell` gets the address once the server listens; port 0 takes any free one.

    Raises:
        OSError: the address cannot be listened on.
    """
    with listen(host, port) as listener:
        if _is_loopback(host):
            settings = replace(settings, hosts=(*settings.hosts, host))
        else:
            settings = replace(settings, hosts=() if settings.hosts == LOOPBACK else settings.hosts)
            if settings.token is None:
                warnings.warn(OPEN, ArcfWarning, stacklevel=2)
        config = uvicorn.Config(
            create_app(explainer, settings),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=KEPT,
            lifespan="off",
            ws="none",
        )
        if tell is not None:
            tell(address(listener))
        # Ctrl+C is how a server ends; by now it has finished what it was doing.
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens."""
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family)


def address(listener: socket.socket) -> str:
    """The address of a listening socket, for a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")
