"""An answer as read from its bytes."""

import msgspec

from heald.core.json import JsonObject, as_object, parse_strict
from heald_check.conform.framing import StreamFault


class ReadCall(msgspec.Struct):
    """A call; its arguments arrive in pieces."""

    id: str = ""
    name: str = ""
    pieces: list[str] = []
    index: int | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def input(self) -> JsonObject | None:
        """The parsed arguments, None if they are not an object."""
        try:
            value = parse_strict(self.arguments or "{}")
        except ValueError:
            return None
        return as_object(value) if isinstance(value, dict) else None


class ReadUsage(msgspec.Struct, frozen=True):
    input: int | None
    output: int | None
    total: int | None = None


class StreamReading(msgspec.Struct, frozen=True):
    """An answer as read from its bytes."""

    events: int
    text: str
    calls: tuple[ReadCall, ...]
    finish: str
    tokens: ReadUsage | None
    error: str | None
    faults: tuple[StreamFault, ...]

    def faults_of(self, *rules: str) -> list[StreamFault]:
        return [fault for fault in self.faults if fault.rule in rules]
