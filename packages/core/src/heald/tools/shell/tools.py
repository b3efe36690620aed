"""`run_command`, `command_output` and `stop_command`, and the background commands of a session.

A command that ran has a normal result, whatever its exit code; its data has the code as `exit_code`. A command that
could not run is an error, and one that exceeds its time limit a timeout. Background commands end with their session.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

from heald.core.json import JsonObject
from heald.core.lazy import lazy_pattern
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, Tool
from heald.tools.function_tools import tool
from heald.tools.shell.background_commands import BackgroundCommands
from heald.tools.shell.command_output import MOST, CommandOutput
from heald.tools.shell.live_output import LiveOutput
from heald.tools.shell.network.command_gate import PERSON_SECONDS, CommandGate, gate_of_call
from heald.tools.shell.network.proxy import NetworkProxy
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Launch, Sandbox, runs_other_shell
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

TIMEOUT = 120
LONGEST = 600
_LONGEST_COMMAND = 100_000
_WAIT = 60
_PUSH = lazy_pattern(r"\bgit\b[^\n]*?\bpush\b")
"""Command lines that push. It also matches lines that only mention it: those are asked for too."""
_STASH = lazy_pattern(r"\bstash\s+push\b")
_QUOTES = lazy_pattern(r"[\"'\\]")


def shell_tools(sandbox: Sandbox | None = None) -> list[Tool]:
    """Return `run_command`, `command_output` and `stop_command` with this sandbox."""
    box = sandbox or Sandbox()

    @tool(
        effect="run",
        access=lambda _: [Access(resource="file:", changes=True)],
        subjects=_subjects,
        outside_effect=partial(_outside_effect, box),
        summary=_summary,
        timeout=LONGEST + PERSON_SECONDS + 30,
    )
    async def run_command(
        ctx: ToolContext, command: str, cwd: str = "", timeout_s: float = TIMEOUT, background: bool = False
    ) -> ToolOutput:
        """Run a shell command in the workspace and return its exit code and output.

        It runs in a sandbox: the workspace is /workspace, the network reaches hosts that the user allows and only
        through the proxy of the environment (HTTP and HTTPS), /tmp and the home folder are empty each time, input is
        empty, and settings of git and of agents are read-only (empty ones such as .mcp.json may show up in listings
        while a command runs). Processes that it leaves running are stopped when it ends, unless it
        runs in the background.

        Args:
            command: The command line, for bash.
            cwd: The folder to run it in, relative to the workspace.
            timeout_s: Seconds after which it is stopped, at most 600.
            background: Keep it running, such as a server. Returns an id for command_output and stop_command.
        """
        gate, launch = await _prepare(box, ctx, command, cwd, may_ask=not background)
        if background:
            return _begin(box, ctx, launch, command)
        live = LiveOutput(ctx)
        process = Process(launch, CommandOutput(live.show))
        limit = min(max(timeout_s, 0.1), LONGEST)
        try:
            in_time = await _wait(process, limit, gate)
        finally:
            await process.stop()
            await gate.close()
            text = process.output.close()
            live.flush()
        if not in_time:
            raise ToolFault(
                f"The command was ended after {limit:g} s, its time limit, and everything it had started with it; "
                f"raise timeout_s (at most {LONGEST}), or run it in the background.{_after(text)}",
                "timeout",
                status="timeout",
            )
        return _result(box, process, process.output, text)

    @tool(effect="none", summary=lambda arguments: str(arguments.get("id", "")), timeout=_WAIT + 30)
    async def command_output(ctx: ToolContext, id: str, wait_s: float = 0) -> ToolOutput:  # noqa: A002
        """New output of a background command, and its exit code if it has ended.

        Args:
            id: The id that run_command gave.
            wait_s: Seconds to wait for its end, at most 60.
        """
        processes = ctx.keep(BackgroundCommands)
        background = processes.get(id)
        ended = await background.process.wait(min(max(wait_s, 0.0), _WAIT))
        output = background.drain_output()
        text = background.hold_back(output.close(), ctx.host.secret_mask if ctx.host is not None else None)
        if not ended:
            return ToolOutput(
                content=f"{background.name} is running, {_seconds(background.process)}{_mark(box)}{_after(text)}",
                truncated=output.truncated,
            )
        processes.forget(id)
        return _result(box, background.process, output, text)

    @tool(effect="none", summary=lambda arguments: str(arguments.get("id", "")))
    async def stop_command(ctx: ToolContext, id: str) -> ToolOutput:  # noqa: A002
        """End a background command and everything it started.

        Args:
            id: The id that run_command gave.
        """
        processes = ctx.keep(BackgroundCommands)
        background = processes.get(id)
        was_running = background.process.running
        await background.process.stop()
        processes.forget(id)
        output = background.drain_output()
        how = "was stopped" if was_running else f"had ended with exit code {background.process.exit_code}"
        rest = _after(background.hold_back(output.close(), None))
        return ToolOutput(
            content=f"{background.name} {how}{_mark(box)}{_notes(background.process)}{rest}",
            truncated=output.truncated,
        )

    return [run_command, command_output, stop_command]


async def _prepare(
    box: Sandbox, ctx: ToolContext, command: str, cwd: str, *, may_ask: bool
) -> tuple[CommandGate, Launch]:
    if not command.strip():
        raise ToolFault("The command is empty; give the command to run.", "invalid_command")
    if len(command) > _LONGEST_COMMAND:
        raise ToolFault(
            f"The command is longer than {_LONGEST_COMMAND:,} characters; write a script and run it.", "invalid_command"
        )
    if "\0" in command or any("\ud800" <= char <= "\udfff" for char in command):
        raise ToolFault("The command holds a NUL or a broken character; leave it out.", "invalid_command")
    if ctx.workspace.is_project or not ctx.workspace.root:
        raise ToolFault("There is no folder to run commands in: this project is in memory.", "no_folder")
    folder = ctx.workspace.normal(cwd)
    reason = await asyncio.to_thread(box.available)
    if reason is not None:
        raise ToolFault(reason, "sandbox_unavailable")
    gate = gate_of_call(ctx, command, may_ask=may_ask)
    proxy = NetworkProxy(gate, on_connection=partial(_show_connection, ctx)) if box.has_network else None
    return gate, box.prepare(ctx.workspace.root, command, folder, proxy)


def _show_connection(ctx: ToolContext, host: str, refusal: str | None) -> None:
    ctx.output(f"[network] {host}: {'connected' if refusal is None else f'refused. {refusal}'}\n", "progress")


async def _wait(process: Process, limit: float, gate: CommandGate) -> bool:
    """Wait for the end of a command. The time in which it waits for a person does not count."""
    while not await process.wait(max(limit + gate.waited - process.elapsed, 0.05)):
        if process.elapsed >= limit + gate.waited:
            return False
    return True


def _begin(box: Sandbox, ctx: ToolContext, launch: Launch, command: str) -> ToolOutput:
    processes = ctx.keep(BackgroundCommands)
    try:
        processes.check_capacity()
    except ToolFault:
        launch.close()
        raise
    background = processes.add(command, Process(launch, CommandOutput()))
    return ToolOutput(
        content=f"{background.name} runs in the background{_mark(box)}. "
        "See it with command_output, end it with stop_command."
    )


def _result(box: Sandbox, process: Process, output: CommandOutput, text: str) -> ToolOutput:
    head = f"exit code {process.exit_code}, {_seconds(process)}{_mark(box)}"
    if output.exceeds_limit:
        head = f"stopped after {MOST // 1024 // 1024} MiB of output, {_seconds(process)}{_mark(box)}"
    if process.excess is not None:
        head = f"stopped, {_seconds(process)}{_mark(box)}"
    return ToolOutput(
        content=f"{head}{_notes(process)}{_after(text)}",
        summary=head,
        data={"exit_code": process.exit_code},
        truncated=output.truncated,
        is_error=output.exceeds_limit or process.excess is not None,
    )


def _mark(box: Sandbox) -> str:
    return ", unsandboxed" if box.unsandboxed else ""


def _notes(process: Process) -> str:
    return "".join(f"\n({note})" for note in process.notes)


def _seconds(process: Process) -> str:
    return f"{process.elapsed:.1f} s"


def _after(text: str) -> str:
    return f"\n{text}" if text else ""


def _outside_effect(box: Sandbox, arguments: JsonObject) -> str | None:
    """Return why a command reaches beyond the workspace. Hosts that it connects to are asked for one by one."""
    if box.unsandboxed:
        return "Commands run without a sandbox."
    reason = box.available()
    if reason is not None:
        return reason
    command = _QUOTES.sub("", str(arguments.get("command", "")))
    return "It pushes to a remote." if _PUSH.search(_STASH.sub("", command)) else None


def _subjects(arguments: JsonObject) -> Sequence[str]:
    """Return the commands that the line runs."""
    from heald.tools.shell.command_line import CommandLine  # no line is read before the first command

    return CommandLine.read(str(arguments.get("command", "")), is_posix=runs_other_shell()).subjects


def _summary(arguments: JsonObject) -> str:
    command = str(arguments.get("command", ""))
    cwd = str(arguments.get("cwd") or "")
    return f"{command} (in {cwd})" if cwd else command
