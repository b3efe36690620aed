"""Commands of a client that are not answered yet."""

import asyncio
from dataclasses import dataclass, field

from heald.core.ids import new_id
from heald.core.json import JsonObject, encode_text
from heald_server.client.errors import ServerRefused


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
    """The commands that were not answered yet. Every new connection resends all of them."""

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
        """Resend all open commands on a new connection."""
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
