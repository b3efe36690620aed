"""Usage that a stream reports several times: it is parsed when somebody wants it, not with every report."""

from collections.abc import Callable
from typing import ClassVar

from weft.core.json import JsonObject
from weft.core.turn import Usage
from weft.wires.decoder import Decoder


class RepeatedUsageDecoder(Decoder):
    """A decoder that keeps what was reported last in `provider_usage`, and then sets `_usage` to None."""

    usage_parser: ClassVar[Callable[[JsonObject], Usage]]
    _usage: Usage | None = None

    @property
    def usage(self) -> Usage:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The usage so far."""
        if self._usage is None:
            self._usage = type(self).usage_parser(self.provider_usage or {})
        return self._usage
