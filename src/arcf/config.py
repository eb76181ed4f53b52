"""Configuration files: TOML sections become frozen settings, and every mistake in them gets one sentence."""

import dataclasses
import json
import re
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.files import read_text
from arcf.registry import pick

Settings = TypeVar("Settings")


def presets(kind: type[Any]) -> Mapping[str, str]:
    """The packaged configuration files of a class of settings: name -> TOML text.

    Those of `RankerSettings` lie in `presets/ranker`, and so on.
    """
    folder = files("arcf") / "presets" / kind.__name__.removesuffix("Settings").lower()
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }


def read_settings(
    kind: type[Settings], file: Path | None = None, preset: str | None = None, overrides: Sequence[str] = ()
) -> Settings:
    """Settings of a class from a preset, then a TOML file, then overrides such as `optimisation.epochs=2`.

    Raises:
        InputError: the file is not TOML.
        UnknownNameError: there is no such preset, setting, loss or encoding; the message offers the nearest one.
        SettingError: a value that cannot be; the message names its key.
    """
    values: dict[str, Any] = {}
    if preset is not None:
        values = tomllib.loads(pick(presets(kind), preset, "preset"))
    if file is not None:
        values = merged(values, _read_toml(file))
    for override in overrides:
        values = merged(values, _parse_override(override))
    return make(kind, values)


def make(kind: type[Settings], values: Mapping[str, Any], section: str = "") -> Settings:
    """A settings record from nested mappings."""
    hints = typing.get_type_hints(kind)
    for key in values:
        if key not in hints:
            raise UnknownNameError("setting", f"{section}{key}", [f"{section}{hint}" for hint in hints])
    for entry in dataclasses.fields(kind):  # type: ignore[arg-type]
        required = entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING
        if required and entry.name not in values:
            raise SettingError(f"The setting '{section}{entry.name}' is missing.")
    made = {key: _convert(value, hints[key], f"{section}{key}") for key, value in values.items()}
    try:
        return kind(**made)
    except SettingError as error:
        raise SettingError(f"[{section.rstrip('.')}] {error}" if section else str(error)) from error


def as_toml(settings: Any, section: str = "") -> str:
    """Settings as the TOML that makes them again; None is written "none", for TOML has no word for it."""
    plain, nested = [], []
    for entry in dataclasses.fields(settings):
        value = getattr(settings, entry.name)
        if dataclasses.is_dataclass(value):
            nested.append(as_toml(value, f"{section}{entry.name}."))
        elif isinstance(value, Mapping):
            nested.extend(as_toml(inner, f"{section}{entry.name}.{_toml_key(key)}.") for key, inner in value.items())
        else:
            plain.append(f"{entry.name} = {toml_value(value)}")
    head = [f"[{section.removesuffix('.')}]"] if section and plain else []
    return "\n".join([*head, *plain, *([""] if plain and nested else []), *nested]) + "\n"


def toml_value(value: Any) -> str:
    """A plain value as TOML writes it; None as the word none."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """A TOML string. JSON's escapes are TOML's too, but TOML also wants the character DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _convert(value: Any, hint: Any, key: str) -> Any:
    """A TOML value as the type that the settings declare."""
    is_union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    options = typing.get_args(hint) if is_union else (hint,)
    if (value is None or value == "none") and type(None) in options:
        return None
    for option in options:
        if isinstance(value, Mapping | list | tuple):
            made = _convert_several(value, option, key)
        else:
            made = _convert_one(value, option)
        if made is not None:
            return made
    expected = " or ".join(_type_name(option) for option in options)
    raise SettingError(f"The setting '{key}' takes {expected}, not {value!r}.")


def _convert_several(value: Any, kind: Any, key: str) -> Any:
    """A section, several sections by name, or a list; None if it is not of that kind."""
    if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
        return make(typing.cast(Any, kind), value, f"{key}.")
    inner = typing.get_args(kind)
    if typing.get_origin(kind) is Mapping and isinstance(value, Mapping):
        return {name: _convert(entry, inner[1], f"{key}.{name}") for name, entry in value.items()}
    if typing.get_origin(kind) is tuple and not isinstance(value, Mapping):
        return tuple(_convert(entry, inner[0], f"{key}[{place}]") for place, entry in enumerate(value))
    return None


def _convert_one(value: Any, kind: Any) -> Any:
    """A number, a text, or true or false; None if it is not of that kind."""
    if kind is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        return float(value) if is_number else None
    if typing.get_origin(kind) is typing.Literal:
        return value if value in typing.get_args(kind) else None
    return value if isinstance(kind, type) and type(value) is kind else None


def _type_name(kind: Any) -> str:
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(map(str, typing.get_args(kind)))
    if typing.get_origin(kind) is Mapping:
        return "sections"
    if typing.get_origin(kind) is tuple:
        return f"a list, each entry {_type_name(typing.get_args(kind)[0])}"
    names = {float: "a number", int: "a whole number", str: "a text", bool: "true or false", type(None): "none"}
    return names.get(kind, "a section")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}.", path) from error


def _parse_override(text: str) -> dict[str, Any]:
    """`section.key=value` as nested mappings; what is not a TOML value is taken as text."""
    key, equals, written = text.partition("=")
    parts = [part.strip() for part in key.split(".")]
    if not equals or not all(parts):
        raise SettingError(f"An override is written section.key=value, not '{text}'.")
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        value = written.strip()
    for part in reversed(parts):
        value = {part: value}
    nested: dict[str, Any] = value
    return nested


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings with those of another on top."""
    result = dict(values)
    for key, value in over.items():
        inner = result.get(key)
        both = isinstance(value, Mapping) and isinstance(inner, Mapping)
        result[key] = merged(typing.cast(Any, inner), value) if both else value
    return result
