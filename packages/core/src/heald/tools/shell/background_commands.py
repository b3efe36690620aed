"""The background commands of a session. They end with it."""

import asyncio

from heald.tools.secret_mask import SecretMask
from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.process import Process
from heald.tools.tool_fault import ToolFault

MAX_BACKGROUND = 8
_RECENT = 8_000


class BackgroundCommand:
    """A command that runs in the background. Each piece of its output is returned once."""

    def __init__(self, name: str, command: str, process: Process) -> None:
        self.name = name
        self.command = command
        self.process = process
        self._drained = ""
        self._held = ""

    @property
    def recent_output(self) -> str:
        """The end of its output, whether it was returned before or not."""
        return (self._drained + self.process.output.peek())[-_RECENT:]

    def drain_output(self) -> CommandOutput:
        """Return the output since the last call."""
        self._drained = self.recent_output
        output, self.process.output = self.process.output, CommandOutput()
        return output

    def hold_back(self, text: str, mask: SecretMask | None) -> str:
        """Return new output without its end if that may be the beginning of a secret value: it comes with the rest."""
        text, self._held = self._held + text, ""
        length = mask.held_back(text) if mask is not None and self.process.running else 0
        if length:
            text, self._held = text[:-length], text[-length:]
        return text


class BackgroundCommands:
    """The background commands of one session."""

    def __init__(self) -> None:
        self._running: dict[str, BackgroundCommand] = {}
        self._count = 0

    def check_capacity(self) -> None:
        """Raise ToolFault if no more commands may run."""
        running = [background.name for background in self._running.values() if background.process.running]
        if len(running) >= MAX_BACKGROUND:
            raise ToolFault(
                f"{MAX_BACKGROUND} commands run in the background already ({', '.join(running)}); "
                "stop one with stop_command.",
                "too_many",
            )

    def add(self, command: str, process: Process) -> BackgroundCommand:
        self._count += 1
        name = f"command-{self._count}"
        self._running[name] = BackgroundCommand(name, command, process)
        return self._running[name]

    def get(self, name: str) -> BackgroundCommand:
        background = self._running.get(name)
        if background is None:
            names = ", ".join(self._running) or "none"
            raise ToolFault(f"There is no background command {name[:60]!r}; there are: {names}.", "not_found")
        return background

    @property
    def commands(self) -> list[BackgroundCommand]:
        """The commands whose end was not reported yet."""
        return list(self._running.values())

    def forget(self, name: str) -> None:
        """Remove a command whose end was reported."""
        self._running.pop(name, None)

    async def aclose(self) -> None:
        running, self._running = list(self._running.values()), {}
        await asyncio.gather(*(background.process.stop() for background in running))
