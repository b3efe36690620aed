"""A problem of a value, and its path in the value."""

from typing import Any

import msgspec

from heald.tools.quoted_values import format_path

Path = tuple[str | int, ...]


class Problem(msgspec.Struct, frozen=True):
    """A problem and its path in the value."""

    path: Path
    message: str
    choices: tuple[Any, ...] = ()
    """The allowed values, if the schema lists them."""
    value: Any = None

    @property
    def where(self) -> str:
        """The path in the form `steps[0].path`; empty for the whole value."""
        return format_path(self.path)
