"""A search as server-sent events: `start`, a `step` for each fact as it is found, then `end` or `error`."""

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arcf.serving.gate import Gate
from arcf.serving.metrics import Metrics
from arcf.serving.problems import as_problem, response
from arcf.serving.running import GoneError, run, while_connected
from arcf.serving.search import Search
from arcf.serving.watch import STATUS
from arcf.types import Step

HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class EventStream(Response):
    """Waits for its turn before it answers, so that a full queue is a plain 503; from then on it streams."""

    media_type = "text/event-stream"

    def __init__(self, search: Search, gate: Gate, seconds: float, metrics: Metrics) -> None:
        super().__init__()
        self.search = search
        self.gate = gate
        self.seconds = seconds
        self.metrics = metrics
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Search and send."""
        try:
            await while_connected(receive, lambda: self._stream(send))
        except GoneError:
            return
        except Exception as error:
            # What Starlette's own handlers know of comes here too: they cannot answer once a response is on its way.
            found, _ = as_problem(error)
            if self._begun:
                scope[STATUS][0] = found.status
                await self._send(send, "error", found, last=True)
            else:
                await response(error)(scope, receive, send)
            if found.status == 500:
                raise

    async def _stream(self, send: Send) -> None:
        async with self.gate.turn(self.seconds):
            await self._send(send, "start", await self.gate.thread(self.search.opening))

            async def tell(step: Step) -> None:
                await self._send(send, "step", self.search.link(step))

            explanation = await run(self.search, self.gate, tell)
            self.metrics.searched(explanation.found.scorings)
            end = await self.gate.thread(self.search.explanation, explanation)
        await self._send(send, "end", end, last=True)

    async def _send(self, send: Send, event: str, data: BaseModel, last: bool = False) -> None:
        if not self._begun:
            self._begun = True
            await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        body = f"event: {event}\ndata: {data.model_dump_json()}\n\n".encode()
        await send({"type": "http.response.body", "body": body, "more_body": not last})
