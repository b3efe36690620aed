"""An editor on the client side of the official package, and `heald acp` as the process that it starts."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp import RequestError, connect_to_agent, schema
from acp.client.connection import ClientSideConnection

from heald.testing.server import ScriptedServer
from warm_process import WarmProcess, start_warm, warm_host

SECONDS = 60
LOADED = (
    "jsonschema_rs",
    "re2",
    "heald_cli.commands.acp",
    "heald.providers.session",
    "heald_cli.editors.serve",
    "heald.sessions.session",
    "heald.tools.files.search",
    "heald_cli.repository.map",
    "heald.tools.web.fetch_tool",
    "heald.wires.chat",
)


@dataclass
class Terminal:
    process: asyncio.subprocess.Process
    output: bytes = b""
    killed: bool = False


@dataclass
class Editor:
    """Records what the agent sends. `allow` is the option chosen for permissions; an exception is raised instead."""

    folder: Path
    buffers: dict[str, str] = field(default_factory=dict[str, str])
    """Unsaved texts by absolute path."""
    allow: Any = "allow"
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    """Results of the client's own tools by name."""
    updates: list[Any] = field(default_factory=list[Any])
    asked: list[tuple[schema.ToolCallUpdate, list[schema.PermissionOption]]] = field(default_factory=list[Any])
    reads: list[str] = field(default_factory=list[str])
    writes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    terminals: dict[str, Terminal] = field(default_factory=dict[str, Terminal])
    called: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    read_fault: Exception | None = None

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.arrived.set()

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> Any:
        self.asked.append((tool_call, options))
        self.arrived.set()
        if self.allow == "wait":
            await asyncio.sleep(SECONDS)
        if isinstance(self.allow, Exception):
            raise self.allow
        if not isinstance(self.allow, str):
            return self.allow
        if self.allow == "cancelled":
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        chosen = schema.AllowedOutcome(outcome="selected", option_id=self.allow)
        return schema.RequestPermissionResponse(outcome=chosen)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> Any:
        self.reads.append(path)
        if self.read_fault is not None:
            raise self.read_fault
        if path in self.buffers:
            return schema.ReadTextFileResponse(content=self.buffers[path])
        return schema.ReadTextFileResponse(content=_read(path))

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        self.writes.append((path, content))
        self.buffers.pop(path, None)
        _write(path, content)

    async def create_terminal(
        self, session_id: str, command: str, args: list[str] | None = None, cwd: str | None = None, **_: Any
    ) -> schema.CreateTerminalResponse:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            command, *(args or []), cwd=cwd, stdout=pipe, stderr=asyncio.subprocess.STDOUT
        )
        name = f"term-{len(self.terminals) + 1}"
        self.terminals[name] = Terminal(process)
        self.arrived.set()
        return schema.CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.WaitForTerminalExitResponse:
        terminal = self.terminals[terminal_id]
        terminal.output += (await terminal.process.communicate())[0]
        return schema.WaitForTerminalExitResponse(exit_code=terminal.process.returncode)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        terminal = self.terminals[terminal_id]
        ended = schema.TerminalExitStatus(exit_code=terminal.process.returncode)
        return schema.TerminalOutputResponse(output=terminal.output.decode(), truncated=False, exit_status=ended)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        self.terminals[terminal_id].killed = True
        self.terminals[terminal_id].process.kill()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> None:
        terminal = self.terminals[terminal_id]
        if terminal.process.returncode is None:
            terminal.process.kill()
            await terminal.process.wait()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        raise RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, elicitation_id: str, **_: Any) -> None:
        pass

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.called.append({"method": method, **params})
        answer = self.answers[params["name"]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        pass

    # --- what a person sees -----------------------------------------------------------------------------------------

    def of(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    @property
    def text(self) -> str:
        return "".join(update.content.text for update in self.of("agent_message_chunk"))

    @property
    def thoughts(self) -> str:
        return "".join(update.content.text for update in self.of("agent_thought_chunk"))

    def call(self, name: str = "") -> dict[str, Any]:
        """A call as the editor knows it at the end: the first one, or the one whose title begins with a name."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates:
            if update.session_update in ("tool_call", "tool_call_update"):
                fields = update.model_dump(exclude_none=True, exclude={"session_update"})
                calls.setdefault(update.tool_call_id, {}).update(fields)
        return next(call for call in calls.values() if call["title"].startswith(name))

    async def wait_until(self, condition: Any) -> None:
        async with asyncio.timeout(SECONDS):
            while not condition():
                self.arrived.clear()
                await self.arrived.wait()


@dataclass
class Agent:
    connection: ClientSideConnection
    process: WarmProcess
    hello: schema.InitializeResponse | None = None


@asynccontextmanager
async def started(
    editor: Editor,
    model: ScriptedServer | None,
    *words: str,
    capabilities: schema.ClientCapabilities | None = None,
    env: dict[str, str] | None = None,
) -> AsyncGenerator[Agent]:
    """`heald acp` with a scripted model, connected and initialized. It ends with the block."""
    flags = ["--model", "m", "--wire", "chat", "--base-url", f"{model.url}/v1"] if model is not None else []
    process = await start_warm(
        warm_host(*LOADED),
        "acp",
        *flags,
        *words,
        folder=editor.folder,
        environment=os.environ | (env or {}),
    )
    client: Any = editor
    connection = connect_to_agent(client, process.stdin, process.stdout, use_unstable_protocol=True)
    agent = Agent(connection, process)
    try:
        async with asyncio.timeout(SECONDS):
            agent.hello = await connection.initialize(
                protocol_version=1, client_capabilities=capabilities or schema.ClientCapabilities()
            )
        yield agent
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(120):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise
        finally:
            await connection.close()


def _read(path: str) -> str:
    if not Path(path).exists():
        raise RequestError.resource_not_found(path)
    return Path(path).read_text()


def _write(path: str, content: str) -> None:
    Path(path).write_text(content)


def files(*, terminal: bool = False, writes: bool = True) -> schema.ClientCapabilities:
    fs = schema.FileSystemCapabilities(read_text_file=True, write_text_file=writes)
    return schema.ClientCapabilities(fs=fs, terminal=terminal)


def text(words: str) -> list[Any]:
    return [schema.TextContentBlock(type="text", text=words)]
