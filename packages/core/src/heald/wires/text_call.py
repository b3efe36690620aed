"""A call that a model wrote as text."""

from collections.abc import Mapping, Sequence

import msgspec

from heald.core.json import JsonObject

Tools = Mapping[str, Sequence[str]]
"""The names of the arguments of each tool, in order."""
NamedCalls = list[tuple[str, JsonObject]]
"""Names with their arguments."""


class TextCall(msgspec.Struct, frozen=True):
    """A call that a model wrote as text."""

    name: str
    arguments: JsonObject
    form: str
