"""What a client asks of its server, in order, until it is answered: over as many connections as that takes."""

import asyncio
from dataclasses import dataclass, field

from weft.core.ids import new_id
from weft.core.json import JsonObject, encode_text
from weft.remote.errors import ServerRefused

LARGEST = 1024 * 1024
"""Bytes that a server takes in one message."""


@dataclass(eq=False, slots=True)
class Command:
    """One thing that was asked. `written` counts the connections it went out on."""

    frame: JsonObject
    answer: "asyncio.Future[JsonObject]"
    id: str = field(default_factory=lambda: new_id("cmd"))
    written: int = 0

    def text(self, session: str) -> str:
        return encode_text(self.frame | {"session": session, "id": self.id})


class Outbox:
    """Commands that are not answered yet. Every new connection gets all of them again."""

    def __init__(self) -> None:
        self._open: dict[str, Command] = {}
        self._unwritten: list[Command] = []
        self._more = asyncio.Event()

    def put(self, frame: JsonObject) -> Command:
        command = Command(frame, asyncio.get_running_loop().create_future())
        command.answer.add_done_callback(lambda _: self._forget(command))
        self._open[command.id] = command
        self._unwritten.append(command)
        self._more.set()
        return command

    def rewind(self) -> None:
        """A new connection knows nothing of what was written on others."""
        self._unwritten = list(self._open.values())
        (self._more.set if self._unwritten else self._more.clear)()

    async def next(self) -> Command:
        """The next one to write, once there is one."""
        while not self._unwritten:
            self._more.clear()
            await self._more.wait()
        command = self._unwritten.pop(0)
        command.written += 1
        return command

    def reply(self, identifier: str, result: JsonObject) -> bool:
        """Whether somebody waited for it."""
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
        """None of them will be answered."""
        for command in list(self._open.values()):
            if not command.answer.done():
                command.answer.set_exception(error)

    async def settle(self, seconds: float) -> None:
        """Wait a while for what is open."""
        if self._open:
            await asyncio.wait([command.answer for command in self._open.values()], timeout=seconds)

    def _forget(self, command: Command) -> None:
        self._open.pop(command.id, None)
        if command in self._unwritten:
            self._unwritten.remove(command)
        if not command.answer.cancelled():
            command.answer.exception()  # nobody needs to ask
