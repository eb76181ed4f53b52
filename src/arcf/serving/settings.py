"""What a server allows: every limit in one frozen record."""

import re
from dataclasses import dataclass
from math import inf

from arcf.errors import SettingError

TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names that a browser may call a server by that listens on this machine only."""


@dataclass(frozen=True, slots=True)
class ServingSettings:
    """The limits of a server.

    `model` is the model's name, only shown. With a `token`, the API wants it as bearer token. `hosts` are the names
    that requests may call the server by (empty: any): a foreign page that points its own name at this machine cannot
    use it. `body_bytes`, `question_chars` (also of an answer and an option), `k` and `max_facts` (L) bound one request;
    `seconds` is its time, waiting included. `workers` searches run at once, `waiting` more stand in line; whoever comes
    then is told to come back later. `page_size` bounds the items of one page, and the facts of one ranking.
    `access_log`: a line of the log for every request. `metrics`: /metrics, for Prometheus.
    """

    model: str = ""
    token: str | None = None
    hosts: tuple[str, ...] = LOOPBACK
    body_bytes: int = 65_536
    question_chars: int = 2_000
    k: int = 1_000
    max_facts: int = 20
    seconds: float = 60.0
    workers: int = 1
    waiting: int = 32
    page_size: int = 100
    access_log: bool = False
    metrics: bool = False

    def __post_init__(self) -> None:
        for name in ("body_bytes", "question_chars", "k", "max_facts", "seconds", "workers", "page_size"):
            if not 0 < getattr(self, name) < inf:
                raise SettingError(f"The setting {name} of a server is above 0, not {getattr(self, name)}.")
        if self.waiting < 0:
            raise SettingError(f"The setting waiting of a server is at least 0, not {self.waiting}.")
        for host in self.hosts:
            if "/" in host or "]:" in host or host.count(":") == 1:  # an address of version 6 has more
                raise SettingError(f"A host that a server answers to is a name without scheme and port, not '{host}'.")
        if self.token is not None and not TOKEN.fullmatch(self.token):
            raise SettingError("The token of a server is one word of ASCII letters, digits and -._~+/=.")
