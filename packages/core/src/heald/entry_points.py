"""The entry points of installed distributions in the groups `heald.…`. `heald.plugin_loader` loads their objects.

The metadata files are read directly: `importlib.metadata` takes 90 ms to import and 18 ms to search an environment of
150 distributions, this module takes 3 ms. `heald --help` uses it, so it imports little.
"""

import os
import sys
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # the module `typing` takes longer than this one
if TYPE_CHECKING:
    from typing import Any


_STANDARD_LIBRARY = (os.path.dirname(os.__file__), f"{os.path.dirname(os.__file__)}/lib-dynload")
_MAX_BYTES = 1 << 20
"""Most bytes of the entry points of one distribution."""


class EntryPoint:
    """One object that a distribution offers."""

    __slots__ = ("distribution", "group", "name", "value")

    def __init__(self, group: str, name: str, value: str, distribution: str) -> None:
        self.group = group
        self.name = name
        self.value = value
        """`module:attribute`, or a module."""
        self.distribution = distribution


failures: dict[EntryPoint, Exception] = {}
"""The entries that could not be imported, and why."""


@cache
def import_entry(entry: EntryPoint) -> "Any":
    """Import the object of an entry. Raises what the import raises, and remembers it in `failures`."""
    try:
        return import_reference(entry.value)
    except Exception as error:
        failures[entry] = error
        raise


def import_reference(reference: str) -> "Any":
    """Import `module:attribute`, or a module."""
    module, _, attribute = reference.partition(":")
    loaded: Any = import_module(module)
    for part in filter(None, attribute.split(".")):
        loaded = getattr(loaded, part)
    return loaded


@cache
def entry_points() -> dict[str, dict[str, EntryPoint]]:
    """Return the entries by group and name. The first one of a name counts."""
    groups: dict[str, dict[str, EntryPoint]] = {}
    for entry in all_entries():
        groups.setdefault(entry.group, {}).setdefault(entry.name, entry)
    return groups


@cache
def all_entries() -> tuple[EntryPoint, ...]:
    """Return all entries, those of Heald's own distributions first, the others by the name of their distribution."""
    entries: dict[str, list[EntryPoint]] = {}
    for folder in sys.path:
        if folder in _STANDARD_LIBRARY:
            continue
        for distribution, text in _metadata_files(folder):
            entries.setdefault(distribution, _parse_entries(text, distribution))  # the first on the path counts
    ordered = sorted(entries, key=lambda name: (not name.startswith("heald"), name))
    return tuple(entry for distribution in ordered for entry in entries[distribution])


def _metadata_files(folder: str) -> list[tuple[str, str]]:
    """The entry point files below one folder of the path that name a group of ours, by distribution."""
    try:
        names = [name for name in os.listdir(folder or ".") if name.endswith(".dist-info")]
    except OSError:
        return []
    files: list[tuple[str, str]] = []
    for name in names:
        try:
            file = os.open(f"{folder or '.'}/{name}/entry_points.txt", os.O_RDONLY)
        except OSError:
            continue
        try:
            content = os.read(file, _MAX_BYTES)
        finally:
            os.close(file)
        if b"[heald." in content:
            distribution = name.removesuffix(".dist-info").rpartition("-")[0].replace("_", "-")
            files.append((distribution, content.decode("utf-8", "replace")))
    return files


def _parse_entries(text: str, distribution: str) -> list[EntryPoint]:
    entries: list[EntryPoint] = []
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group.startswith("heald.") and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            entries.append(EntryPoint(group.removeprefix("heald."), name.strip(), value.strip(), distribution))
    return entries
