"""The line to a server: one task owns the socket, and opens another when it is lost.

Each connection asks for what comes behind the cursor and gets again what was not answered. Nothing is handed on twice,
and nothing from behind a gap.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from typing import Protocol

from weft.core.envelope import Event
from weft.core.errors import WeftError
from weft.core.ids import new_id
from weft.core.json import encode_text
from weft.remote.calls import Calls
from weft.remote.cursor import Cursor
from weft.remote.errors import Unreachable
from weft.remote.frames import Goodbye, Nothing, Refused, Reply, Reset, Subscribed, read_frame
from weft.remote.outbox import Outbox
from weft.remote.pace import Pace, Patience
from weft.remote.websocket import Closed, WebSocket

_PER_SECOND = 60  # commands; servers take a hundred
_GONE = frozenset({"not_found", "gone"})
_log = logging.getLogger("weft.remote")


class Hearer(Protocol):
    """Who the line is for."""

    async def prepare(self) -> None:
        """Have a session, and the cursor in it. Raises Unreachable to be asked again."""
        ...

    def hear(self, event: Event) -> None: ...

    def rejoin(self) -> None:
        """The server does not have the log that was heard. `prepare` begins anew, behind what it has."""
        ...

    def lost(self, error: WeftError) -> None:
        """There will be no further try."""
        ...

    def way_back(self) -> str:
        """What to do once the server is there again, as the end of a sentence."""
        ...


class Line:
    """Lives from `start` until `close`, or until a fault that no other try would mend."""

    def __init__(self, calls: Calls, outbox: Outbox, cursor: Cursor, hearer: Hearer, pace: Pace) -> None:
        self._calls = calls
        self._outbox = outbox
        self._cursor = cursor
        self._hearer = hearer
        self._pace = pace
        self._task: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin, or begin anew where the last try ended."""
        if not self.is_up:
            self._task = asyncio.get_running_loop().create_task(self._live(), name="weft-line")

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _live(self) -> None:
        patience = Patience(self._pace)
        try:
            while True:
                try:
                    await self._hearer.prepare()
                    await self._connect(patience)
                except Unreachable as fault:
                    _log.debug("connection lost", extra={"session": self._cursor.session, "fault": str(fault)})
                    await patience.wait(str(self._calls.address), fault, goes_on=self._hearer.way_back())
        except WeftError as error:
            self._end(error)
        except Exception as error:
            _log.exception("The line ended by a fault of Weft.")
            self._end(WeftError(f"Something went wrong inside Weft ({type(error).__name__}); please report it."))
        finally:
            await self._calls.close()

    def _end(self, error: WeftError) -> None:
        self._task = None
        self._outbox.fail(error)
        self._hearer.lost(error)

    # --- one connection ----------------------------------------------------------------------------------------------

    async def _connect(self, patience: Patience) -> None:
        """One connection, to its end: it always raises."""
        try:
            async with asyncio.timeout(self._pace.dial):
                socket = await self._calls.dial()
        except TimeoutError:
            raise Unreachable("no answer in time") from None
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            await self._serve(socket, patience)
        finally:
            if clock() - began >= self._pace.settled:
                patience.renew()
            await socket.close()

    async def _serve(self, socket: WebSocket, patience: Patience) -> None:
        self._outbox.rewind()
        asked = new_id("sub")
        subscribe = {"type": "subscribe", "session": self._cursor.session, "resume": self._cursor.seq, "id": asked}
        with suppress(Closed, OSError):
            await socket.send(encode_text(subscribe))
        writer: asyncio.Task[None] | None = None
        try:
            while True:
                frame = read_frame(await self._receive(socket, self._pace.silence if writer else self._pace.dial))
                match frame:
                    case Event():
                        if self._cursor.is_new(frame):
                            patience.renew()
                            self._hearer.hear(frame)
                    case Reply(id=identifier, result=result):
                        if self._outbox.reply(identifier, result):
                            patience.renew()
                    case Refused():
                        self._refused(frame, asked)
                    case Reset():
                        self._hearer.rejoin()
                        raise Unreachable("it no longer has the log that was heard")
                    case Goodbye(reason=reason):
                        raise Unreachable(f"it said goodbye: {reason}")
                    case Subscribed() | Nothing():
                        pass
                if writer is None and isinstance(frame, Subscribed | Event):
                    writer = asyncio.create_task(self._write(socket), name="weft-line-writer")
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])

    async def _receive(self, socket: WebSocket, seconds: float) -> str:
        try:
            return await socket.receive(seconds)
        except TimeoutError:
            raise Unreachable("it fell silent") from None
        except Closed as closed:
            code = closed.code
        match code:
            case 4401:
                raise self._calls.token_refused()
            case 4404:
                raise self._calls.no_session(self._cursor.session)
            case 4409:
                self._hearer.rejoin()
                raise Unreachable("it did not take the cursor")
            case _:
                raise Unreachable("the connection broke")

    async def _write(self, socket: WebSocket) -> None:
        clock = asyncio.get_running_loop().time
        written: deque[float] = deque(maxlen=_PER_SECOND)
        with suppress(Closed, OSError):  # whoever reads will notice
            while True:
                command = await self._outbox.next()
                if len(written) == _PER_SECOND and (wait := written[0] + 1 - clock()) > 0:
                    await asyncio.sleep(wait)
                written.append(clock())
                await socket.send(command.text(self._cursor.session))

    def _refused(self, refused: Refused, asked: str) -> None:
        if refused.code == "unauthorized":
            raise self._calls.token_refused()
        error = self._calls.refusal(refused.code, refused.message)
        if refused.id != asked:
            if refused.id is None or not self._outbox.refuse(refused.id, error):
                _log.debug("refused", extra={"session": self._cursor.session, "code": refused.code})
            return
        if refused.code in _GONE:
            raise self._calls.no_session(self._cursor.session)
        if refused.code == "invalid_cursor":
            self._hearer.rejoin()
        raise Unreachable(str(error))
