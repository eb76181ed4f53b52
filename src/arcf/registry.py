"""Extension points are plain dicts of name -> entry; this is how an entry is looked up."""

from collections.abc import Mapping
from typing import TypeVar

from arcf.errors import UnknownNameError

Entry = TypeVar("Entry")


def pick(registry: Mapping[str, Entry], name: str, kind: str) -> Entry:
    """The entry of that name.

    Raises:
        UnknownNameError: nothing is registered under `name`; `kind` says in the message what it would have been.
    """
    try:
        return registry[name]
    except KeyError:
        raise UnknownNameError(kind, name, registry) from None
