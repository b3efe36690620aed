"""Finds the configuration files that count, and remembers which project files the user trusts.

Trust belongs to a file's content: a changed file is asked about again. The decisions are stored beside the user's own
`weft.toml`, readable by the user only.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from weft.config.document import ConfigDocument, parse_document, read_content
from weft.config.paths import MCP_FILE, config_home, display_path, project_file, user_file, write_private_file
from weft.config.schema import COMMANDS, MCP

if TYPE_CHECKING:
    from weft.config.mcp_servers import ConfiguredServer

TrustState = Literal["trusted", "refused", "changed", "unknown"]
TRUST_FILE = "trust.json"
_MAX_BYTES = 1_000_000
_MAX_FILES = 500


class TrustDecision(msgspec.Struct, frozen=True):
    digest: str
    trusted: bool


def state_of(path: Path, content: bytes) -> TrustState:
    """The user's decision about the file as it is now."""
    decision = decisions().get(_real_path(path))
    if decision is None:
        return "unknown"
    if decision.digest != _digest(path, content):
        return "changed" if decision.trusted else "unknown"
    return "trusted" if decision.trusted else "refused"


def remember(path: Path, content: bytes, *, trusted: bool) -> None:
    """Store a decision."""
    _write(decisions() | {_real_path(path): TrustDecision(_digest(path, content), trusted)})


def forget(path: Path) -> bool:
    """Delete a decision. Returns whether there was one."""
    known = decisions()
    found = known.pop(_real_path(path), None)
    if found is not None:
        _write(known)
    return found is not None


def decisions() -> dict[str, TrustDecision]:
    """All decisions, by the real path of the file. A damaged file counts as empty."""
    try:
        return msgspec.json.decode((config_home() / TRUST_FILE).read_bytes(), type=dict[str, TrustDecision])
    except (OSError, msgspec.DecodeError):
        return {}


def _real_path(path: Path) -> str:
    return os.path.realpath(path)


def _digest(path: Path, content: bytes) -> str:
    """The digest of the file, of the instructions file and of the code that it names."""
    import hashlib  # few projects have such a file

    digest = hashlib.sha256(content)
    tables = _tables(path, content)
    named = _instructions(tables)
    if named:
        digest.update(b"\0" + named.encode("utf-8", "surrogatepass"))
        with suppress(OSError, ValueError), (path.parent / named).open("rb") as file:
            digest.update(b"\0" + file.read(_MAX_BYTES))
    for code in _find_code(path, tables):
        digest.update(b"\0" + os.fsencode(code))
        with suppress(OSError), code.open("rb") as file:
            digest.update(b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def named_code(path: Path, content: bytes) -> list[Path]:
    """The files of the project that are run because this file names them. A changed one is asked about.

    Files that these import in turn are not followed.
    """
    return _find_code(path, _tables(path, content))


def _find_code(path: Path, tables: dict[str, Any]) -> list[Path]:
    """The files beside `path` that hold tools, or that the commands of MCP servers name, sorted."""
    from weft.config.mcp_servers import named_files

    folder = path.parent
    found: set[Path] = set()
    for name in _tool_names(tables):
        found.update(_tool_files(folder, name))
    servers = tables.get(MCP)
    for table in cast("dict[str, Any]", servers).values() if isinstance(servers, dict) else ():
        found.update(named_files(table, folder))
    for words in _hook_words(tables):
        found.update(named_files({"args": words}, folder))
    return sorted(found)[:_MAX_FILES]


def _hook_words(tables: dict[str, Any]) -> Iterator[list[str]]:
    """The words of the command lines of hooks."""
    hooks: Any = tables.get("hooks")
    for value in cast("dict[str, Any]", hooks).values() if isinstance(hooks, dict) else ():
        for hook in cast("list[Any]", value) if isinstance(value, list) else ():
            yield str(hook).partition(": ")[2].replace('"', " ").replace("'", " ").replace(";", " ").split()


def _tool_names(tables: dict[str, Any]) -> Iterator[str]:
    for table in (tables, *(tables.get(name) for name in COMMANDS)):
        if not isinstance(table, dict):
            continue
        for key in ("tool", "tools"):
            value: Any = cast("dict[str, Any]", table).get(key)
            names = cast("list[Any]", value) if isinstance(value, list) else str(value or "").split(",")
            texts = [name.strip() for name in names if isinstance(name, str)]
            yield from (name for name in texts if name and (key == "tool" or any(sign in name for sign in ":./")))


def _tool_files(folder: Path, name: str) -> Iterator[Path]:
    """The files of a path, or of a module in the folder."""
    if "\0" in name or len(name) > 1000:
        return
    path = folder / name if "/" in name or name.endswith(".py") else folder / name.partition(":")[0].replace(".", "/")
    for file in (path, path.with_name(f"{path.name}.py")):
        if file.is_file() and file.suffix == ".py":
            yield file
    if path.is_dir():
        yield from sorted(path.rglob("*.py"))[:_MAX_FILES]


def _tables(path: Path, content: bytes) -> dict[str, Any]:
    if path.name == MCP_FILE:
        from weft.config.mcp_servers import read_tables

        return {MCP: read_tables(content)}
    import tomllib  # not for the start of a command that finds no file

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}


def _instructions(tables: dict[str, Any]) -> str:
    try:
        named: Any = tables["agent"]["instructions_file"]
    except (LookupError, TypeError):
        return ""
    return named if isinstance(named, str) else ""


def _write(known: dict[str, TrustDecision]) -> None:
    content = msgspec.json.format(msgspec.json.encode(known), indent=1)
    write_private_file(config_home() / TRUST_FILE, content, "The decision")


_log = logging.getLogger("weft.config")
_reported: set[Path] = set()


class Ignored(msgspec.Struct, frozen=True):
    """A project's file that is not trusted."""

    path: Path
    state: TrustState

    def __str__(self) -> str:
        reasons = {
            "changed": "has changed since you trusted it",
            "refused": "is refused",
            "unknown": "is not trusted",
        }
        reason = reasons.get(self.state, "is not trusted")
        return f"{display_path(self.path)} {reason} and has no effect; `weft trust` shows it and asks."


class Sources(msgspec.Struct, frozen=True):
    documents: Sequence[ConfigDocument]
    ignored: Ignored | None = None
    servers: "Sequence[ConfiguredServer]" = ()
    """MCP servers of the project's `.mcp.json`."""
    ignored_servers: Ignored | None = None


def sources() -> Sources:
    """Read the files, the weaker first. Raises ConfigurationError if one is wrong."""
    found: list[ConfigDocument] = []
    ignored: Ignored | None = None
    path = project_file()
    content = read_content(path) if path is not None else None
    if path is not None and content is not None:
        state = state_of(path, content)
        if state == "trusted":
            found.append(parse_document(path, "project", content))
        else:
            ignored = Ignored(path, state)
    content = read_content(user_file())
    if content is not None:
        found.append(parse_document(user_file(), "user", content))
    servers, ignored_servers = _project_servers()
    return Sources(found, ignored, servers, ignored_servers)


def _project_servers() -> "tuple[Sequence[ConfiguredServer], Ignored | None]":
    path = project_file(name=MCP_FILE)
    content = read_content(path) if path is not None else None
    if path is None or content is None:
        return (), None
    from weft.config.mcp_servers import parse_mcp_file

    state = state_of(path, content)
    return (parse_mcp_file(path, content), None) if state == "trusted" else ((), Ignored(path, state))


def mark_reported(ignored: Ignored) -> None:
    """Do not log this file again."""
    _reported.add(ignored.path)


def active_documents() -> Sequence[ConfigDocument]:
    """The documents of `sources`, for programs: a file that is not trusted is logged once."""
    now = sources()
    if now.ignored is not None and now.ignored.state != "refused" and now.ignored.path not in _reported:
        _reported.add(now.ignored.path)
        _log.warning("%s", now.ignored)
    return now.documents
