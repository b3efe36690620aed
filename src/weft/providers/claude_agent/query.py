"""One run of the SDK's client and of the process behind it.

A pump reads all the time, between turns too: results of calls go straight into the ledger, everything else waits until
a turn asks for it. `close` ends the process: in peace after an answer, within two seconds if the exchange was cut off.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    StreamEvent,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    Transport,
    UserMessage,
)

from weft.core.content import Image, Text
from weft.core.errors import IncompleteStream
from weft.core.json import JsonObject, as_object, encode_text
from weft.core.messages import Message as Said
from weft.core.tools import ResultPart
from weft.providers.claude_agent.faults import error_of
from weft.providers.claude_agent.ledger import Ledger
from weft.providers.claude_agent.prompt import prompt_of
from weft.providers.hosting import Outcome

_INTERRUPT = 0.3  # seconds that each step of a hurried end may take
_STEP = 0.5
_PEACE = 6.0  # the SDK itself gives the process 5 s to write its session down


class Query:
    """A connected client. Messages come out of `next` in order."""

    def __init__(self, options: ClaudeAgentOptions, transport: Transport | None, ledger: Ledger) -> None:
        self.over = True
        """The last prompt has its result."""
        self.asked: list[Said] = []
        """What was asked and the model has not begun to answer."""
        self.estimated = 0.0
        """Dollars of the turns that the SDK has told no price of, by the list."""
        self.streamed = ""
        """The SDK's id of the message that was streamed last."""
        self.counted: str | None = None
        """The SDK's id of the message whose usage was counted last."""
        self.ledger = ledger
        self._client = ClaudeSDKClient(options, transport)
        self._connecting: asyncio.Task[None] | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._waiting: deque[Message | Exception] = deque()
        self._came = asyncio.Event()

    async def start(self) -> None:
        self._connecting = asyncio.create_task(self._client.connect())
        await asyncio.shield(self._connecting)
        self._pumping = asyncio.create_task(self._pump())

    async def ask(self, messages: list[Said]) -> None:
        self.asked, self.over = messages, False
        await self._client.query(_one(prompt_of(messages)))

    async def next(self) -> Message:
        """The next message for a turn. Raises what went wrong instead of one."""
        while not self._waiting:
            self._came.clear()
            await self._came.wait()
        message = self._waiting[0]
        if isinstance(message, Exception):
            raise message  # and again: nothing follows it
        self._waiting.popleft()
        return message

    def begins(self, message: Message | None) -> bool:
        """Another message of the model starts with it."""
        if isinstance(message, StreamEvent):
            return message.event.get("type") == "message_start"
        return isinstance(message, AssistantMessage) and message.message_id != self.streamed

    def unread(self, message: Message) -> None:
        """It belongs to the next turn."""
        self._waiting.appendleft(message)

    def fail(self, error: Exception) -> None:
        self._put(error)

    async def close(self, *, cut: bool) -> None:
        """End it. Never raises, and whoever is cancelled meanwhile does not stop it."""
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

    # --- what comes in -----------------------------------------------------------------------------------------------

    async def _pump(self) -> None:
        try:
            async for message in self._client.receive_messages():
                self._hear(message)
            self._put(IncompleteStream("Claude Code ended before the answer was complete; nothing more was run."))
        except Exception as error:
            self._put(error_of(error))
        self.ledger.end()

    def _hear(self, message: Message) -> None:
        parent = getattr(message, "parent_tool_use_id", None)
        if parent is not None:
            self._overhear(parent, message)
        elif isinstance(message, UserMessage):
            for block in message.content if isinstance(message.content, list) else ():
                if isinstance(block, ToolResultBlock):
                    self.ledger.came_back(block.tool_use_id, _outcome(block))
        else:
            self._put(message)

    def _overhear(self, parent: str, message: Message) -> None:
        """A subagent at work: no part of this conversation, but of what its call has to say."""
        for block in message.content if isinstance(message, AssistantMessage) else ():
            if isinstance(block, TextBlock):
                self.ledger.overheard(parent, f"{block.text}\n")
            elif isinstance(block, ToolUseBlock):
                self.ledger.overheard(parent, f"[{block.name} {encode_text(block.input)[:200]}]\n")

    def _put(self, message: Message | Exception) -> None:
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
    """Nobody needs to know how it ends."""
    if cancel and not task.done():
        task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
