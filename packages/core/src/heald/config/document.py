"""Reads and checks one `heald.toml`. Every error names the file and the line."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

import msgspec

from heald.config.command_tables import command_tables, describe_missing, find_table, is_named_table, table_names
from heald.config.keys import convert_value, describe_keys
from heald.config.paths import display_path, user_file, working_folder
from heald.config.schema import MCP, PROVIDERS, TOP_KEYS, Everywhere, McpTable, ProviderTable
from heald.config.secrets import find_secrets
from heald.config.toml_lines import find_line
from heald.core.errors import ConfigurationError
from heald.plugin_loader import PluginFailed
from heald.wires.request import Quirks

Place = Literal["project", "user"]
_MAX_BYTES = 256 * 1024


class ConfigDocument(msgspec.Struct, frozen=True):
    """A checked `heald.toml`."""

    place: Place
    path: Path
    text: str
    tables: dict[str, Any]
    notes: tuple[str, ...] = ()
    """Sentences about tables that have no effect, because their distribution is not installed."""

    def line(self, *path: str) -> int:
        return find_line(self.text, path)

    def where(self, *path: str) -> str:
        """The file and the line of a key."""
        return f"{display_path(self.path)}:{self.line(*path)}"

    def table(self, *path: str) -> dict[str, Any]:
        table: Any = self.tables
        for name in path:
            table = table.get(name, {})
        return cast("dict[str, Any]", table)


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
    return msgspec.structs.replace(document, notes=tuple(_check_document(document)))


def _check_document(document: ConfigDocument) -> Iterator[str]:
    """Check every table. Yields a sentence for each that has no effect."""
    for path in find_secrets(document.tables):
        raise ConfigurationError(
            f"{document.where(*path)}: {_table_prefix(path[:-1])}{path[-1]} looks like a secret, which no settings file"
            " may hold; remove it, and keep keys in the environment or with `heald key set`."
        )
    for name, value in document.tables.items():
        if name == PROVIDERS:
            _check_providers(document, value)
        elif name == MCP:
            _check_mcp_servers(document, value)
        elif name in TOP_KEYS:
            _check_value(document, (), name, value, Everywhere)
        else:
            yield from _check_named_table(document, name, value)


def _check_named_table(document: ConfigDocument, name: str, value: Any) -> Iterator[str]:
    try:
        table = find_table(name)
    except PluginFailed:  # `heald doctor` and its command report it
        return
    if table is not None and is_named_table(name):
        _check_named_entries(document, name, value, table)
    elif table is not None:
        _check_table(document, (name,), value, table)
    elif missing := describe_missing(name):
        yield f"{document.where(name)}: [{name}] has no effect, because {missing}"
    else:
        _check_value(document, (), name, value, Everywhere)


def _check_named_entries(document: ConfigDocument, name: str, value: Any, table: type) -> None:
    if not isinstance(value, dict):
        _fail(document, (name,), f"{name!r} must be tables such as [{name}.mine].")
    for entry, content in cast("dict[str, Any]", value).items():
        _check_table(document, (name, entry), content, table)


def _check_providers(document: ConfigDocument, value: Any) -> None:
    if not isinstance(value, dict):
        _fail(document, (PROVIDERS,), "'providers' must be tables such as [providers.mine].")
    for name, entry in cast("dict[str, Any]", value).items():
        path = (PROVIDERS, name)
        _check_table(document, path, entry, ProviderTable)
        for key in (key.name for key in describe_keys(ProviderTable).values() if key.required):
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


def _check_table(document: ConfigDocument, path: tuple[str, ...], table: Any, schema: type) -> None:
    if not isinstance(table, dict):
        _fail(document, path, f"{path[-1]!r} must be a table such as [{'.'.join(path)}].")
    for key, value in cast("dict[str, Any]", table).items():
        _check_value(document, path, key, value, schema)


def _check_value(document: ConfigDocument, path: tuple[str, ...], key: str, value: Any, schema: type) -> None:
    kind = describe_keys(schema).get(key)
    if kind is None:
        text = f"[{'.'.join(path)}] has an" if path else "there is an"
        _fail(document, (*path, key), f"{text} unknown key {key!r}; {_hint(key, describe_keys(schema), path)}")
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
        for name in cast("list[str]", value if isinstance(value, list) else [value]):
            _check_inside(document, (*path, key), name)


def _check_inside(document: ConfigDocument, path: tuple[str, ...], name: str) -> None:
    """Reject a path of a project's file that leaves its folder, also through a link."""
    folder = document.path.parent.resolve()
    if name.startswith("~") or "\0" in name or "://" in name or not (folder / name).resolve().is_relative_to(folder):
        _fail(document, path, f"{_table_prefix(path[:-1])}{path[-1]} names {name}, which is not in the same folder.")


def _hint(key: str, keys: Iterable[str], path: Sequence[str]) -> str:
    owners = [name for name, table in command_tables().items() if key in describe_keys(table)]
    if owners:
        return f"it belongs into [{owners[0]}]."
    names = [*keys, *(() if path else (*table_names(), PROVIDERS, MCP))]
    from difflib import get_close_matches

    near = get_close_matches(key, names, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    if not path:
        return "`heald config` lists all keys."
    return f"its keys are {', '.join(names)}."


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
