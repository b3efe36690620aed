"""The objects that tools share in a session."""

import inspect
import logging
from typing import Any, TypeVar, cast

T = TypeVar("T")


class SessionObjects:
    """One object per type, created on first use and closed with the session."""

    def __init__(self) -> None:
        self._kept: dict[type, Any] = {}

    def get(self, kind: type[T]) -> T:
        if kind not in self._kept:
            self._kept[kind] = kind()
        return cast(T, self._kept[kind])

    async def close(self) -> None:
        """Call `aclose` or `close` on each object, newest first. A failure is logged and does not stop the others."""
        while self._kept:
            _, instance = self._kept.popitem()
            close = getattr(instance, "aclose", None) or getattr(instance, "close", None)
            if close is None:
                continue
            try:
                closed = close()
                if inspect.isawaitable(closed):
                    await closed
            except Exception:
                logging.getLogger("heald").exception("A tool's %s did not close.", type(instance).__name__)
