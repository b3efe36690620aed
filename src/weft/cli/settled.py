"""What a command goes by: its flags, then the environment, the user's `weft.toml`, the project's, and the default.

A key of the schema is the name of the option that it sets. The stronger place wins; in one file a command's own table
wins over the top. Rules of all places count together, and where a model lives is said where the model is named.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from weft.config.kinds import Kind, converted, kinds_of
from weft.config.places import working_folder
from weft.config.reading import Document
from weft.config.schema import COMMANDS, Everywhere, counts_everywhere
from weft.config.secrets import is_secret
from weft.core.errors import ConfigurationError
from weft.providers.config import check_variable

DEFAULT = "default"
DATA_ONLY = ("sessions", "replay", "doctor")
"""Commands without a table of their own, which keep or look for sessions."""
OTHER_VARIABLES = ("WEFT_TOKEN", "WEFT_CHROMIUM", "WEFT_IMAGES", "WEFT_FAULT")
_SUMMED = ("rule",)
_WITH_MODEL = ("base_url", "wire", "api_key_env")


@dataclass(frozen=True, slots=True)
class Setting:
    key: str
    value: Any
    origin: str = DEFAULT
    """A flag, a variable, or a file and its line."""
    strength: int = 0


@dataclass(frozen=True, slots=True)
class _Said:
    """A value at one place."""

    value: Any
    origin: str
    strength: int


def settled(
    command: str,
    usual: Mapping[str, Any],
    given: Mapping[str, Any],
    documents: Sequence[Document],
    environ: Mapping[str, str] | None = None,
) -> list[Setting]:
    """Every setting of a command: as given by flags, else from the strongest place that says something of it."""
    environ = os.environ if environ is None else environ
    found: dict[str, Setting] = {}
    for key, kind in keys_of(command).items():
        places = list(_places(command, key, kind, documents, environ))
        if key in given:
            places.append(_Said(given[key], f"--{key.replace('_', '-')}", 100))
        if not places:
            found[key] = Setting(key, usual.get(key))
        elif key in _SUMMED:
            rules = [each for place in places for each in place.value]
            found[key] = Setting(key, rules, ", ".join(place.origin for place in places), places[-1].strength)
        else:
            said = places[-1]
            found[key] = Setting(key, said.value, said.origin, said.strength)
    return list(_with_their_model(found, usual).values())


def keys_of(command: str) -> dict[str, Kind]:
    """What can be set for a command."""
    if command in COMMANDS:
        return kinds_of(COMMANDS[command])
    return {"data": kinds_of(Everywhere)["data"]} if command in DATA_ONLY else {}


def variables_of(command: str, key: str) -> list[str]:
    """The variables of the environment that set a key, the stronger last."""
    general = [f"WEFT_{key.upper()}"] if counts_everywhere(command, key) else []
    return [*general, *([f"WEFT_{command.upper()}_{key.upper()}"] if command in COMMANDS else [])]


def check_variables(environ: Mapping[str, str]) -> None:
    """A variable that is nearly one of ours is a slip, and says which was meant."""
    known: set[str] = set(OTHER_VARIABLES)
    for command in COMMANDS:
        known.update(name for key in keys_of(command) for name in variables_of(command, key))
    for name in environ:
        if name.startswith("WEFT_") and name not in known:
            near = get_close_matches(name, known, 1, 0.9)
            if near:
                raise ConfigurationError(f"The environment has {name}, which sets nothing; did you mean {near[0]}?")


def apply(options: argparse.Namespace, settings: Sequence[Setting], shapes: Mapping[str, argparse.Action]) -> None:
    """Write the settings over the options, in the shape that the flag gives."""
    for setting in settings:
        if setting.strength:
            setattr(options, setting.key, _shaped(setting.value, shapes.get(setting.key)))


# --- places ---------------------------------------------------------------------------------------------------------


def _places(
    command: str, key: str, kind: Kind, documents: Sequence[Document], environ: Mapping[str, str]
) -> Iterator[_Said]:
    """Who says something of a key, the weakest first."""
    for at, document in enumerate(documents):
        for step, path in enumerate(((), (command,))):
            if (path or counts_everywhere(command, key)) and key in document.table(*path):
                yield _in_file(document, path, key, kind, 10 * (at + 1) + step)
    for step, name in enumerate(variables_of(command, key)):
        if environ.get(name, "").strip():
            yield _Said(_from_text(name, environ[name], kind), name, 50 + step)


def _in_file(document: Document, path: tuple[str, ...], key: str, kind: Kind, strength: int) -> _Said:
    value = document.table(*path)[key]
    where = document.where(*path, key)
    if document.place == "project":
        if key == "api_key_env":
            check_variable(document, (*path, key), value, "an address of its own")
        if kind.is_path and document.path.parent != working_folder():
            folder = document.path.parent
            names = cast("list[str]", value if isinstance(value, list) else [value])
            value = [str(folder / name) for name in names] if isinstance(value, list) else str(folder / names[0])
    return _Said(value, where, strength)


def _from_text(name: str, text: str, kind: Kind) -> Any:
    if is_secret(text):
        raise ConfigurationError(f"{name} holds what looks like a secret; keys have variables of their own.")
    value: Any = text.strip()
    if kind.is_list:
        separator = ";" if name.endswith("_RULE") else ","
        value = [each.strip() for each in value.split(separator) if each.strip()]
    try:
        return converted(kind, value, strict=False)
    except ValueError as error:
        raise ConfigurationError(f"The environment variable {name} {error}.") from None


def _with_their_model(found: dict[str, Setting], usual: Mapping[str, Any]) -> dict[str, Setting]:
    """Where a model lives counts for the model that is named at the same place, not for one named by a stronger one."""
    if "base_url" not in found:
        return found
    least = found["model"].strength
    for key in _WITH_MODEL:
        if 0 < found[key].strength < least:
            found[key] = Setting(key, usual.get(key))
        if key == "base_url":
            least = max(least, found[key].strength)
    return found


# --- shapes ---------------------------------------------------------------------------------------------------------


def _shaped(value: Any, action: argparse.Action | None) -> Any:
    """A flag that can be repeated gives a list, any other one value; several names in one are separated by commas."""
    repeats = isinstance(action, argparse._AppendAction)  # pyright: ignore[reportPrivateUsage]
    if isinstance(value, list):
        return cast("list[str]", value) if repeats else ",".join(cast("list[str]", value))
    return [value] if repeats else value
