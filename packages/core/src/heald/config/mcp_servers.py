"""Reads the MCP servers of `[mcp.NAME]` tables, of a project's `.mcp.json` and of `--mcp` flags.

`${NAME}` in a value stands for an environment variable and `${NAME:-text}` has a text for a variable that is not set,
so that no file needs to hold a key.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from heald.config.document import ConfigDocument
from heald.config.paths import display_path
from heald.config.schema import MCP
from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

_REFERENCE = lazy_pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KINDS = {"stdio": "http", "http": "http", "streamable-http": "http", "streamableHttp": "http", "sse": "sse"}
"""The transport of each type that `.mcp.json` may name."""
_OAUTH = {
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "clientMetadataUrl": "client_metadata_url",
    "scope": "scope",
    "callbackPort": "callback_port",
}


class _Entry(msgspec.Struct, frozen=True):
    """A server in `.mcp.json`. Keys of other programs are ignored."""

    type: str | None = None
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    oauth: dict[str, str | int] = {}


class _McpFile(msgspec.Struct, frozen=True):
    servers: dict[str, msgspec.Raw] = msgspec.field(name="mcpServers", default_factory=dict[str, msgspec.Raw])


_entries = msgspec.json.Decoder(_Entry)
_files = msgspec.json.Decoder(_McpFile)


class ConfiguredServer(msgspec.Struct, frozen=True):
    """An MCP server as it is written, and the place where."""

    name: str
    where: str
    folder: Path
    """Its command starts there."""
    table: dict[str, Any]
    of_project: bool = False
    required: bool = False

    def variables(self) -> Iterator[str]:
        """The environment variables that its values name."""
        for text in _texts(self.table):
            for name, _ in cast("list[tuple[str, str]]", _REFERENCE.findall(text)):
                yield name

    def expanded(self) -> dict[str, Any]:
        """Return the values with the variables filled in. Raises ConfigurationError for one that is not set."""
        return cast("dict[str, Any]", _map_texts(self.table, self._expand))

    def _expand(self, text: str) -> str:
        def value(reference: re.Match[str]) -> str:
            name, default = reference.groups()
            if name in os.environ:
                return os.environ[name]
            if default is not None:
                return default
            raise ConfigurationError(
                f"{self.where}: the MCP server {self.name!r} needs the variable {name}, which is not set; set it."
            )

        return _REFERENCE.sub(value, text)


def servers_of(document: ConfigDocument) -> list[ConfiguredServer]:
    """The servers of a checked `heald.toml`."""
    of_project = document.place == "project"
    folder = document.path.parent if of_project else Path.cwd()
    return [
        ConfiguredServer(
            name, f"{document.where(MCP, name)}: [mcp.{name}]", folder, table, of_project, table.get("required", False)
        )
        for name, table in cast("dict[str, dict[str, Any]]", document.table(MCP)).items()
    ]


def parse_mcp_file(path: Path, content: bytes) -> list[ConfiguredServer]:
    """The servers of a `.mcp.json`. Raises ConfigurationError if it cannot be read."""
    place = display_path(path)
    try:
        entries = {name: _entries.decode(raw) for name, raw in _files.decode(content).servers.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{place} cannot be read: {error}.") from None
    servers: list[ConfiguredServer] = []
    for name, entry in entries.items():
        if entry.type is not None and entry.type not in _KINDS:
            raise ConfigurationError(
                f"{place}: the MCP server {name!r} has the type {entry.type!r}; use stdio, http or sse."
            )
        table = {key: value for key, value in msgspec.structs.asdict(entry).items() if value and key != "type"}
        if entry.oauth:
            table["oauth"] = {_OAUTH.get(key, key): str(value) for key, value in entry.oauth.items()}
        if entry.type is not None and _KINDS[entry.type] != "http":
            table["transport"] = _KINDS[entry.type]
        servers.append(ConfiguredServer(name, f"{place}: {name}", path.parent, table, True))
    return servers


def parse_server(text: str, where: str, folder: Path) -> ConfiguredServer:
    """Parse `NAME=COMMAND ARGUMENTS` or `NAME=URL`."""
    name, _, rest = text.partition("=")
    rest = rest.strip()
    if not name.strip() or not rest:
        raise ConfigurationError(f"{where}: {text[:80]!r} names no MCP server; write NAME=COMMAND or NAME=URL.")
    if rest.startswith(("http://", "https://")):
        return ConfiguredServer(name.strip(), where, folder, {"url": rest}, required=True)
    import shlex

    try:
        command, *arguments = shlex.split(rest)
    except ValueError as error:
        raise ConfigurationError(f"{where}: the command of {name!r} cannot be read: {error}.") from None
    return ConfiguredServer(name.strip(), where, folder, {"command": command, "args": arguments}, required=True)


def named_files(table: Any, folder: Path) -> Iterator[Path]:
    """The files of a folder that the command of a server names: they are run with it."""
    if not isinstance(table, dict):
        return
    entry = cast("dict[str, Any]", table)
    arguments: Any = entry.get("args")
    words: list[Any] = [entry.get("command"), *(cast("list[Any]", arguments) if isinstance(arguments, list) else [])]
    for word in words:
        if isinstance(word, str) and word and "\0" not in word and len(word) < 1000:
            path = folder / word
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                yield path


def read_tables(content: bytes) -> dict[str, Any]:
    """The tables of a `.mcp.json` as they are written, empty if it is none."""
    import json

    try:
        servers = json.loads(content)["mcpServers"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return cast("dict[str, Any]", servers) if isinstance(servers, dict) else {}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts(inner)


def _map_texts(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_texts(inner, change) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_map_texts(inner, change) for inner in cast("list[Any]", value)]
    return value
