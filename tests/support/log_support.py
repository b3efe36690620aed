"""What tests of logs share: a log that collects, and everything that must hold of any log."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

import heald
from heald.agent.agent import Agent
from heald.agent.assembler import MessageAssembler
from heald.agent.result import AgentResult
from heald.agent.state import ConversationState
from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event, decode_event
from heald.core.events import AssistantMessage, ExchangeRequest, ExchangeResponse, FilePreview, FilePreviewReset
from heald.core.json import encode
from heald.core.messages import Block, Grounding, Image, Message, ToolCall, ToolResult
from heald.core.payload import Payload
from heald.providers.scripted import Script
from heald_check import check_log

P = TypeVar("P", bound=Payload)


call = heald.testing.ScriptedModel.call
raw_call = heald.testing.ScriptedModel.raw_call
think = heald.testing.ScriptedModel.think
stop = heald.testing.ScriptedModel.stop
fail = heald.testing.ScriptedModel.fail


class Log:
    """Every event that an agent's bus hands out, those of agents that work for it included."""

    def __init__(self, agent: Agent[Any]) -> None:
        self.agent = agent
        self.before = agent.messages
        """Messages of the conversation that were there first and are not in the log."""
        self.events: list[Event] = []
        agent.subscribe(self._append)

    def _append(self, event: Event) -> None:
        self.events.append(event)

    @property
    def own(self) -> list[Event]:
        return [event for event in self.events if event.session == self.agent.session]

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.own]

    def of(self, kind: type[P]) -> list[P]:
        return [event.data for event in self.own if isinstance(event.data, kind)]

    def shown(self, call_id: str) -> str:
        """What a page shows of the file that a call writes, once all is over."""
        text = ""
        for payload in (event.data for event in self.own):
            if isinstance(payload, FilePreviewReset) and payload.id == call_id:
                text = ""
            elif isinstance(payload, FilePreview) and payload.id == call_id:
                assert payload.offset == len(text)
                text += payload.text
        return text

    def prove(self, *, secrets: Sequence[str] = (), host_paths: Sequence[str] = ()) -> None:
        """The log breaks no invariant, survives its encoding, and its folds say what the agent says."""
        content_at = self.agent.workspace.content_at
        violations = check_log(self.events, secrets=secrets, host_paths=host_paths, content_at=content_at)
        assert not violations, "\n".join(map(str, violations))
        assert_encodes(self.events)
        assert_folds(self)


def scripted(*turns: Script, **options: Any) -> heald.testing.ScriptedModel:
    return heald.testing.ScriptedModel(turns, **options)


async def played(*turns: Script, prompt: str = "Go.", piece: int = 8, **options: Any) -> tuple[AgentResult, Log]:
    """One exchange with a scripted model, to its end and proven; a failure is in the result."""
    agent = Agent(scripted(*turns, piece=piece), **options)
    log = Log(agent)
    result = await asyncio.wait_for(agent.send(prompt).result(), 120)
    log.prove()
    await agent.close()
    return result, log


async def until(condition: Callable[[], object], seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


def results_of(messages: Iterable[Message]) -> list[ToolResult]:
    return [block for message in messages for block in message.content if isinstance(block, ToolResult)]


# --- what must hold of any log -----------------------------------------------------------------------------------


def assert_encodes(events: Sequence[Event]) -> None:
    for event in events:
        assert decode_event(encode(event)) == event


def assert_folds(log: Log) -> None:
    state = ConversationState(history=log.before)
    for event in log.own:
        state.feed(event)
    messages = log.agent.messages
    assert state.context == messages, f"{state.context}\n\n{messages}"
    assert (state.status, state.exchange, state.partial) == ("idle", None, "")
    assert (state.approvals, state.questions, state.client_calls) == ({}, {}, {})
    assert all(tool.result is not None and tool.phase in ("done", "failed") for tool in state.tools.values())
    _assert_assembled(log.own)
    _assert_tracked(log.own)


def _assert_assembled(events: Sequence[Event]) -> None:
    """The stream alone gives each message, but for what only its provider can read."""
    assembler = MessageAssembler()
    assembled: list[Message] = []
    for event in events:
        if event.layer == "stream":
            made = assembler.feed(event.data)
            assembled += [payload.message for payload in made if isinstance(payload, AssistantMessage)]
    told = [event.data.message for event in events if isinstance(event.data, AssistantMessage)]
    assert [_streamable(message) for message in assembled] == [_streamable(message) for message in told]


def _streamable(message: Message) -> Message:
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolCall):
            content.append(msgspec.structs.replace(block, wire_id=None))
        elif not isinstance(block, Grounding | Image):
            content.append(block)
    return msgspec.structs.replace(message, content=content, native=None, timestamp=None)


def _assert_tracked(events: Sequence[Event]) -> None:
    tracker = ExchangeTracker()
    for event in events:
        if isinstance(event.data, ExchangeRequest):
            tracker = ExchangeTracker()
        elif isinstance(event.data, ExchangeResponse):
            assert (tracker.turns, tracker.usage) == (event.data.turns, event.data.usage)
        else:
            tracker.feed(event.data)
