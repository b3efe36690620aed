"""Streams at the pace of a model: 50 deltas a second for each, all from one timer.

Streams take turns in joining the slots of the period, so that their deltas are spread over it as those of
unrelated models are. The metronome knows how late its own ticks were.
"""

import asyncio
from collections.abc import Callable, Sequence

from benchmarks.stamps import stamp

DELTAS_A_SECOND = 50
SLOTS = 10

_TICK = 1 / (DELTAS_A_SECOND * SLOTS)


class PacedStream:
    """What is left to be sent of one answer. Each delta is a template, cut where its time goes in."""

    def __init__(
        self,
        deltas: Sequence[tuple[bytes, bytes]],
        closing: bytes,
        write: Callable[[bytes], None],
    ) -> None:
        self._deltas = iter(deltas)
        self._closing = closing
        self._write = write

    def advance(self) -> bool:
        """Send the next delta; False if there was none, and the end was sent instead."""
        for before, after in self._deltas:
            self._write(before + stamp() + after)
            return True
        self._write(self._closing)
        return False


class Metronome:
    """Advances the streams of one slot with each tick."""

    def __init__(self) -> None:
        self.late: list[float] = []
        """How late each tick was, in seconds."""
        self._slots: list[dict[PacedStream, None]] = [{} for _ in range(SLOTS)]
        self._next_slot = 0
        self._count = 0
        self._start = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def join(self, stream: PacedStream) -> None:
        self._slots[self._next_slot][stream] = None
        self._next_slot = (self._next_slot + 1) % SLOTS
        if self._timer is None:
            self._start, self._count = asyncio.get_running_loop().time(), 0
            self._tick()

    def remove(self, stream: PacedStream) -> None:
        for slot in self._slots:
            slot.pop(stream, None)

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        if not any(self._slots):
            self._timer = None
            return
        due = self._start + self._count * _TICK
        while (now := loop.time()) >= due:
            self.late.append(now - due)
            slot = self._slots[self._count % SLOTS]
            for stream in list(slot):
                if not stream.advance():
                    del slot[stream]
            self._count += 1
            due += _TICK
        self._timer = loop.call_at(due, self._tick)
