"""Configuration files: TOML sections become frozen settings, and every mistake in them gets one sentence."""

import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.files import read_text

Settings = TypeVar("Settings")


def presets() -> Mapping[str, str]:
    """The packaged configuration files: name -> TOML text."""
    folder = files("arcf") / "presets"
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
        UnknownNameError: there is no such preset.
        SettingError: an unknown key, or a value that cannot be; the message names the key and the nearest valid one.
    """
    values: dict[str, Any] = {}
    if preset is not None:
        if preset not in presets():
            raise UnknownNameError("preset", preset, presets())
        values = tomllib.loads(presets()[preset])
    if file is not None:
        values = _merged(values, _read_toml(file))
    for override in overrides:
        values = _merged(values, _parse_override(override))
    return make(kind, values)


def make(kind: type[Settings], values: Mapping[str, Any], section: str = "") -> Settings:
    """A settings record from nested mappings."""
    hints = typing.get_type_hints(kind)
    unknown = [key for key in values if key not in hints]
    if unknown:
        near = get_close_matches(unknown[0], hints, n=1) or sorted(hints)
        raise SettingError(f"There is no setting '{section}{unknown[0]}'; the nearest is '{section}{near[0]}'.")
    made = {key: _convert(value, hints[key], f"{section}{key}") for key, value in values.items()}
    try:
        return kind(**made)
    except SettingError as error:
        raise SettingError(f"[{section.rstrip('.')}] {error}" if section else str(error)) from error


def as_toml(settings: Any, section: str = "") -> str:
    """Settings as the TOML that makes them again; None is left out."""
    plain, nested = [], []
    for entry in dataclasses.fields(settings):
        value = getattr(settings, entry.name)
        if dataclasses.is_dataclass(value):
            nested.append(as_toml(value, f"{section}{entry.name}."))
        elif value is not None:
            plain.append(f"{entry.name} = {_toml_value(value)}")
    head = [f"[{section.rstrip('.')}]"] if section and plain else []
    return "\n".join([*head, *plain, *([""] if plain and nested else []), *nested]) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def _convert(value: Any, hint: Any, key: str) -> Any:
    """A TOML value as the type that the settings declare."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if value == "none" and type(None) in options:
        return None
    for option in options:
        if dataclasses.is_dataclass(option) and isinstance(value, Mapping):
            return make(typing.cast(Any, option), value, f"{key}.")
        if option is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(option, type) and type(value) is option:
            return value
    expected = " or ".join(_type_name(option) for option in options)
    raise SettingError(f"The setting '{key}' takes {expected}, not {value!r}.")


def _type_name(kind: Any) -> str:
    names = {float: "a number", int: "a whole number", str: "a text", bool: "true or false", type(None): "none"}
    return names.get(kind, "a section")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}.", path) from error


def _parse_override(text: str) -> dict[str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SettingError(f"An override is written section.key=value, not '{text}'.")
    for candidate in (value, f'"{value}"'):
        try:
            return tomllib.loads(f"{key.strip()} = {candidate}")
        except tomllib.TOMLDecodeError:
            continue
    raise SettingError(f"An override is written section.key=value, not '{text}'.")


def _merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(values)
    for key, value in over.items():
        inner = result.get(key)
        both = isinstance(value, Mapping) and isinstance(inner, Mapping)
        result[key] = _merged(typing.cast(Any, inner), value) if both else value
    return result
