"""Prints events as lines of JSON."""

import sys

from heald.core.envelope import Event
from heald.core.json import encode_text
from heald.tools.visible_text import escape_json


class JsonPrinter:
    """Prints every event as one line of JSON. On a terminal, hidden characters are written as escapes of JSON."""

    def __init__(self) -> None:
        self._is_watched = sys.stdout.isatty()

    def __call__(self, event: Event) -> None:
        line = encode_text(event)
        print(escape_json(line) if self._is_watched else line, flush=True)
