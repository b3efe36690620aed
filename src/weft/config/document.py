"""Reads and checks one `weft.toml`. Every error names the file and the line."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

import msgspec

from weft.config.keys import convert_value, describe_keys
from weft.config.paths import display_path, user_file, working_folder
from weft.config.schema import COMMANDS, MCP, PROVIDERS, TABLES, Everywhere, McpTable, ProviderTable
from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern
from weft.wires.request import Quirks


def find_line(text: str, path: Sequence[str]) -> int:
    """The line, counted from 1, in which a key or a table begins. The text must be valid TOML that holds it.

    The TOML parser itself finds it: a bisection over the beginnings of the text that parse.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    without, with_it = 0, len(lines)  # numbers of lines: a beginning that lacks the key, one that holds it
    while with_it - without > 1:
        middle = at = (without + with_it) // 2
        found = _try_parse(lines[:at])
        while found is None and at < with_it - 1:  # within a value of several lines
            at += 1
            found = _try_parse(lines[:at])
        if found is None or _contains(found, path):
            with_it = middle
        else:
            without = at
    return without + 1


def _try_parse(lines: Sequence[str]) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _contains(table: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(table, dict) or key not in table:
            return False
        table = cast("dict[str, Any]", table)[key]
    return True


_SECRET_NAME = lazy_pattern(
    r"(?:^|[_-])(?:api[_-]?key|key|secret|token|password|passwd|authorization|credential|cookie)s?$", re.I
)
_NOT_SECRET = ("no_token", "cache_key", "prompt_cache_key")
_REFERENCE = lazy_pattern(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
"""A variable in the values of an MCP server."""
_SECRET_VALUE = lazy_pattern(
    r"sk-[A-Za-z0-9_-]{12,}|AIza[0-9A-Za-z_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}"
    r"|gsk_\w{20,}|xai-\w{20,}|hf_\w{20,}|r8_\w{20,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.|Bearer\s+\S{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_URL_PASSWORD = lazy_pattern(r"[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]+@", re.I)


def is_secret(text: str) -> bool:
    """Whether a text contains something like an API key, or a password in an address."""
    return _SECRET_VALUE.search(text) is not None or _URL_PASSWORD.search(text) is not None


def find_secrets(table: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of values that are named like a secret or look like one."""
    for key, value in table.items():
        place = (*path, key)
        if isinstance(value, dict):
            yield from find_secrets(cast("dict[str, Any]", value), place)
        elif isinstance(value, list):
            texts = [each for each in cast("list[Any]", value) if isinstance(each, str)]
            if any(is_secret(_REFERENCE.sub("", each)) for each in texts):
                yield place
        elif isinstance(value, str) and (_is_secret_value(key, value)):
            yield place


def _is_secret_value(key: str, value: str) -> bool:
    """Whether a value is named like a secret or looks like one. A reference to a variable is none."""
    bare = _REFERENCE.sub("", value)
    if is_secret(bare):
        return True
    return bool(bare == value and value and _SECRET_NAME.search(key) and key not in _NOT_SECRET)


Place = Literal["project", "user"]
_MAX_BYTES = 256 * 1024


class ConfigDocument(msgspec.Struct, frozen=True):
    """A checked `weft.toml`."""

    place: Place
    path: Path
    text: str
    tables: dict[str, Any]

    def line(self, *path: str) -> int:
        return find_line(self.text, path)

    def where(self, *path: str) -> str:
        """The file and the line of a key."""
        return f"{display_path(self.path)}:{self.line(*path)}"

    def table(self, *path: str) -> dict[str, Any]:
        found: Any = self.tables
        for name in path:
            found = found.get(name, {})
        return cast("dict[str, Any]", found)


def read_content(path: Path) -> bytes | None:
    """Read a file. None if it does not exist."""
    if not os.path.lexists(path):
        return None
    try:
        if not path.is_file():
            raise ConfigurationError(f"{display_path(path)} cannot be read: it is not a file.")
        if path.stat().st_size > _MAX_BYTES:
            raise ConfigurationError(f"{display_path(path)} cannot be read: it is larger than {_MAX_BYTES // 1024} KB.")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"{display_path(path)} cannot be read: {error.strerror}.") from None


def parse_document(path: Path, place: Place, content: bytes) -> ConfigDocument:
    """Parse a file and check every key and value."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{display_path(path)} cannot be read: it is not UTF-8 text.") from None
    return _parse_cached(path, place, text, working_folder())


@lru_cache(maxsize=8)
def _parse_cached(path: Path, place: Place, text: str, _: Path | None) -> ConfigDocument:
    import tomllib  # not for the start of a command that finds no file

    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is nested too deeply"
        raise ConfigurationError(f"{display_path(path)} cannot be read: {reason}.") from None
    document = ConfigDocument(place, path, text, tables)
    _check_document(document)
    return document


def _check_document(document: ConfigDocument) -> None:
    for path in find_secrets(document.tables):
        raise ConfigurationError(
            f"{document.where(*path)}: {_table_prefix(path[:-1])}{path[-1]} looks like a secret, and a file is no place"
            " for one; take it out, and keep keys in the environment or with `weft key set`."
        )
    for name, value in document.tables.items():
        if name in TABLES:
            _check_table(document, (name,), value, TABLES[name])
        elif name == PROVIDERS:
            _check_providers(document, value)
        elif name == MCP:
            _check_mcp_servers(document, value)
        else:
            _check_value(document, (), name, value, Everywhere)


def _check_providers(document: ConfigDocument, value: Any) -> None:
    if not isinstance(value, dict):
        _fail(document, (PROVIDERS,), "'providers' must be tables such as [providers.mine].")
    for name, entry in cast("dict[str, Any]", value).items():
        path = (PROVIDERS, name)
        _check_table(document, path, entry, ProviderTable)
        for key in (each.name for each in describe_keys(ProviderTable).values() if each.required):
            if key not in entry:
                _fail(document, path, f"[{'.'.join(path)}] lacks {key!r}.")
        if "quirks" in entry:
            _check_table(document, (*path, "quirks"), entry["quirks"], Quirks)


def _check_mcp_servers(document: ConfigDocument, value: Any) -> None:
    if not isinstance(value, dict):
        _fail(document, (MCP,), "'mcp' must be tables such as [mcp.files].")
    for name, entry in cast("dict[str, Any]", value).items():
        path = (MCP, name)
        _check_table(document, path, entry, McpTable)
        if ("command" in entry) == ("url" in entry):
            _fail(document, path, f"[{'.'.join(path)}] needs either 'command' or 'url', and not both.")


def _check_table(document: ConfigDocument, path: tuple[str, ...], table: Any, known: type) -> None:
    if not isinstance(table, dict):
        _fail(document, path, f"{path[-1]!r} must be a table such as [{'.'.join(path)}].")
    for key, value in cast("dict[str, Any]", table).items():
        _check_value(document, path, key, value, known)


def _check_value(document: ConfigDocument, path: tuple[str, ...], key: str, value: Any, known: type) -> None:
    kind = describe_keys(known).get(key)
    if kind is None:
        text = f"[{'.'.join(path)}] has an" if path else "there is an"
        _fail(document, (*path, key), f"{text} unknown key {key!r}; {_hint(key, describe_keys(known), path)}")
    if document.place == "project" and kind.user_only:
        _fail(
            document,
            (*path, key),
            f"{_table_prefix(path)}{key} cannot be set by a project; "
            f"write it into {display_path(user_file())} or give the flag.",
        )
    if isinstance(value, dict) and key == "quirks":
        return  # checked key by key
    try:
        convert_value(kind, value)
    except ValueError as error:
        _fail(document, (*path, key), f"{_table_prefix(path)}{key} {error}, not {_describe_value(value)}.")
    if document.place == "project" and kind.is_path:
        for each in cast("list[str]", value if isinstance(value, list) else [value]):
            _check_inside(document, (*path, key), each)


def _check_inside(document: ConfigDocument, path: tuple[str, ...], name: str) -> None:
    """Reject a path of a project's file that leaves its folder, also through a link."""
    folder = document.path.parent.resolve()
    if name.startswith("~") or "\0" in name or not (folder / name).resolve().is_relative_to(folder):
        _fail(document, path, f"{_table_prefix(path[:-1])}{path[-1]} names {name}, which is not in the same folder.")


def _hint(key: str, known: Iterable[str], path: Sequence[str]) -> str:
    owners = [name for name, table in COMMANDS.items() if key in describe_keys(table)]
    if owners:
        return f"it belongs into [{owners[0]}]."
    names = [*known, *(() if path else (*TABLES, PROVIDERS, MCP))]
    from difflib import get_close_matches

    near = get_close_matches(key, names, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    if not path:
        return "`weft config` lists all keys."
    return f"known are {', '.join(names)}."


def _fail(document: ConfigDocument, path: tuple[str, ...], text: str) -> NoReturn:
    raise ConfigurationError(f"{document.where(*path)}: {text}")


def _table_prefix(path: Sequence[str]) -> str:
    return f"[{'.'.join(path)}] " if path else ""


def _describe_value(value: Any) -> str:
    """Describe a wrong value without revealing a long text."""
    if isinstance(value, str):
        return f"{value!r}" if len(value) <= 30 and value.isprintable() else "this text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:30]
    return "a list" if isinstance(value, list) else "a table" if isinstance(value, dict) else "a date"
