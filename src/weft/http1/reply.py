"""One answer while it comes: filled by its connection, emptied by its reader, who waits for no more than one future."""

import asyncio
from typing import Protocol

from weft.http1.faults import Broken, Fault

HIGH_WATER = 256 * 1024


class Source(Protocol):
    """Where an answer comes from."""

    def resume(self) -> None: ...

    def drain(self, reply: "Reply") -> None: ...

    def abort(self) -> None: ...


class Reply:
    """One answer: its connection fills it, its reader empties it. One reader, one read at a time."""

    __slots__ = ("_fault", "_loop", "_source", "_unread", "_waiter", "chunks", "ended", "headers", "size", "status")

    def __init__(self, source: Source, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.chunks: list[bytes] = []
        self.size = 0
        self.ended = False
        """All of it has come."""
        self._unread = False  # nobody will read the rest
        self._source: Source | None = source
        self._loop = loop
        self._waiter: asyncio.Future[None] | None = None
        self._fault: Fault | None = None

    async def begin(self) -> None:
        """Wait for the status and the headers."""
        while not self.status:
            if self._fault is not None:
                raise self._fault
            await self._wait()

    async def read(self) -> bytes:
        """All that has come since the last read; empty at the end."""
        while not self.chunks:
            if self._fault is not None:
                raise self._fault
            if self.ended:
                return b""
            await self._wait()
        chunks = self.chunks
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        if self.size > HIGH_WATER and self._source is not None:
            self._source.resume()
        self.size = 0
        return data

    def at_end(self) -> bool:
        """All has been read, as far as is known without waiting."""
        return self.ended and not self.chunks

    def release(self) -> None:
        """Nobody reads on. The last bytes may still be under way: the connection is kept if they come soon."""
        self.chunks.clear()
        if self._source is None:
            return
        self._unread = True
        self._source.drain(self)

    def close(self) -> None:
        """Drop the connection at once."""
        if not self.at_end():
            self.fail(Broken("it was closed on this side"))
        self.chunks.clear()

    @property
    def settling(self) -> bool:
        """It was released and its end is still under way."""
        return self._unread and self._source is not None

    async def settled(self, patience: float) -> None:
        """Wait for the end of a released answer, but not for long."""
        timer = self._loop.call_later(patience, self._wake)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
            timer.cancel()

    def open(self, status: int, headers: dict[str, str]) -> None:
        self.status, self.headers = status, headers
        self._wake()

    def grow(self, size: int) -> bool:
        """More has come. False if it is more than is good to hold."""
        if self._unread:
            self.chunks.clear()
            return True
        self.size += size
        if self.chunks:
            self._wake()
        return self.size <= HIGH_WATER

    def end(self) -> None:
        if self._unread:
            self.chunks.clear()
        self.ended = True
        self._source = None
        self._wake()

    def fail(self, fault: Fault) -> None:
        """What has come is still read; then the fault is told."""
        source, self._source = self._source, None
        self._fault = fault
        if source is not None:
            source.abort()
        self._wake()

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
