"""The check of an attempt: a command that runs in its worktree."""

from dataclasses import dataclass
from time import monotonic

from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault

CHECK_SECONDS = 600.0
_CHECK_LINES = 12


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of the check command in the folder of an attempt."""

    exit_code: int | None
    """None if it could not run, or was stopped."""
    lines: tuple[str, ...]
    """Its last lines."""
    seconds: float

    @property
    def passed(self) -> bool:
        return self.exit_code == 0


async def run_check(command: str, folder: str, sandbox: Sandbox) -> CheckResult:
    """Run the check command in the folder of an attempt, confined as a command of its agent."""
    started = monotonic()
    try:
        process = Process(sandbox.prepare(folder, command), CommandOutput())
        try:
            in_time = await process.wait(CHECK_SECONDS)
        finally:
            await process.stop()
    except ToolFault as fault:
        return CheckResult(None, (str(fault),), monotonic() - started)
    text = [line.rstrip() for line in process.output.close().splitlines() if line.strip()]
    if not in_time:
        text.append(f"It was stopped after {CHECK_SECONDS:g} s.")
    code = process.exit_code if in_time and process.excess is None else None
    text += [process.excess] if process.excess is not None else []
    return CheckResult(code, tuple(text[-_CHECK_LINES:]), monotonic() - started)
