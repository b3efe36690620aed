"""What tools keep for as long as a session lives: a todo list, running processes, connections."""

import inspect
import logging
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Keep:
    """One object of each kind, made on first use and closed together."""

    def __init__(self) -> None:
        self._kept: dict[type, Any] = {}

    def get(self, kind: type[T]) -> T:
        if kind not in self._kept:
            self._kept[kind] = kind()
        return cast(T, self._kept[kind])

    async def close(self) -> None:
        """Close what has an `aclose` or a `close`, the last made first. One that fails keeps no other open."""
        while self._kept:
            _, kept = self._kept.popitem()
            close = getattr(kept, "aclose", None) or getattr(kept, "close", None)
            if close is None:
                continue
            try:
                closed = close()
                if inspect.isawaitable(closed):
                    await closed
            except Exception:
                logging.getLogger("weft").exception("A tool's %s did not close.", type(kept).__name__)
