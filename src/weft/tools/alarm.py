"""One timer for all calls of a runtime. It stays set from call to call, so a quick call costs no timer of its own."""

import asyncio
import weakref
from collections.abc import Callable, Hashable


class Alarm:
    """Rings for those who are still there when their time is up."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due: dict[Hashable, tuple[float, Callable[[], None]]] = {}

    def watch(self, who: Hashable, seconds: float, ring: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._timer = loop, None
        due = loop.time() + seconds
        self._due[who] = (due, ring)
        self._set(due)

    def forget(self, who: Hashable) -> None:
        self._due.pop(who, None)

    def _set(self, due: float) -> None:
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        assert self._loop is not None
        self._timer = self._loop.call_at(due, _check, weakref.ref(self))  # a timer keeps nobody alive

    def check(self) -> None:
        assert self._loop is not None
        self._timer = None
        now = self._loop.time()
        late = [(who, ring) for who, (due, ring) in self._due.items() if due <= now]
        for who, ring in late:
            self._due.pop(who, None)
            ring()
        if self._due:
            self._set(min(due for due, _ in self._due.values()))


def _check(alarm: Callable[[], Alarm | None]) -> None:
    if (here := alarm()) is not None:
        here.check()
