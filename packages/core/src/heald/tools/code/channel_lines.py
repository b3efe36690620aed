"""The lines of the channel between a program and its host: JSON objects."""

from dataclasses import dataclass

import msgspec

from heald.core.json import JsonObject, encode


class ChannelCall(msgspec.Struct, omit_defaults=True):
    """A line that the program writes: a call. Without a name it asks for the program."""

    id: int = 0
    name: str = ""
    arguments: JsonObject = {}


@dataclass(frozen=True, slots=True)
class ChannelAnswer:
    """The result of a call, as the program gets it."""

    value: object
    is_error: bool = False

    def encode(self, number: int) -> bytes:
        """Return the line for the call of this number."""
        return encode({"id": number, "error" if self.is_error else "value": self.value}) + b"\n"
