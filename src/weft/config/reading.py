"""One `weft.toml`, read and checked whole. Whatever is wrong is one sentence with its file and line."""

import os
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

import msgspec

from weft.config.lines import line_of
from weft.config.places import shown, user_file, working_folder
from weft.config.schema import COMMANDS, PROVIDERS, TABLES, Everywhere, ProviderTable
from weft.config.secrets import secrets_in
from weft.core.errors import ConfigurationError
from weft.wires.quirks import Quirks

Place = Literal["project", "user"]
_MOST = 256 * 1024


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is TOML. `check` says whether it is ours."""

    place: Place
    path: Path
    text: str
    tables: dict[str, Any] = field(repr=False)

    def line(self, *path: str) -> int:
        return line_of(self.text, path)

    def where(self, *path: str) -> str:
        """The file and line of a key, as people read it."""
        return f"{shown(self.path)}:{self.line(*path)}"

    def table(self, *path: str) -> dict[str, Any]:
        found: Any = self.tables
        for name in path:
            found = found.get(name, {})
        return cast("dict[str, Any]", found)


def content_of(path: Path) -> bytes | None:
    """What is in a file, or None if there is none."""
    if not os.path.lexists(path):
        return None
    try:
        if not path.is_file():
            raise ConfigurationError(f"{shown(path)} cannot be read: it is no file.")
        if path.stat().st_size > _MOST:
            raise ConfigurationError(f"{shown(path)} cannot be read: it is larger than {_MOST // 1024} KB.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{shown(path)} cannot be read: {error.strerror}.") from None


def read(path: Path, place: Place, content: bytes) -> Document:
    """A file whose every key is known and holds what it may."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{shown(path)} cannot be read: it is not UTF-8 text.") from None
    return _checked(path, place, text, working_folder())


@lru_cache(maxsize=8)
def _checked(path: Path, place: Place, text: str, _: Path | None) -> Document:
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is nested too deeply"
        raise ConfigurationError(f"{shown(path)} cannot be read: {said}.") from None
    document = Document(place, path, text, tables)
    _check(document)
    return document


def _check(document: Document) -> None:
    for path in secrets_in(document.tables):
        raise ConfigurationError(
            f"{document.where(*path)}: {_titled(path[:-1])}{path[-1]} looks like a secret, and a file is no place "
            "for one; take it out, and keep keys in the environment or with `weft key set`."
        )
    for name, value in document.tables.items():
        if name in TABLES:
            _check_table(document, (name,), value, TABLES[name])
        elif name == PROVIDERS:
            _check_providers(document, value)
        else:
            _check_value(document, (), name, value, Everywhere)


def _check_providers(document: Document, value: Any) -> None:
    if not isinstance(value, dict):
        _wrong(document, (PROVIDERS,), "'providers' must be tables such as [providers.mine].")
    for name, entry in cast("dict[str, Any]", value).items():
        path = (PROVIDERS, name)
        _check_table(document, path, entry, ProviderTable)
        for key in ProviderTable.__struct_fields__[:2]:
            if key not in entry:
                _wrong(document, path, f"[{'.'.join(path)}] lacks {key!r}.")
        if "quirks" in entry:
            _check_table(document, (*path, "quirks"), entry["quirks"], Quirks)


def _check_table(document: Document, path: tuple[str, ...], table: Any, known: type[msgspec.Struct]) -> None:
    if not isinstance(table, dict):
        _wrong(document, path, f"{path[-1]!r} must be a table such as [{'.'.join(path)}].")
    for key, value in cast("dict[str, Any]", table).items():
        _check_value(document, path, key, value, known)


def _check_value(document: Document, path: tuple[str, ...], key: str, value: Any, known: type[msgspec.Struct]) -> None:
    from weft.config.kinds import converted, kinds_of

    kind = kinds_of(known).get(key)
    if kind is None:
        said = f"[{'.'.join(path)}] has an" if path else "there is an"
        _wrong(document, (*path, key), f"{said} unknown key {key!r}; {_hint(key, kinds_of(known), path)}")
    if document.place == "project" and kind.user_only:
        _wrong(
            document,
            (*path, key),
            f"{_titled(path)}{key} is not for a project to say; write it into {shown(user_file())} or give the flag.",
        )
    if isinstance(value, dict) and key == "quirks":
        return  # looked at key by key
    try:
        converted(kind, value)
    except ValueError as error:
        _wrong(document, (*path, key), f"{_titled(path)}{key} {error}, not {_named(value)}.")
    if document.place == "project" and kind.is_path:
        for each in cast("list[str]", value if isinstance(value, list) else [value]):
            _check_inside(document, (*path, key), each)


def _check_inside(document: Document, path: tuple[str, ...], name: str) -> None:
    """A project's file names nothing outside its folder, not through a link either."""
    folder = document.path.parent.resolve()
    if name.startswith("~") or "\0" in name or not (folder / name).resolve().is_relative_to(folder):
        _wrong(document, path, f"{_titled(path[:-1])}{path[-1]} names {name}, which is not in the same folder.")


def _hint(key: str, known: Iterable[str], path: Sequence[str]) -> str:
    homes = [name for name, table in COMMANDS.items() if key in table.__struct_fields__]
    if homes:
        return f"it belongs into [{homes[0]}]."
    names = [*known, *(() if path else (*TABLES, PROVIDERS))]
    near = get_close_matches(key, names, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    if not path:
        return "`weft config` lists all there are."
    return f"known are {', '.join(names)}."


def _wrong(document: Document, path: tuple[str, ...], said: str) -> NoReturn:
    raise ConfigurationError(f"{document.where(*path)}: {said}")


def _titled(path: Sequence[str]) -> str:
    return f"[{'.'.join(path)}] " if path else ""


def _named(value: Any) -> str:
    """What was found instead, without telling what is in it."""
    if isinstance(value, str):
        return f"{value!r}" if len(value) <= 30 and value.isprintable() else "this text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:30]
    return "a list" if isinstance(value, list) else "a table" if isinstance(value, dict) else "a date"
