"""Remembers which files of projects the user trusts.

Trust belongs to a file's content: a changed file is asked about again. The decisions are stored beside the user's own
`heald.toml`, readable by the user only.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from heald.config.paths import MCP_FILE, config_home, write_private_file
from heald.config.schema import MCP

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
    remaining = decisions()
    decision = remaining.pop(_real_path(path), None)
    if decision is not None:
        _write(remaining)
    return decision is not None


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
    from heald.config.mcp_servers import named_files

    folder = path.parent
    files: set[Path] = set()
    for name in _tool_names(tables):
        files.update(_tool_files(folder, name))
    servers = tables.get(MCP)
    for table in cast("dict[str, Any]", servers).values() if isinstance(servers, dict) else ():
        files.update(named_files(table, folder))
    for words in _hook_words(tables):
        files.update(named_files({"args": words}, folder))
    return sorted(files)[:_MAX_FILES]


def _hook_words(tables: dict[str, Any]) -> Iterator[list[str]]:
    """The words of the command lines of hooks."""
    hooks: Any = tables.get("hooks")
    for value in cast("dict[str, Any]", hooks).values() if isinstance(hooks, dict) else ():
        for hook in cast("list[Any]", value) if isinstance(value, list) else ():
            yield str(hook).partition(": ")[2].replace('"', " ").replace("'", " ").replace(";", " ").split()


def _tool_names(tables: dict[str, Any]) -> Iterator[str]:
    """The names of tools at the top of the file and in its tables."""
    for table in (tables, *tables.values()):
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
        from heald.config.mcp_servers import read_tables

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


def _write(stored: dict[str, TrustDecision]) -> None:
    content = msgspec.json.format(msgspec.json.encode(stored), indent=1)
    write_private_file(config_home() / TRUST_FILE, content, "The decision")
