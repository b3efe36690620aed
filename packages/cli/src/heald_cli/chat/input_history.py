"""The lines that a person typed in `heald chat`, kept over starts: ↑ finds them again."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from prompt_toolkit.history import History

_MAX_LINES = 1_000
_MAX_BYTES = 1_000_000
_MAX_CHARACTERS = 10_000
"""A longer text is not kept."""


class InputHistory(History):
    """The lines in one file that only its user can read, a JSON text each. Several chats may append to it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """Return the lines, the latest first."""
        texts: list[str] = []
        try:
            rows = self._path.read_bytes()[-_MAX_BYTES:].splitlines()[-_MAX_LINES:]
        except OSError:
            return []
        for row in rows:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):  # a row that was cut
                texts.append(msgspec.json.decode(row, type=str))
        return reversed(texts)

    def store_string(self, string: str) -> None:
        """Append a line. A history that cannot be written is only not kept."""
        if len(string) > _MAX_CHARACTERS:
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._shorten()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(msgspec.json.encode(string) + b"\n")

    def _shorten(self) -> None:
        """Keep the later half of a file that has grown too large."""
        if not self._path.exists() or self._path.stat().st_size < 2 * _MAX_BYTES:
            return
        rows = self._path.read_bytes()[-_MAX_BYTES:].splitlines(keepends=True)[1:]
        shortened = self._path.with_suffix(".new")
        descriptor = os.open(shortened, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(rows)
        shortened.replace(self._path)
