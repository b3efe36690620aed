"""Loads the tools that a setting names: `module:function`, a module, a file, or a folder of files.

A function that is named may be a plain typed function. Of a module, file or folder the functions with `@weft.tool`
count. Every problem is a ConfigurationError of one sentence.
"""

import importlib
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from weft.core.digest import sha256
from weft.core.errors import ConfigurationError
from weft.tools.definitions import Tool
from weft.tools.function_tools import tool_of


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
    module = _import(module_name, folder)
    if not colon:
        return _found_in(module, f"The module {module_name!r}")
    if not hasattr(module, attribute):
        from difflib import get_close_matches

        near = get_close_matches(attribute, [each for each in vars(module) if not each.startswith("_")], 1)
        hint = f"did you mean {near[0]!r}?" if near else "check the name."
        raise ConfigurationError(f"The module {module_name!r} has no {attribute!r}; {hint}")
    return [_as_tool(getattr(module, attribute), name)]


def _as_tool(value: Any, name: str) -> Tool:
    if isinstance(value, Tool):
        return value
    if not callable(value) or isinstance(value, type):
        raise ConfigurationError(f"{name!r} is no tool but {_kind(value)}; name a function.")
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
            tools |= {id(tool): tool for tool in _tools_of(_import_file(file))}
        if not tools:
            raise ConfigurationError(f"The files of {path} have no function with @weft.tool; add it to one.")
        return list(tools.values())
    if not path.is_file():
        raise ConfigurationError(f"There is no file or folder {path}; create it, or correct the path.")
    return _found_in(_import_file(path), f"The file {path}")


def _found_in(module: ModuleType, what: str) -> list[Tool]:
    tools = _tools_of(module)
    if not tools:
        raise ConfigurationError(f"{what} has no function with @weft.tool; add it, or name a function after a colon.")
    return tools


def _tools_of(module: ModuleType) -> list[Tool]:
    found = {id(value): value for name, value in vars(module).items() if isinstance(value, Tool) and name[:1] != "_"}
    return list(found.values())


# --- imports --------------------------------------------------------------------------------------------------------


def _import(name: str, folder: Path) -> ModuleType:
    with _importable(folder):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
                raise ConfigurationError(
                    f"There is no module {name!r} in {folder} or among the installed packages; check the name."
                ) from None
            raise _import_failed(f"The module {name!r}", error) from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _import_failed(f"The module {name!r}", error) from None


def _import_file(file: Path) -> ModuleType:
    file = file.resolve()
    name = file.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    if known is not None or name in sys.stdlib_module_names or not name.isidentifier():
        name = f"weft_tools_{sha256(str(file).encode()).hexdigest()[:12]}"
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    with _importable(file.parent):
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if isinstance(error, KeyboardInterrupt):
                raise
            raise _import_failed(f"The file {file}", error) from None
    return module


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    """Find modules in the folder first during an import, and last afterwards, so that it hides no installed package."""
    place = str(folder)
    sys.path.insert(0, place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(place)
        if place not in sys.path:
            sys.path.append(place)


def _import_failed(what: str, error: BaseException) -> ConfigurationError:
    if isinstance(error, ConfigurationError):
        return ConfigurationError(f"{what}: {error}")
    if isinstance(error, SyntaxError):
        place, text = f", line {error.lineno}" if error.lineno else "", error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((each for each in reversed(frames) if "importlib" not in each.filename), None)
        own = last is not None and last.filename != __file__
        place = f", line {last.lineno} of {Path(last.filename).name}" if last is not None and own else ""
        text = " ".join(str(error).split())[:300]
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return ConfigurationError(f"{what} cannot be imported ({reason}{place}); correct it.")
