"""The stacks that projects may have: those of installed distributions, and those of a folder of the user.

A distribution offers a stack, or a folder of stack files, as an entry point of the group `heald.stacks`; the built-in
stacks are offered in the same way. A stack that is not valid is listed by `heald.plugins.plugin_problems`, and stops
nothing else. A folder of the user adds stacks and replaces others of the same name.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from heald.core.errors import ConfigurationError
from heald.plugins import load_plugins, record_failure
from heald_studio.stacks.stack import Stack
from heald_studio.stacks.stack_file import check_stack, parse_stack
from heald_studio.user_files import list_user_files, read_user_file

BUILTIN = resources.files("heald_studio") / "stacks"
"""The folder of the built-in stacks."""
_ORDER = (
    *("html_tailwind", "html_css", "react_tailwind", "vue_tailwind", "bootstrap", "ionic_tailwind", "svg"),
    *("react_vite", "next_shadcn", "svelte_vite", "astro_tailwind"),
)
"""The stacks that are offered first, in this order."""


def load_stacks(folder: Path | None = None) -> dict[str, Stack]:
    """Load all stacks by name: the installed ones, overridden by those of a folder. Raises ConfigurationError."""
    if folder is None:
        return _installed_stacks()
    return _installed_stacks() | {file.stem: _read_stack(file) for file in list_user_files(folder, "stacks")}


def find_stack(name: str, folder: Path | None = None) -> Stack:
    """Find a stack by its name. Raises ConfigurationError that lists the stacks there are."""
    stacks = load_stacks(folder)
    stack = stacks.get(name)
    if stack is None:
        raise ConfigurationError(f"There is no stack {name[:60]!r}; choose one of {', '.join(stacks)}.")
    return stack


def _read_stack(file: Path) -> Stack:
    return _parse_cached(file.stem, read_user_file(file), str(file))


_parse_cached = lru_cache(maxsize=64)(parse_stack)


@cache
def _installed_stacks() -> dict[str, Stack]:
    stacks: dict[str, Stack] = {}
    for entry, plugin in load_plugins("stacks").items():
        try:
            offered = {stack.name: stack for stack in _stacks_of(plugin)}
        except Exception as error:
            record_failure("stacks", entry, error)
            continue
        for name in offered.keys() & stacks.keys():
            record_failure("stacks", entry, ConfigurationError(f"another distribution offers the stack {name} too"))
        stacks = offered | stacks
    ranks = {name: rank for rank, name in enumerate(_ORDER)}
    return dict(sorted(stacks.items(), key=lambda item: ranks.get(item[0], len(ranks))))


def _stacks_of(plugin: object) -> Iterator[Stack]:
    """Yield the stacks of an entry point: a stack, or a folder of stack files."""
    if isinstance(plugin, Stack):
        yield check_stack(plugin, f"The stack {plugin.name}")
        return
    if not isinstance(plugin, Traversable):
        raise TypeError(f"{type(plugin).__name__} is neither a Stack nor a folder of stack files")
    for file in sorted(plugin.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md") and file.name.lower() != "readme.md":
            yield parse_stack(file.name.removesuffix(".md"), file.read_text("utf-8"), file.name)
