"""Prints events as lines of JSON."""

from heald.core.envelope import Event
from heald.core.json import encode_text


class JsonPrinter:
    """Prints every event as one line of JSON."""

    def __call__(self, event: Event) -> None:
        print(encode_text(event), flush=True)
