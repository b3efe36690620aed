"""Claude Code as the SDK sees it: JSON lines over the SDK's own transport, played from what is written down.

A recording is a list of steps: a line that Claude Code says, or something it does (`Use` a tool, `Wait`, `Die`). It
asks the hook before each tool and calls Heald's tools over MCP, as the real one does.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from claude_agent_sdk import ClaudeAgentOptions, ProcessError, Transport

import heald
from heald.core.envelope import Event
from heald.providers.claude_agent import ClaudeAgent
from heald_check import check_log

Line = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """Run a call: ask the hook, then the tool. The result line follows. `agent` is a subagent's id."""

    id: str
    name: str
    input: dict[str, Any]
    result: str | list[Line] = ""
    is_error: bool = False
    agent: str | None = None
    parent: str | None = None
    ask: bool = True
    """Ask the hook. Without, ask `can_use_tool` instead."""
    meanwhile: Sequence[Any] = ()
    """Steps while it runs."""


@dataclass(frozen=True)
class Together:
    """Several calls at once."""

    uses: Sequence[Use]


@dataclass(frozen=True)
class Begin:
    """Start a call and go on with the recording; `Finish` waits for it."""

    use: Use


@dataclass(frozen=True)
class Finish:
    pass


@dataclass(frozen=True)
class Wait:
    """Say nothing more."""


@dataclass(frozen=True)
class Die:
    code: int = 1


@dataclass(frozen=True)
class End:
    """The output ends without a word."""


Step = Line | Use | Together | Begin | Finish | Wait | Die | End


@dataclass
class FakeCode(Transport):
    """One process of Claude Code. Each prompt plays the next recording."""

    options: ClaudeAgentOptions
    recordings: list[Sequence[Step]]
    heard: list[Line] = field(default_factory=list[Line])
    prompts: list[Line] = field(default_factory=list[Line])
    decisions: list[Line] = field(default_factory=list[Line])
    interrupted: bool = False
    closed: bool = False
    tools: list[Line] = field(default_factory=list[Line])
    tool_ids: bool = True

    def __post_init__(self) -> None:
        self._said, self._out = anyio.create_memory_object_stream[Line | Exception](10_000)
        self._answers: dict[str, asyncio.Future[Line]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._begun: asyncio.Task[None] | None = None
        self._hook = ""
        self._count = 0

    async def connect(self) -> None:
        pass

    async def write(self, data: str) -> None:
        line = json.loads(data)
        self.heard.append(line)
        match line["type"]:
            case "control_request":
                self._spawn(self._control(line))
            case "control_response":
                response = line["response"]
                self._answers.pop(response["request_id"]).set_result(response)
            case "user":
                self.prompts.append(line)
                self._spawn(self._play(self.recordings.pop(0)))
            case _:
                raise AssertionError(line)

    async def read_messages(self) -> AsyncIterator[Line]:
        async for line in self._out:
            if isinstance(line, Exception):
                raise line
            yield line

    async def close(self) -> None:
        self.closed = True
        for task in self._tasks:
            task.cancel()
        self._said.close()
        self._out.close()

    def is_ready(self) -> bool:
        return not self.closed

    async def end_input(self) -> None:
        pass

    # --- what it does ------------------------------------------------------------------------------------------------

    async def _control(self, line: Line) -> None:
        request = line["request"]
        response: Line = {}
        if request["subtype"] == "initialize":
            self._hook = request["hooks"]["PreToolUse"][0]["hookCallbackIds"][0]
            assert request["hooks"]["PreToolUse"][0]["onFailure"] == "block"
            response = {"hook_on_failure_supported": True, "hooks_applied": True}
            self._spawn(self._list_tools())
        elif request["subtype"] == "interrupt":
            self.interrupted = True
        answer = {"subtype": "success", "request_id": line["request_id"], "response": response}
        self._send_line({"type": "control_response", "response": answer})

    async def _list_tools(self) -> None:
        start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}}
        await self._mcp("initialize", start)
        await self._ask(
            subtype="mcp_message",
            server_name="heald",
            message={"jsonrpc": "2.0", "method": "notifications/initialized"},
        )
        self.tools = (await self._mcp("tools/list", {}))["tools"]

    async def _play(self, recording: Sequence[Step]) -> None:
        for step in recording:
            match step:
                case Use():
                    await self._use(step)
                case Together(uses=uses):
                    await asyncio.gather(*map(self._use, uses))
                case Begin(use=use):
                    self._begun = self._spawn(self._use(use))
                    await asyncio.sleep(0.05)
                case Finish():
                    assert self._begun is not None
                    await self._begun
                case Wait():
                    await asyncio.Event().wait()
                case Die(code=code):
                    self._send_line(ProcessError("Command failed", exit_code=code, stderr="at /home/me/secret.js:1"))
                case End():
                    self._said.close()
                case _:
                    self._send_line(step)
            await asyncio.sleep(0)

    async def _use(self, use: Use) -> None:
        refused = await (self._before(use) if use.ask else self._can_use(use))
        content: Any = use.result
        is_error = use.is_error
        if refused is not None:
            content, is_error = refused, True
        elif use.name.startswith("mcp__heald__"):
            meta = {"claudecode/toolUseId": use.id} if self.tool_ids else {}
            called = {"name": use.name.removeprefix("mcp__heald__"), "arguments": use.input, "_meta": meta}
            answer = await self._mcp("tools/call", called)
            content, is_error = answer["content"], answer.get("isError", False)
        await self._play(use.meanwhile)
        block = {"type": "tool_result", "tool_use_id": use.id, "content": content, "is_error": is_error}
        self._send_line(
            {"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": use.parent}
            | {"session_id": "s-1", "uuid": f"r-{use.id}"}
        )

    async def _before(self, use: Use) -> str | None:
        asked = {"hook_event_name": "PreToolUse", "tool_name": use.name, "tool_input": use.input}
        asked |= {"tool_use_id": use.id} | ({"agent_id": use.agent} if use.agent else {})
        said = await self._ask(subtype="hook_callback", callback_id=self._hook, input=asked, tool_use_id=use.id)
        decision = said["response"]["hookSpecificOutput"]
        self.decisions.append(decision)
        return decision["permissionDecisionReason"] if decision["permissionDecision"] == "deny" else None

    async def _can_use(self, use: Use) -> str | None:
        said = await self._ask(
            subtype="can_use_tool", tool_name=use.name, input=use.input, tool_use_id=use.id, agent_id=use.agent
        )
        self.decisions.append(said["response"])
        return said["response"]["message"] if said["response"]["behavior"] == "deny" else None

    async def _mcp(self, method: str, params: Line) -> Line:
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        said = await self._ask(subtype="mcp_message", server_name="heald", message=message)
        return said["response"]["mcp_response"]["result"]

    async def _ask(self, **request: Any) -> Line:
        self._count += 1
        name = f"cli-{self._count}"
        self._answers[name] = future = asyncio.get_running_loop().create_future()
        self._send_line({"type": "control_request", "request_id": name, "request": request})
        return await future

    def _send_line(self, line: Line | Exception) -> None:
        if not self.closed:
            self._said.send_nowait(line)

    def _spawn(self, work: Any) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class Played:
    """An agent over fake processes: one for each exchange, each with the recordings of its prompts."""

    def __init__(self, *processes: Sequence[Sequence[Step]], tool_ids: bool = True, **agent: Any) -> None:
        self.processes: list[FakeCode] = []
        self._recordings = [list(recordings) for recordings in processes]
        self._tool_ids = tool_ids
        sdk: dict[str, Any] = {name: agent.pop(name) for name in ("sdk_tools", "options", "model") if name in agent}
        sdk.setdefault("model", "claude-sonnet-4-6")
        model = ClaudeAgent(**sdk, transport=self._connect)
        self.agent = heald.Agent(model, **agent)
        self.events: list[Event] = []
        self.agent.subscribe(self.events.append)

    def _connect(self, options: ClaudeAgentOptions) -> Transport:
        process = FakeCode(options, self._recordings.pop(0), tool_ids=self._tool_ids)
        self.processes.append(process)
        return process

    async def __aenter__(self) -> "Played":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.agent.close()
        assert check_log(self.events) == []
        assert all(process.closed for process in self.processes)

    def types(self, *only: str) -> list[str]:
        return [event.type for event in self.events if not only or event.type in only]

    def payloads_of(self, kind: str) -> list[Any]:
        return [event.data for event in self.events if event.type == kind]
