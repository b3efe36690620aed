"""The event connection to a server. One task owns the socket, and opens another one when it is lost.

Each connection subscribes to the events after the cursor, and sends the commands again that were not answered. No event
is passed on twice, and none after a gap.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.client.address import Backoff, Timing
from weft.client.errors import ConnectionLost, ServerRefused
from weft.client.rest import BLOBS, RestClient
from weft.client.websocket import (
    GoodbyeFrame,
    IgnoredFrame,
    RefusedFrame,
    ReplyFrame,
    ResetFrame,
    SocketClosed,
    SubscribedFrame,
    WebSocket,
    read_frame,
)
from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.ids import new_id
from weft.core.json import JsonObject, encode_text

if TYPE_CHECKING:
    from weft.client.mirror import SessionMirror


class EventCursor:
    """The position after the last event that was passed on."""

    def __init__(self, session: str = "", seq: int = 0) -> None:
        self.session = session
        self.seq = seq
        self._others: dict[str, int] = {}

    def begin(self, session: str, seq: int) -> None:
        """Move to another position."""
        self.session, self.seq = session, seq
        self._others.clear()

    def advance(self, event: Event) -> bool:
        """Move to the next event. Returns False for one that was passed on before. Raises ConnectionLost at a gap.

        Events of agents that work for the session cannot be resumed: they may have gaps after a lost connection, but
        none comes twice.
        """
        if event.session != self.session:
            if event.seq <= self._others.get(event.session, 0):
                return False
            self._others[event.session] = event.seq
            return True
        if event.seq <= self.seq:
            return False
        if event.seq != self.seq + 1:
            raise ConnectionLost(f"it left out what comes after event {self.seq}")
        self.seq = event.seq
        return True


MAX_COMMAND_BYTES = 1024 * 1024
"""The largest message in bytes that a server accepts."""


@dataclass(eq=False, slots=True)
class PendingCommand:
    """A command that was not answered yet. `written` counts the connections it was sent on."""

    frame: JsonObject
    answer: "asyncio.Future[JsonObject]"
    id: str = field(default_factory=lambda: new_id("cmd"))
    written: int = 0

    def text(self, session: str) -> str:
        return encode_text(self.frame | {"session": session, "id": self.id})


class Outbox:
    """The commands that were not answered yet. Every new connection sends all of them again."""

    def __init__(self) -> None:
        self._open: dict[str, PendingCommand] = {}
        self._unwritten: list[PendingCommand] = []
        self._more = asyncio.Event()

    def put(self, frame: JsonObject) -> PendingCommand:
        command = PendingCommand(frame, asyncio.get_running_loop().create_future())
        command.answer.add_done_callback(lambda _: self._forget(command))
        self._open[command.id] = command
        self._unwritten.append(command)
        self._more.set()
        return command

    def rewind(self) -> None:
        """Send all open commands again, on a new connection."""
        self._unwritten = list(self._open.values())
        (self._more.set if self._unwritten else self._more.clear)()

    async def next(self) -> PendingCommand:
        """Wait for the next command to write."""
        while not self._unwritten:
            self._more.clear()
            await self._more.wait()
        command = self._unwritten.pop(0)
        command.written += 1
        return command

    def reply(self, identifier: str, result: JsonObject) -> bool:
        """Resolve a command. Returns whether it was open."""
        command = self._open.get(identifier)
        if command is not None and not command.answer.done():
            command.answer.set_result(result)
        return command is not None

    def refuse(self, identifier: str, error: ServerRefused) -> bool:
        command = self._open.get(identifier)
        if command is not None and not command.answer.done():
            command.answer.set_exception(error)
        return command is not None

    def fail(self, error: Exception) -> None:
        """Fail all open commands."""
        for command in list(self._open.values()):
            if not command.answer.done():
                command.answer.set_exception(error)

    async def wait_answered(self, seconds: float) -> None:
        """Wait until all open commands are answered, for some seconds at most."""
        if self._open:
            await asyncio.wait([command.answer for command in self._open.values()], timeout=seconds)

    def _forget(self, command: PendingCommand) -> None:
        self._open.pop(command.id, None)
        if command in self._unwritten:
            self._unwritten.remove(command)
        if not command.answer.cancelled():
            command.answer.exception()  # mark it as retrieved


_PER_SECOND = 60  # commands; servers accept a hundred
_GONE = frozenset({"not_found", "gone"})
_log = logging.getLogger("weft.client")


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
        """Start, or start again after an error."""
        if not self.is_up:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="weft-connection")

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
        except WeftError as error:
            self._end(error)
        except Exception as error:
            _log.exception("The connection ended by a fault of Weft.")
            self._end(WeftError(f"Something went wrong inside Weft ({type(error).__name__}); please report it."))
        finally:
            await self._rest.close()

    def _end(self, error: WeftError) -> None:
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
                    case Event():
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
                if writer is None and isinstance(frame, SubscribedFrame | Event):
                    writer = asyncio.create_task(self._write(socket), name="weft-connection-writer")
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
                raise ConnectionLost("it did not take the cursor")
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
        if refused.code in _GONE:
            raise self._rest.no_session(self._cursor.session)
        if refused.code == "invalid_cursor":
            self._mirror.on_reset()
        raise ConnectionLost(str(error))
