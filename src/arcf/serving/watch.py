"""What is known of every request: an id, a line of the log, and its part of the metrics."""

import logging
import re
from collections.abc import Iterable
from secrets import token_hex
from time import perf_counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcf.serving.log import ACCESS, REQUEST_ID
from arcf.serving.metrics import Metrics

HEADER = "X-Request-ID"
FIT = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a proxy or a client may give a request; any other is replaced."""

OTHER = "other"
"""The route of requests that go nowhere: their paths are strangers' words, and without end."""

GONE = 499
"""The status of a request whose client left before it had an answer; nobody sees it but the log."""

STATUS = "arcf.status"
"""The key of a request's scope under which a list holds its status: a stream that fails has begun with 200."""


class Watch:
    """ASGI middleware, around all others. Questions and answers are not logged: they may be private.

    `routes` are the paths that the metrics tell apart, with names in braces for what varies.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Iterable[str]) -> None:
        self.app = app
        self.metrics = metrics
        self._routes = {route: re.compile(re.sub(r"\{\w+\}", ".+", route)) for route in routes}
        self._log = logging.getLogger(ACCESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and tell of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if FIT.fullmatch(given) else token_hex(8)
        REQUEST_ID.set(request_id)
        begun, status = perf_counter(), [GONE]
        scope[STATUS] = status

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._tell(scope, status[0], perf_counter() - begun)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path, client = scope["path"], scope.get("client")
        route = next((route for route, pattern in self._routes.items() if pattern.fullmatch(path)), OTHER)
        self.metrics.answered(route, status, seconds)
        fields = {
            "method": scope["method"],
            "path": path,
            "status": status,
            "seconds": round(seconds, 4),
            "client": client[0] if client else None,
        }
        self._log.info("request", extra={"fields": fields})
