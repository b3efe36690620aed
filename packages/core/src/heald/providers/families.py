"""Families of models that speak no wire, such as `local/…` and `claude-agent/…`.

An entry of `heald.models` is a family, and its name is the provider: the part of a model's name before the slash.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from heald.plugin_loader import has_plugin, load_plugin, load_plugins, record_failure
from heald.providers.base import CustomModel


class OfferedModel(msgspec.Struct, frozen=True):
    """A model of a family that can be used now."""

    name: str
    """With its provider, such as `local/vision`."""
    label: str = ""
    """The name for display."""


class ModelFamily(Protocol):
    """A family of models. It may also have `list_models() -> Sequence[OfferedModel]`, the models that can be used now,
    `stacks`, the names of the studio's stacks that its models can write, and `hosted_tools`, the names of the tools
    that its models have in a loop of their own."""

    def named(self, name: str, /) -> CustomModel:
        """Return the model of a name, the part behind the slash. Raises UnknownProvider if there is none."""
        ...


def find_family(provider: str) -> ModelFamily | None:
    """Return the family of a provider; None if no family has this name. Raises PluginFailed if it cannot be loaded."""
    return load_plugin("models", provider) if has_plugin("models", provider) else None


def offered_models() -> list[OfferedModel]:
    """Return the models of all families that can be used now. A family that fails is listed by `plugin_problems`."""
    models: list[OfferedModel] = []
    for provider, family in load_plugins("models").items():
        try:
            models += family.list_models() if hasattr(family, "list_models") else ()
        except Exception as error:
            record_failure("models", provider, error)
    return models


def stacks_of(model_name: str) -> tuple[str, ...] | None:
    """Return the names of the studio's stacks that a model can write; None if it can write any."""
    family: Any = find_family(model_name.partition("/")[0])
    stacks: Sequence[str] | None = getattr(family, "stacks", None)
    return None if stacks is None else tuple(stacks)
