"""Finds the files of a project that are run because its `weft.toml` or `.mcp.json` names them.

They are part of what the user trusts: a changed file is asked about. Files that these import in turn are not followed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from weft.config.mcp_servers import named_files
from weft.config.schema import COMMANDS, MCP

MAX_FILES = 500


def find_code(path: Path, tables: dict[str, Any]) -> list[Path]:
    """The files beside `path` that hold tools, or that the commands of MCP servers name, sorted."""
    folder = path.parent
    found: set[Path] = set()
    for name in _tool_names(tables):
        found.update(_tool_files(folder, name))
    servers = tables.get(MCP)
    for table in cast("dict[str, Any]", servers).values() if isinstance(servers, dict) else ():
        found.update(named_files(table, folder))
    for words in _hook_words(tables):
        found.update(named_files({"args": words}, folder))
    return sorted(found)[:MAX_FILES]


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
        yield from sorted(path.rglob("*.py"))[:MAX_FILES]
