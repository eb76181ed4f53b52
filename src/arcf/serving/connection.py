"""A connection that does not wait for ever: uvicorn bounds idle connections and bodies, but not slow headers."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_SECONDS = 10.0
"""Time that the line and the headers of a request have to arrive, from its first byte, or from connecting, on."""


class TimedConnection(H11Protocol):
    """HTTP/1.1, where a request whose headers do not come in time gets 408 and is cut off."""

    _headers_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Read on; drops of a header do not prolong its time."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._expect_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        if self._headers_due is None:
            self._headers_due = self.loop.call_later(HEADERS_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
            self._headers_due = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()
