"""The commands that a session left running: each has an id, and none outlives the session."""

import asyncio

from weft.tools.outcome import ToolFault
from weft.tools.shell.output import Output
from weft.tools.shell.process import Process

MOST = 8


class Background:
    """A command that runs on. Its output is given out once, in the order it came."""

    def __init__(self, name: str, command: str, process: Process) -> None:
        self.name = name
        self.command = command
        self.process = process

    def take(self) -> Output:
        """What it said since the last time."""
        said = self.process.output
        self.process.output = Output()
        return said


class Processes:
    """Kept by the session."""

    def __init__(self) -> None:
        self._running: dict[str, Background] = {}
        self._count = 0

    def room(self) -> None:
        """Raises ToolFault if no more may run."""
        running = [one.name for one in self._running.values() if one.process.running]
        if len(running) >= MOST:
            raise ToolFault(
                f"{MOST} commands run in the background already ({', '.join(running)}); stop one with stop_command.",
                "too_many",
            )

    def add(self, command: str, process: Process) -> Background:
        self._count += 1
        name = f"command-{self._count}"
        self._running[name] = Background(name, command, process)
        return self._running[name]

    def get(self, name: str) -> Background:
        found = self._running.get(name)
        if found is None:
            known = ", ".join(self._running) or "none"
            raise ToolFault(f"There is no background command {name[:60]!r}; there are: {known}.", "not_found")
        return found

    def forget(self, name: str) -> None:
        """It has ended and its end was told."""
        self._running.pop(name, None)

    async def aclose(self) -> None:
        running, self._running = list(self._running.values()), {}
        await asyncio.gather(*(one.process.stop() for one in running))
