"""Runs commands in a terminal of the editor."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp import Client

from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_cli.editors.editor_workspace import FAULTS, describe_fault

MAX_OUTPUT = 1024 * 1024
TIMEOUT = 120
LONGEST = 600
_DESCRIPTION = """\
Run a shell command in the workspace and return its exit code and output.

It runs in a terminal of the user's editor, outside of any sandbox, as the user: with the network and all their files.
The user watches it."""


def terminal_tool(original: Tool, client: Client, session: str, on_terminal: Callable[[str, str], None]) -> Tool:
    """Return `run_command` for the terminal of the editor. `on_terminal` is called with the call and the terminal."""
    properties: dict[str, Any] = original.definition.input_schema["properties"]
    schema_ = {
        **original.definition.input_schema,
        "properties": {name: value for name, value in properties.items() if name != "background"},
    }

    async def run(arguments: JsonObject, ctx: ToolContext) -> ToolOutput:
        command = str(arguments["command"])
        if not command.strip() or "\0" in command:
            raise ToolFault("The command is empty or holds a NUL; send a command line.", "invalid_command")
        folder = ctx.workspace.normal(str(arguments.get("cwd") or ""))
        limit = min(max(float(arguments.get("timeout_s", TIMEOUT)), 0.1), LONGEST)
        try:
            made = await client.create_terminal(
                session_id=session,
                command=shutil.which("bash") or "/bin/sh",
                args=["-c", command],
                cwd=f"{ctx.workspace.root}/{folder}".rstrip("/"),
                output_byte_limit=MAX_OUTPUT,
            )
            on_terminal(ctx.call.id, made.terminal_id)
            return await _watch(client, session, made.terminal_id, limit)
        except FAULTS as error:
            raise ToolFault(f"The editor could not run the command: {describe_fault(error)}.", "terminal") from None

    return Tool(
        definition=ToolDefinition(name=original.name, description=_DESCRIPTION, input_schema=schema_),
        run=run,
        effect=original.effect,
        access=original.access,
        subjects=original.subjects,
        summary=original.summary,
        timeout=LONGEST + 30,
    )


async def _watch(client: Client, session: str, terminal: str, limit: float) -> ToolOutput:
    """Wait for the end of a command, end it if it is late or cancelled, and return its output."""
    try:
        in_time = True
        try:
            async with asyncio.timeout(limit):
                await client.wait_for_terminal_exit(session_id=session, terminal_id=terminal)
        except TimeoutError:
            in_time = False
            await client.kill_terminal(session_id=session, terminal_id=terminal)
        output = await client.terminal_output(session_id=session, terminal_id=terminal)
    except asyncio.CancelledError:
        with suppress(*FAULTS):
            async with asyncio.timeout(5):
                await client.kill_terminal(session_id=session, terminal_id=terminal)
        raise
    finally:
        with suppress(*FAULTS):
            async with asyncio.timeout(5):
                await client.release_terminal(session_id=session, terminal_id=terminal)
    text = f"\n{output.output}" if output.output else ""
    if not in_time:
        raise ToolFault(
            f"The command was ended after {limit:g} s, its time limit; raise timeout_s (at most {LONGEST}).{text}",
            "timeout",
            status="timeout",
        )
    ended = output.exit_status
    signal = f", ended by signal {ended.signal}" if ended is not None and ended.signal else ""
    code = ended.exit_code if ended is not None else None
    head = f"exit code {code if code is not None else 'unknown'}{signal}, in the terminal of the editor, unsandboxed"
    return ToolOutput(content=f"{head}{text}", summary=head, data={"exit_code": code}, truncated=output.truncated)
