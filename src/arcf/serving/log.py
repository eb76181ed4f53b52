"""The server's log: JSON lines on standard error, each with the id of the request that it is about."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

ACCESS = "arcf.access"
"""The logger with a line for each request."""

OTHERS = ("uvicorn", "ray.serve")
"""Loggers of libraries, which would write lines of their own kind, and many."""

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is being answered; it goes with the task that answers."""


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, message, the request's id, and `fields`, if it was given any."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if request_id := REQUEST_ID.get():
            line["request_id"] = request_id
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_config(access: bool) -> dict[str, Any]:
    """What `logging.config` and uvicorn take; without `access`, only warnings and errors are logged."""
    level = "INFO" if access else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {
            **{name: {"handlers": ["stderr"], "level": "WARNING", "propagate": False} for name in OTHERS},
            ACCESS: {"handlers": ["stderr"], "level": level, "propagate": False},
        },
    }
