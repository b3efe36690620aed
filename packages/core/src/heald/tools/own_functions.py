"""Loads the tools that a setting names: `module:function`, a module, a file, or a folder of files.

A function that is named may be a plain typed function. Of a module, file or folder the functions with `@heald.tool`
count. Every problem is a ConfigurationError of one sentence.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

from heald.core.errors import ConfigurationError
from heald.tools.definitions import Tool
from heald.tools.function_tools import tool_of
from heald.tools.module_imports import import_file, import_named


def is_own(name: str) -> bool:
    """Return whether a name in `tools` stands for tools of one's own: it has a colon, a dot or a slash."""
    return any(sign in name for sign in ":./")


def is_path(name: str) -> bool:
    return "/" in name or name.startswith(".") or name.endswith(".py")


def load_tools(name: str, folder: Path) -> list[Tool]:
    """Load the tools of a name. Modules are found in `folder` first, and paths are relative to it."""
    if is_path(name):
        return _load_path((folder / name).expanduser() if not name.startswith("~") else Path(name).expanduser())
    module_name, colon, attribute = name.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")) or (colon and not attribute):
        raise ConfigurationError(f"{name!r} names no tool; write it as my_tools:weather, my_tools or ./tools.")
    module = import_named(module_name, folder)
    if not colon:
        return _found_in(module, f"The module {module_name!r}")
    if not hasattr(module, attribute):
        from difflib import get_close_matches

        near = get_close_matches(attribute, [variable for variable in vars(module) if not variable.startswith("_")], 1)
        hint = f"did you mean {near[0]!r}?" if near else "check the name."
        raise ConfigurationError(f"The module {module_name!r} has no {attribute!r}; {hint}")
    return [_as_tool(getattr(module, attribute), name)]


def _as_tool(value: Any, name: str) -> Tool:
    if isinstance(value, Tool):
        return value
    if not callable(value) or isinstance(value, type):
        raise ConfigurationError(f"{name!r} is not a tool but {_kind(value)}; name a function.")
    return tool_of(value)


def _kind(value: Any) -> str:
    return "a class" if isinstance(value, type) else f"a value of type {type(value).__name__}"


def _load_path(path: Path) -> list[Tool]:
    if path.is_dir():
        files = sorted(file for file in path.glob("*.py") if not file.name.startswith("_"))
        if not files:
            raise ConfigurationError(f"The folder {path} has no Python file with tools; name another.")
        tools: dict[int, Tool] = {}
        for file in files:
            tools |= {id(tool): tool for tool in _tools_of(import_file(file))}
        if not tools:
            raise ConfigurationError(f"The files of {path} have no function with @heald.tool; add it to one.")
        return list(tools.values())
    if not path.is_file():
        raise ConfigurationError(f"There is no file or folder {path}; create it, or correct the path.")
    return _found_in(import_file(path), f"The file {path}")


def _found_in(module: ModuleType, what: str) -> list[Tool]:
    tools = _tools_of(module)
    if not tools:
        raise ConfigurationError(f"{what} has no function with @heald.tool; add it, or name a function after a colon.")
    return tools


def _tools_of(module: ModuleType) -> list[Tool]:
    tools = {id(value): value for name, value in vars(module).items() if isinstance(value, Tool) and name[:1] != "_"}
    return list(tools.values())
