"""Loads the functions that settings name as tools. A problem is one sentence that begins with its place."""

from collections.abc import Sequence
from pathlib import Path

from heald.commands.setting import Setting
from heald.config.paths import display_path, user_file, working_folder
from heald.core.errors import ConfigurationError
from heald.tools.definitions import Tool
from heald.tools.own_functions import is_own, is_path, load_tools


def load_functions(settings: Sequence[Setting]) -> list[Tool]:
    """Load the functions that the settings name. Raises ConfigurationError for the first problem."""
    builtin: set[str] = set()
    loaded: dict[str, tuple[Tool, str]] = {}
    for setting in settings:
        for name in setting.value:
            if setting.key == "tools" and not is_own(name):
                continue
            builtin = builtin or _builtin_tool_names()
            for tool in _load(name, setting):
                where = f"{setting.origin}: {name!r}"
                if tool.name in builtin:
                    raise ConfigurationError(f"{where} has the name {tool.name!r} of a built-in tool; rename it.")
                earlier, place = loaded.get(tool.name, (tool, where))
                if earlier is not tool and place != where:
                    raise ConfigurationError(f"{where} has the name {tool.name!r}, as has {place}; rename one.")
                if earlier is not tool:
                    raise ConfigurationError(f"{where} has two tools of the name {tool.name!r}; rename one.")
                loaded[tool.name] = tool, where
    return [tool for tool, _ in loaded.values()]


def _builtin_tool_names() -> set[str]:
    from heald.tools.families import tool_names  # who names no tools of their own loads none

    return tool_names()


def _load(name: str, setting: Setting) -> list[Tool]:
    folder = setting.folder or _user_folder(setting) or working_folder() or Path()
    if setting.folder is not None and is_path(name):
        root = setting.folder.resolve()
        if name.startswith("~") or not (root / name).resolve().is_relative_to(root):
            raise ConfigurationError(f"{setting.origin}: {name!r} is not in the same folder; a project names its own.")
    try:
        return load_tools(name, folder)
    except ConfigurationError as error:
        raise ConfigurationError(f"{setting.origin}: {error}") from None


def _user_folder(setting: Setting) -> Path | None:
    """The folder of the user's file, if the setting comes from there."""
    return user_file().parent if setting.origin.startswith(f"{display_path(user_file())}:") else None
