"""One run of the SDK's client: its options, its prompt, its process, and the messages that it sends.

A task reads all the time, between turns too: results of calls go into the ledger, other messages wait for the next
turn. `close` ends the process: normally after an answer, within two seconds if the exchange was cut off.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    StreamEvent,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    Transport,
    UserMessage,
)
from claude_agent_sdk import Message as SdkMessage

from heald.core.errors import ConfigurationError, IncompleteStream
from heald.core.json import JsonObject, as_object, encode_text
from heald.core.messages import Block, File, Image, Message, ResultPart, Text, ToolCall, ToolDefinition, ToolResult
from heald.core.turn import Reason, Settings
from heald.providers.claude_agent.errors import error_of
from heald.providers.claude_agent.tools import SERVER, Gate, Ledger
from heald.providers.presets import PRESETS
from heald.providers.tool_host import Outcome
from heald.wires.messages_request import encode_content
from heald.wires.request import resolve_budget, resolve_effort

if TYPE_CHECKING:
    from heald.providers.claude_agent import ClaudeAgent

_DAY = 86_400.0
_OWN_KEYS = ("ANTHROPIC_", "CLAUDE_", "AWS_")
"""Beginnings of the names of keys that the SDK itself uses."""
_HEALD_SECRETS = {"HEALD_TOKEN", "HEALD_STORE_PASSWORD", "HEALD_KEYS_SECRET"}
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}


def options_of(
    agent: "ClaudeAgent", settings: Settings, tools: list[ToolDefinition], server: Any, gate: Gate, **resume: Any
) -> ClaudeAgentOptions:
    base = agent.options or ClaudeAgentOptions()
    _check(agent, base, tools)
    hooks = dict(base.hooks or {})
    ours = HookMatcher(hooks=[gate.before_tool], timeout=_DAY, on_failure="block")
    hooks["PreToolUse"] = [ours, *hooks.get("PreToolUse", [])]
    servers: dict[str, Any] = dict(base.mcp_servers) if isinstance(base.mcp_servers, dict) else {}
    return replace(
        base,
        model=agent.model or base.model,
        system_prompt=_system(base.system_prompt, settings),
        tools=list(agent.sdk_tools),
        allowed_tools=[],
        permission_mode="default",
        can_use_tool=gate.can_use_tool,
        hooks=hooks,
        mcp_servers=servers | {SERVER: {"type": "sdk", "name": SERVER, "instance": server}},
        strict_mcp_config=True,
        setting_sources=base.setting_sources or [],
        include_partial_messages=True,
        forward_subagent_text=True,
        verbatim_prompts=True,
        env=_environment(settings) | base.env,
        **_thinking(settings.reasoning),
        **resume,
    )


def _check(agent: "ClaudeAgent", options: ClaudeAgentOptions, tools: list[ToolDefinition]) -> None:
    if not isinstance(options.mcp_servers, dict):
        raise ConfigurationError(
            "mcp_servers as a file cannot be joined with Heald's tools; give them as a dictionary."
        )
    if SERVER in options.mcp_servers:
        raise ConfigurationError(f"The name {SERVER!r} in mcp_servers is Heald's own; give that server another name.")
    both = {tool.name for tool in tools} & set(agent.sdk_tools)
    if both:
        raise ConfigurationError(f"{sorted(both)[0]!r} is a tool of Heald's and of the SDK's; leave one of them out.")


def _system(prompt: Any, settings: Settings) -> Any:
    """Return Heald's instructions, appended to the preset if one is set."""
    instructions = settings.system
    if settings.output_schema is not None:
        instructions += (
            f"\n\nYour final answer is nothing but JSON that fits this schema: {encode_text(settings.output_schema)}"
        )
    if isinstance(prompt, dict) and prompt.get("type") == "preset":  # pyright: ignore[reportUnknownMemberType]
        return {**prompt, "append": "\n\n".join(part for part in (prompt.get("append"), instructions.strip()) if part)}  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType, reportUnknownVariableType]
    return instructions.strip()


def _environment(settings: Settings) -> dict[str, str]:
    """Raise limits of the SDK, so that Heald's own limits apply, and hide other keys than its own from it."""
    keys = {name for preset in PRESETS for name in preset.key_envs if not name.startswith(_OWN_KEYS)}
    limits = {name: "" for name in sorted(keys | _HEALD_SECRETS) if os.environ.get(name)}
    limits |= {"MCP_TOOL_TIMEOUT": f"{_DAY * 1000:.0f}", "MAX_MCP_OUTPUT_TOKENS": "200000"}
    if settings.max_output_tokens is not None:
        limits["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.max_output_tokens)
    return limits


def _thinking(reason: Reason | None) -> dict[str, Any]:
    if reason is None:
        return {}
    effort = resolve_effort(reason)
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if reason.budget is not None:
        return {"thinking": {"type": "enabled", "budget_tokens": resolve_budget(reason)}}
    return {"effort": _EFFORTS[effort]} if effort is not None else {}


_BEFORE = "The conversation so far, as text:\n\n"
_NOW = "\n\nThat was before. Now:\n\n"
_GO_ON = "Go on from where this ended."
_MAX_RESULT = 4000


def prompt_of(unseen: Sequence[Message]) -> list[JsonObject]:
    """Build the content of one user message from all messages that the SDK has not seen."""
    new = len(unseen)
    while new and unseen[new - 1].role == "user":
        new -= 1
    now = [encode_content(block) for message in unseen[new:] for block in message.content]
    if not new:
        return now
    before = [part for message in unseen[:new] for part in _describe_message(message)]
    return [_text(_BEFORE), *before, _text(_NOW), *(now or [_text(_GO_ON)])]


def _describe_message(message: Message) -> list[JsonObject]:
    who = {"user": "User", "assistant": "Assistant", "tool": "Results"}[message.role]
    parts = [part for block in message.content if (part := _describe_block(block)) is not None]
    return [_text(f"{who}: "), *parts, _text("\n")] if parts else []


def _describe_block(block: Block) -> JsonObject | None:
    match block:
        case Text(text=text):
            return _text(text)
        case Image() | File():
            return encode_content(block)
        case ToolCall(name=name, input=arguments):
            return _text(f"[called {name} with {encode_text(arguments)[:_MAX_RESULT]}]")
        case ToolResult(name=name, status=status):
            return _text(f"[{name}: {status}: {block.text[:_MAX_RESULT]}]")
        case _:
            return None


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


_INTERRUPT = 0.3  # seconds that each step of a hurried end may take
_STEP = 0.5
_PEACE = 6.0  # the SDK itself gives the process 5 s to write its session down


class Query:
    """A connected client. `next` returns its messages in order."""

    def __init__(self, options: ClaudeAgentOptions, transport: Transport | None, ledger: Ledger) -> None:
        self.over = True
        """The last prompt has its result."""
        self.asked: list[Message] = []
        """Messages that were sent and are not answered yet."""
        self.estimated = 0.0
        """The list price of the turns whose cost the SDK has not reported."""
        self.streamed = ""
        """The SDK's id of the last streamed message."""
        self.counted: str | None = None
        """The SDK's id of the last message whose usage was counted."""
        self.ledger = ledger
        self._client = ClaudeSDKClient(options, transport)
        self._connecting: asyncio.Task[None] | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._waiting: deque[SdkMessage | Exception] = deque()
        self._came = asyncio.Event()

    async def start(self) -> None:
        self._connecting = asyncio.create_task(self._client.connect())
        await asyncio.shield(self._connecting)
        self._pumping = asyncio.create_task(self._pump())

    async def ask(self, messages: list[Message]) -> None:
        self.asked, self.over = messages, False
        await self._client.query(_one(prompt_of(messages)))

    async def next(self) -> SdkMessage:
        """Wait for the next message for a turn. Raises the error that ended the query."""
        while not self._waiting:
            self._came.clear()
            await self._came.wait()
        message = self._waiting[0]
        if isinstance(message, Exception):
            raise message  # every further call raises it too
        self._waiting.popleft()
        return message

    def begins(self, message: SdkMessage | None) -> bool:
        """Whether another message of the model starts with it."""
        if isinstance(message, StreamEvent):
            return message.event.get("type") == "message_start"
        return isinstance(message, AssistantMessage) and message.message_id != self.streamed

    def unread(self, message: SdkMessage) -> None:
        """Put a message back for the next turn."""
        self._waiting.appendleft(message)

    def fail(self, error: Exception) -> None:
        self._put(error)

    async def close(self, *, cut: bool) -> None:
        """End the query. Never raises, and a cancellation does not interrupt it."""
        self.ledger.end()
        await asyncio.shield(asyncio.create_task(self._cut() if cut else self._end()))

    async def _end(self) -> None:
        await self._disconnected(_PEACE)
        await self._stop_pump()

    async def _cut(self) -> None:
        process = getattr(getattr(self._client, "_transport", None), "_process", None)
        if self._pumping is not None:
            interrupting = asyncio.create_task(self._client.interrupt())
            await asyncio.wait([interrupting], timeout=_INTERRUPT)
            _forget(interrupting)
        elif self._connecting is not None:
            self._connecting.cancel()
        ending = asyncio.create_task(self._disconnected(_PEACE))
        for end in ("terminate", "kill"):
            done, _ = await asyncio.wait([ending], timeout=_STEP)
            if done:
                break
            process = process or getattr(getattr(self._client, "_transport", None), "_process", None)
            with suppress(ProcessLookupError, AttributeError):
                getattr(process, end)()
        await asyncio.wait([ending], timeout=_STEP)
        await self._stop_pump()

    async def _disconnected(self, patience: float) -> None:
        if self._connecting is not None:
            await asyncio.wait([self._connecting], timeout=patience)
            _forget(self._connecting)
        leaving = asyncio.create_task(self._client.disconnect())
        await asyncio.wait([leaving], timeout=patience)
        _forget(leaving, cancel=False)

    async def _stop_pump(self) -> None:
        if self._pumping is None:
            return
        self._pumping.cancel()
        await asyncio.wait([self._pumping])

    # --- incoming messages -------------------------------------------------------------------------------------------

    async def _pump(self) -> None:
        try:
            async for message in self._client.receive_messages():
                self._on_message(message)
            self._put(IncompleteStream("Claude Code ended before the answer was complete; nothing more was run."))
        except Exception as error:
            self._put(error_of(error))
        self.ledger.end()

    def _on_message(self, message: SdkMessage) -> None:
        parent = getattr(message, "parent_tool_use_id", None)
        if parent is not None:
            self._on_subagent_message(parent, message)
        elif isinstance(message, UserMessage):
            for block in message.content if isinstance(message.content, list) else ():
                if isinstance(block, ToolResultBlock):
                    self.ledger.set_outcome(block.tool_use_id, _outcome(block))
        else:
            self._put(message)

    def _on_subagent_message(self, parent: str, message: SdkMessage) -> None:
        """Report the messages of a subagent as output of the call that started it."""
        for block in message.content if isinstance(message, AssistantMessage) else ():
            if isinstance(block, TextBlock):
                self.ledger.report_progress(parent, f"{block.text}\n")
            elif isinstance(block, ToolUseBlock):
                self.ledger.report_progress(parent, f"[{block.name} {encode_text(block.input)[:200]}]\n")

    def _put(self, message: SdkMessage | Exception) -> None:
        self._waiting.append(message)
        self._came.set()


def _outcome(block: ToolResultBlock) -> Outcome:
    if not isinstance(block.content, list):
        return Outcome(block.content or "", bool(block.is_error))
    return Outcome([_part(part) for part in block.content], bool(block.is_error))


def _part(part: JsonObject) -> ResultPart:
    source = as_object(part.get("source"))
    if part.get("type") == "image" and isinstance(source.get("data"), str):
        return Image(media_type=str(source.get("media_type") or "image/png"), data=source["data"])
    text = part.get("text")
    return Text(text if isinstance(text, str) else encode_text(part))


async def _one(content: list[JsonObject]) -> AsyncIterator[dict[str, Any]]:
    yield {"type": "user", "message": {"role": "user", "content": content}, "parent_tool_use_id": None}


def _forget(task: "asyncio.Task[None]", *, cancel: bool = True) -> None:
    """Ignore the outcome of a task."""
    if cancel and not task.done():
        task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
