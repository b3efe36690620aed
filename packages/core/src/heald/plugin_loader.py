"""Loads the objects that installed distributions offer by entry points. `heald.plugins` is its public module."""

from functools import cache
from typing import Any

from heald.core.errors import ConfigurationError
from heald.entry_points import EntryPoint, all_entries, entry_points, failures, import_entry

GROUPS = {
    "wires": "wire of a provider API",
    "providers": "provider",
    "models": "model without a wire",
    "tools": "family of tools",
    "stores": "store of sessions",
    "commands": "command",
    "settings": "table of settings",
    "protocols": "protocol of a client",
    "placements": "placement of work",
    "stacks": "stack of the studio",
    "detectors": "detector of elements in pictures",
    "forges": "kind of forge",
    "checks": "check of `heald doctor`",
}
"""Every group, without its prefix `heald.`, and what one entry of it is."""


class PluginFailed(ConfigurationError):
    """A plugin cannot be loaded. The message names it, its distribution and the reason."""


def plugin_names(group: str) -> list[str]:
    """Return the names of all entries of a group. Imports none of them."""
    return list(entry_points().get(group, ()))


def has_plugin(group: str, name: str) -> bool:
    """Whether a distribution offers an entry of this name. Imports nothing."""
    return name in entry_points().get(group, ())


@cache
def load_plugin(group: str, name: str) -> Any:
    """Import an entry. Raises KeyError if there is none of this name, and PluginFailed if it cannot be imported."""
    entry = entry_points().get(group, {})[name]
    try:
        return import_entry(entry)
    except Exception as error:
        raise PluginFailed(describe_failure(entry, error)) from error


def load_plugins(group: str) -> dict[str, Any]:
    """Import all entries of a group that can be imported. The others are listed by `plugin_problems`."""
    plugins: dict[str, Any] = {}
    for name in plugin_names(group):
        try:
            plugins[name] = load_plugin(group, name)
        except PluginFailed:
            continue
    return plugins


def record_failure(group: str, name: str, error: Exception) -> str:
    """Add an entry that was imported but cannot be used to `plugin_problems`. Returns the sentence about it."""
    entry = entry_points()[group][name]
    failures[entry] = error
    return describe_failure(entry, error)


def plugin_problems() -> list[str]:
    """Return a sentence for each entry that could not be loaded so far, and for each name that is offered twice."""
    return [*_duplicates(), *(describe_failure(entry, error) for entry, error in failures.items())]


def installed_distributions() -> list[str]:
    """Return the names of the distributions that offer something to Heald."""
    return sorted({entry.distribution for entry in all_entries()})


def describe_failure(entry: EntryPoint, error: Exception) -> str:
    """Describe in one sentence why an entry cannot be loaded."""
    return (
        f"The {_noun(entry.group)} {entry.name!r} of {entry.distribution} cannot be loaded ({entry.value}): "
        f"{type(error).__name__}: {error}"
    )


def _duplicates() -> list[str]:
    sentences: list[str] = []
    for entry in all_entries():
        winner = entry_points()[entry.group][entry.name]
        if winner is not entry:
            sentences.append(
                f"{entry.distribution} offers the {_noun(entry.group)} {entry.name!r}, which {winner.distribution} "
                f"offers too; uninstall one of them, {winner.distribution} is used."
            )
    return sentences


def _noun(group: str) -> str:
    return GROUPS.get(group, group)
