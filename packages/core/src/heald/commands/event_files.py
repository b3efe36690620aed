"""Reads the events of a file: an exported session, or lines of JSON such as `heald run --json` prints."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

from heald.core.envelope import Event, decode_event, is_event
from heald.core.errors import ConfigurationError
from heald.sessions.archive import read_archive

_MAX_LINE = 1 << 27
"""Most characters of one line in a file."""


def read_events(path: Path) -> AsyncGenerator[Event]:
    """Read the events of a file. Raises ConfigurationError if it is not a log."""
    return _read_archive(path) if _is_archive(path) else _read_lines(path)


async def _read_archive(path: Path) -> AsyncGenerator[Event]:
    with path.open("rb") as file:
        async for item in read_archive(file):
            if is_event(item):
                yield item


async def _read_lines(path: Path) -> AsyncGenerator[Event]:
    """Read events, one a line."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_LINE):
            number += 1
            if not line.strip():
                continue
            try:
                yield decode_event(line)
            except (ValueError, TypeError, RecursionError):
                raise ConfigurationError(
                    f"{path.name} is not a log: line {number} is not an event. 'heald run --json' writes such files, "
                    "and 'heald sessions export'."
                ) from None


def _is_archive(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return b'"heald_session"' in file.readline(4096)
    return False
