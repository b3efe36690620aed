"""The event connection to a server. One task owns the socket, and opens another one when it is lost.

Each connection subscribes to the events after the cursor, and resends the commands that were not answered. No event
is passed on twice, and none after a gap.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from heald.core.envelope import EventHead
from heald.core.errors import HealdError
from heald.core.ids import new_id
from heald.core.json import encode_text
from heald_server.client.errors import ConnectionLost
from heald_server.client.event_cursor import EventCursor
from heald_server.client.outbox import Outbox
from heald_server.client.rest import BLOBS, RestClient
from heald_server.client.server_frames import (
    GoodbyeFrame,
    IgnoredFrame,
    RefusedFrame,
    ReplyFrame,
    ResetFrame,
    SubscribedFrame,
    read_frame,
)
from heald_server.client.timing import Backoff, Timing
from heald_server.client.websocket import SocketClosed, WebSocket

if TYPE_CHECKING:
    from heald_server.client.mirror import SessionMirror


MAX_COMMAND_BYTES = 1024 * 1024
"""The largest message in bytes that a server accepts."""

_PER_SECOND = 60  # commands; servers accept a hundred
_MISSING = frozenset({"not_found", "gone"})
_log = logging.getLogger("heald_server.client")


class ServerConnection:
    """A connection that lives from `start` until `close`, or until an error that another attempt cannot solve."""

    def __init__(
        self, rest: RestClient, outbox: Outbox, cursor: EventCursor, mirror: "SessionMirror", timing: Timing
    ) -> None:
        self._rest = rest
        self._outbox = outbox
        self._cursor = cursor
        self._mirror = mirror
        self._timing = timing
        self._task: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Start, or restart after an error."""
        if not self.is_up:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="heald-connection")

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        backoff = Backoff(self._timing)
        try:
            while True:
                try:
                    await self._mirror.prepare()
                    await self._connect(backoff)
                except ConnectionLost as fault:
                    _log.debug("connection lost", extra={"session": self._cursor.session, "fault": str(fault)})
                    await backoff.wait(str(self._rest.address), fault, goes_on=self._mirror.recovery_hint())
        except HealdError as error:
            self._end(error)
        except Exception as error:
            _log.exception("The connection ended by a fault of Heald.")
            self._end(HealdError(f"Something went wrong inside Heald ({type(error).__name__}); please report it."))
        finally:
            await self._rest.close()

    def _end(self, error: HealdError) -> None:
        self._task = None
        self._outbox.fail(error)
        self._mirror.on_lost(error)

    # --- one connection ----------------------------------------------------------------------------------------------

    async def _connect(self, backoff: Backoff) -> None:
        """Run one connection to its end. Always raises."""
        try:
            async with asyncio.timeout(self._timing.dial):
                socket = await self._rest.open_socket()
        except TimeoutError:
            raise ConnectionLost("no answer in time") from None
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            await self._serve(socket, backoff)
        finally:
            if clock() - began >= self._timing.stable:
                backoff.renew()
            await socket.close()

    async def _serve(self, socket: WebSocket, backoff: Backoff) -> None:
        self._outbox.rewind()
        subscription = new_id("sub")
        subscribe = {
            "type": "subscribe",
            "session": self._cursor.session,
            "resume": self._cursor.seq,
            "id": subscription,
        }
        with suppress(SocketClosed, OSError):
            await socket.send(encode_text(subscribe | {"id": subscription}))
        writer: asyncio.Task[None] | None = None
        try:
            while True:
                text = await self._receive(socket, self._timing.silence if writer else self._timing.dial)
                frame = read_frame(await self._rest.complete_frame(text) if BLOBS in text else text)
                match frame:
                    case EventHead():
                        if self._cursor.advance(frame):
                            backoff.renew()
                            self._mirror.on_event(frame)
                    case ReplyFrame(id=identifier, result=result):
                        if self._outbox.reply(identifier, result):
                            backoff.renew()
                    case RefusedFrame():
                        self._refused(frame, subscription)
                    case ResetFrame():
                        self._mirror.on_reset()
                        raise ConnectionLost("it no longer has the log that was received")
                    case GoodbyeFrame(reason=reason):
                        raise ConnectionLost(f"it said goodbye: {reason}")
                    case SubscribedFrame() | IgnoredFrame():
                        pass
                if writer is None and isinstance(frame, SubscribedFrame | EventHead):
                    writer = asyncio.create_task(self._write(socket), name="heald-connection-writer")
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])

    async def _receive(self, socket: WebSocket, seconds: float) -> str:
        try:
            return await socket.receive(seconds)
        except TimeoutError:
            raise ConnectionLost("it fell silent") from None
        except SocketClosed as closed:
            code = closed.code
        match code:
            case 4401:
                raise self._rest.token_refused()
            case 4404:
                raise self._rest.no_session(self._cursor.session)
            case 4409:
                self._mirror.on_reset()
                raise ConnectionLost("it rejected the cursor")
            case _:
                raise ConnectionLost("the connection broke")

    async def _write(self, socket: WebSocket) -> None:
        clock = asyncio.get_running_loop().time
        written: deque[float] = deque(maxlen=_PER_SECOND)
        with suppress(SocketClosed, OSError):  # the reading side notices
            while True:
                command = await self._outbox.next()
                if len(written) == _PER_SECOND and (wait := written[0] + 1 - clock()) > 0:
                    await asyncio.sleep(wait)
                written.append(clock())
                await socket.send(command.text(self._cursor.session))

    def _refused(self, refused: RefusedFrame, subscription: str) -> None:
        if refused.code == "unauthorized":
            raise self._rest.token_refused()
        error = self._rest.refusal(refused.code, refused.message)
        if refused.id != subscription:
            if refused.id is None or not self._outbox.refuse(refused.id, error):
                _log.debug("refused", extra={"session": self._cursor.session, "code": refused.code})
            return
        if refused.code in _MISSING:
            raise self._rest.no_session(self._cursor.session)
        if refused.code == "invalid_cursor":
            self._mirror.on_reset()
        raise ConnectionLost(str(error))
