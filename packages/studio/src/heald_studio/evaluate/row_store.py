"""Stores finished rows on disk, so that a run that ended early continues where it was."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from heald_studio.evaluate.row import Row

FOLDER = "rows"


class RowStore:
    """The rows in a folder, by picture, text, model and stack. Processes that share the folder share the rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def clear(self) -> None:
        """Delete all rows."""
        for path in self._folder.glob("*.msgpack"):
            path.unlink(missing_ok=True)

    def find(self, key: str, target: str, group: str) -> Row | None:
        """Return the row with this key, under the name that the target has now; None if there is none that is whole."""
        try:
            row = msgspec.msgpack.decode((self._folder / f"{key}.msgpack").read_bytes(), type=Row)
        except (OSError, msgspec.DecodeError):
            return None
        return replace(row, target=target, group=group)

    def keep(self, key: str, row: Row) -> None:
        """Write a row that has been measured; one with an error is tried anew by the next run."""
        if row.error:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self._folder / f"{key}.part"
        fresh.write_bytes(msgspec.msgpack.encode(row))
        fresh.replace(self._folder / f"{key}.msgpack")
