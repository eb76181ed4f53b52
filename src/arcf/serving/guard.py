"""What stands before every request and behind every answer: host names, body size, HEAD, security headers."""

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arcf.serving.problems import ProblemError, response
from arcf.serving.running import GoneError
from arcf.serving.settings import ServingSettings

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """ASGI middleware. Written plainly, because Starlette's own base class hides a client's disconnect."""

    def __init__(self, app: ASGIApp, settings: ServingSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guarded = _with_headers(scope, send)
        if scope["method"] == "HEAD":
            scope, guarded = {**scope, "method": "GET"}, _without_body(guarded)
        try:
            self._check_host(Headers(scope=scope))
            body = await self._body(Headers(scope=scope), receive)
            _check_form(Headers(scope=scope), body)
        except ProblemError as error:
            await response(error)(scope, receive, guarded)
            return
        except GoneError:
            return
        begun = [False]

        async def noted(message: Message) -> None:
            begun[0] = True
            await guarded(message)

        try:
            await self.app(scope, _replay(body, receive), noted)
        except Exception as error:
            if not begun[0]:
                await response(error)(scope, receive, guarded)
            raise

    def _check_host(self, headers: Headers) -> None:
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self.settings.hosts and name.lower() not in self.settings.hosts:
            raise ProblemError(421, f"This server does not answer to the name '{name}'.")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """The whole body, which is small by rule, read before anything else is done."""
        most, body = self.settings.body_bytes, bytearray()
        too_large = ProblemError(413, f"The body is larger than {most} bytes.", {"Connection": "close"})
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > most:
            raise too_large
        with anyio.move_on_after(self.settings.seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise GoneError
                body += message.get("body", b"")
                if len(body) > most:
                    raise too_large
                more = message.get("more_body", False)
            return bytes(body)
        raise ProblemError(408, "The body did not arrive in time.", {"Connection": "close"})


def _check_form(headers: Headers, body: bytes) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and (kind != "application/json" or headers.get("content-encoding", "identity") != "identity"):
        raise ProblemError(415, "Send JSON as it is, with the header Content-Type: application/json.")


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body in one message, then whatever else comes: the disconnect."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


def _without_body(send: Send) -> Send:
    """HEAD is GET, but for the body."""

    async def headers_only(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return headers_only


def _with_headers(scope: Scope, send: Send) -> Send:
    cache = "no-store" if scope["path"].startswith("/api/") else "no-cache"

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", cache)
        await send(message)

    return guarded
