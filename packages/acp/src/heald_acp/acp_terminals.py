"""Terminals for an agent: its commands run in Heald's sandbox, when the call that they belong to is permitted."""

import asyncio
import shlex
from collections.abc import Sequence

import msgspec

from heald.core.ids import new_id
from heald.core.json import JsonObject, as_int, as_list
from heald.providers.tool_host import Outcome
from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox
from heald.tools.tool_fault import ToolFault
from heald_acp.acp_call import AcpCall
from heald_acp.acp_files import BeginCall, FindCall
from heald_acp.agent_error import AgentError
from heald_acp.hosted_kinds import relative_path

_SHELLS = (("bash", "-c"), ("bash", "-lc"), ("sh", "-c"), ("/bin/bash", "-c"), ("/bin/bash", "-lc"), ("/bin/sh", "-c"))
"""How agents start a shell with a command line."""
_MAX_TERMINALS = 20


class _Terminal(msgspec.Struct):
    process: Process
    pieces: list[str]
    limit: int | None = None

    def text(self) -> tuple[str, bool]:
        """Return the output so far, cut at its beginning if it is longer than the agent accepts."""
        data = "".join(self.pieces).encode()
        surplus = 0 if self.limit is None else max(len(data) - max(self.limit, 0), 0)
        return data[surplus:].decode(errors="ignore"), surplus > 0

    def exit_status(self) -> JsonObject:
        return {"exitCode": self.process.exit_code, "signal": None if self.process.exit_code is not None else "SIGKILL"}


class AcpTerminals:
    """The terminals of one conversation."""

    def __init__(self, root: str, sandbox: Sandbox, find_call: FindCall, begin_call: BeginCall) -> None:
        self._root = root
        self._sandbox = sandbox
        self._find_call = find_call
        self._begin_call = begin_call
        self._terminals: dict[str, _Terminal] = {}
        self._watching: set[asyncio.Task[None]] = set()

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request about terminals."""
        if method == "terminal/create":
            return await self._create(params)
        name = str(params.get("terminalId") or "")
        terminal = self._terminals.get(name)
        if terminal is None:
            raise AgentError(f"There is no terminal {name[:100]!r}.")
        match method:
            case "terminal/output":
                text, is_cut = terminal.text()
                status = {"exitStatus": terminal.exit_status()} if not terminal.process.running else {}
                return {"output": text, "truncated": is_cut, **status}
            case "terminal/wait_for_exit":
                await terminal.process.wait()
                return terminal.exit_status()
            case "terminal/kill":
                await terminal.process.stop()
                return {}
            case "terminal/release":
                await terminal.process.stop()
                del self._terminals[name]
                return {}
            case _:
                raise NotImplementedError

    async def close(self) -> None:
        terminals, self._terminals = self._terminals, {}
        for terminal in terminals.values():
            await terminal.process.stop()
        await asyncio.gather(*self._watching, return_exceptions=True)

    async def _create(self, params: JsonObject) -> JsonObject:
        if len(self._terminals) >= _MAX_TERMINALS:
            raise AgentError(f"There are {_MAX_TERMINALS} terminals already; release one first.")
        line = _command_line(str(params.get("command") or ""), as_list(params.get("args")))
        folder = str(params.get("cwd") or self._root)
        cwd = relative_path(self._root, folder)
        if cwd is None:
            raise AgentError(f"{folder[:200]!r} is outside of the workspace; name a folder in it.")
        call = self._find_call(lambda call: _names(call, line))
        if call is None:
            call = self._begin_call({"kind": "execute", "title": line, "rawInput": {"command": line}})
        if not await call.decision:
            raise AgentError("This command is not permitted.")
        try:
            launch = self._sandbox.prepare(self._root, line, "" if cwd == "." else cwd)
        except ToolFault as fault:
            if call.is_own:
                call.finish(Outcome(str(fault), is_error=True))
            raise
        pieces: list[str] = []

        def show(text: str, _: object) -> None:
            pieces.append(text)
            if call.is_own and call.on_output is not None:
                call.on_output(text)

        name = new_id("term")
        terminal = _Terminal(Process(launch, CommandOutput(show)), pieces, as_int(params.get("outputByteLimit")))
        self._terminals[name] = terminal
        task = asyncio.create_task(self._watch(terminal, call))
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)
        return {"terminalId": name}

    async def _watch(self, terminal: _Terminal, call: AcpCall) -> None:
        await terminal.process.wait()
        terminal.pieces[:] = [terminal.process.output.close()]
        if call.is_own:
            code = terminal.process.exit_code
            call.finish(Outcome(f"exit code {code}\n{terminal.text()[0]}".rstrip(), is_error=code != 0))


def _names(call: AcpCall, line: str) -> bool:
    """Whether an open call is about this very command line."""
    command = call.report.arguments().get("command")
    if call.report.kind != "execute" or not isinstance(command, str):
        return False
    return line == command or any(line == shlex.join([*shell, command]) for shell in _SHELLS)


def _command_line(command: str, arguments: Sequence[object]) -> str:
    """Return the line of a command: as it is if it has no arguments, since many agents send a whole line."""
    if not command.strip() or "\0" in command:
        raise AgentError("The command is empty or holds a NUL; send a command line.")
    if not arguments:
        return command
    return shlex.join([command, *(str(argument) for argument in arguments)])
