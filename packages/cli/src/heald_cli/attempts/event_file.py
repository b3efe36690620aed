"""The log of all attempts: a file with every event of every attempt, one JSON line each."""

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text


class EventFile:
    """Writes events as they come. Each attempt is a session of its own in it. Without a path it writes nothing."""

    def __init__(self, path: str | None) -> None:
        try:
            self._file = Path(path).open("w", encoding="utf-8") if path else None  # noqa: SIM115
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from None

    def __call__(self, event: Event) -> None:
        if self._file is not None:
            with suppress(ValueError):  # it is closed: an attempt was cut off
                self._file.write(f"{encode_text(event)}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
