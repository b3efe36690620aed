"""Agents on scripted servers, their logs, and what an API would say to the history they send."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

import heald
from heald.agent.agent import Agent
from heald.agent.state import ConversationState
from heald.core.envelope import Event
from heald.core.json import JsonObject, as_list, as_object, as_objects
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald_check import check_log

WIRES = ["chat", "responses", "messages", "gemini"]
NOW = heald.Retry(base=0)
LATER = heald.Retry(base=60, cap=60)

P = TypeVar("P", bound=Payload)
T = TypeVar("T")


def model_at(server: ScriptedServer | str, wire: str = "chat", name: str = "test-model") -> heald.Model:
    url = server if isinstance(server, str) else server.url
    base = url + ("/v1beta" if wire == "gemini" else "/v1")
    return heald.Model(name, wire=wire, base_url=base, api_key="no-real-key-1234", provider="test")


def calls_of(*names: str, **arguments: Any) -> list[ToolCall]:
    return [ToolCall(id=f"call_{at}", name=name, input=arguments) for at, name in enumerate(names)]


def hanging(wire: str, until: bytes, **content: Any) -> Reply:
    """An answer that stops after the first event that holds a mark, with the connection open."""
    pieces = wire_stream(wire, **content)
    cut = next(at for at, piece in enumerate(pieces) if until in piece) + 1
    return Reply([*pieces[:cut], Hang()])


def asking(wire: str, *names: str, **arguments: Any) -> Reply:
    """An answer that calls tools."""
    return wire_reply(wire, text="Let me see.", calls=calls_of(*names, **arguments))


class Log:
    """Every event that an agent's bus has, those of agents that work for it included."""

    def __init__(self, agent: Agent) -> None:
        self.events: list[Event] = []
        self.session = agent.session
        agent.subscribe(self._append)

    def _append(self, event: Event) -> None:
        self.events.append(event)

    @property
    def own(self) -> list[Event]:
        return [event for event in self.events if event.session == self.session]

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.own]

    def of(self, kind: type[P]) -> list[P]:
        return [event.data for event in self.own if isinstance(event.data, kind)]

    def has(self, kind: type[Payload]) -> bool:
        return any(isinstance(event.data, kind) for event in self.own)

    def after(self, kind: str) -> list[str]:
        types = self.types
        return types[types.index(kind) + 1 :] if kind in types else []

    def assert_clean(self) -> None:
        """No invariant is broken, in this session or in those of agents that work for it."""
        assert [str(violation) for violation in check_log(self.events)] == []

    def assert_cancelled_once(self) -> None:
        """One answer, and nothing that began after the cancel."""
        after = self.after("cancel_requested")
        first = after[: after.index("exchange_response") + 1]
        assert "message_start" not in first
        assert "tool_executing" not in first
        assert "retry_scheduled" not in first

    def folded(self) -> ConversationState:
        """The conversation as a reader of the log has it."""
        state = ConversationState()
        for event in self.own:
            state.feed(event)
        return state


def assert_same_history(agent: Agent, log: Log) -> None:
    """The agent would send the messages that the log holds."""
    assert _plain(log.folded().messages) == _plain(agent.messages)


def _plain(messages: Iterable[Any]) -> list[tuple[str, list[str]]]:
    return [
        (m.role, [f"{type(block).__name__}:{getattr(block, 'text', block)!r}" for block in m.content]) for m in messages
    ]


def tool_threads() -> list[str]:
    """The threads in which plain functions run now."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("heald-tool-")]


HANGS = 120
"""Seconds after which something will not end any more, on a busy machine too."""


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(HANGS):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def soon(awaitable: Awaitable[T]) -> T:
    """The outcome of what does not hang. Unlike `wait_for` it does not wait for what does not end."""
    task = asyncio.ensure_future(awaitable)
    await asyncio.wait([task], timeout=HANGS)
    if not task.done():
        task.cancel()
        raise TimeoutError(f"It took more than {HANGS} s.")
    return await task


# --- what an API refuses ---------------------------------------------------------------------------------------------


def refusals(wire: str, body: Any) -> list[str]:
    """Why the API of a wire would not take this request: nothing, if it is right."""
    return list(_JUDGES[wire](cast(JsonObject, body)))


def assert_accepted(wire: str, server: ScriptedServer) -> None:
    for request in server.requests:
        assert refusals(wire, request.body) == [], request.body


def _chat(body: JsonObject) -> Iterable[str]:
    messages = as_objects(body["messages"])
    owed: list[str] = []
    yield from _used_once([str(c["id"]) for m in messages for c in as_objects(m.get("tool_calls"))])
    for message in messages:
        role = str(message["role"])
        if role == "tool":
            if message["tool_call_id"] not in owed:
                yield f"a result for {message['tool_call_id']}, which nobody waits for"
            else:
                owed.remove(str(message["tool_call_id"]))
            if not message.get("content"):
                yield "an empty result"
            continue
        if owed:
            yield f"{role} where the results of {owed} should stand"
        owed = [str(call["id"]) for call in as_objects(message.get("tool_calls"))]
        yield from _no_blank(role, message.get("content"), bool(owed))
    if owed:
        yield f"{owed} have no result"
    yield from _begins_and_ends([str(m["role"]) for m in messages if m["role"] != "system"])


def _responses(body: JsonObject) -> Iterable[str]:
    items = as_objects(body["input"])
    kinds = [str(item.get("type", "message")) for item in items]
    called = [str(item["call_id"]) for item in items if item.get("type") == "function_call"]
    answered = [str(item["call_id"]) for item in items if item.get("type") == "function_call_output"]
    yield from _used_once(called)
    if sorted(called) != sorted(answered):
        yield f"calls {called} and results {answered}"
    open_calls: list[str] = []
    for item, kind in zip(items, kinds, strict=True):
        if kind == "function_call":
            open_calls.append(str(item["call_id"]))
        elif kind == "function_call_output":
            if item["call_id"] not in open_calls:
                yield f"a result before its call {item['call_id']}"
            else:
                open_calls.remove(str(item["call_id"]))
            if not item.get("output"):
                yield "an empty result"
        elif kind == "message":
            if open_calls:
                yield f"a message where the results of {open_calls} should stand"
            yield from _no_blank(str(item["role"]), item.get("content"), False)
    roles = [str(item.get("role", "tool")) for item in items if item.get("role") not in ("system", "developer")]
    yield from _begins_and_ends(roles)


def _messages(body: JsonObject) -> Iterable[str]:
    messages = as_objects(body["messages"])
    roles = [str(message["role"]) for message in messages]
    yield from _alternate(roles)
    yield from _begins_and_ends(roles)
    yield from _used_once([b["id"] for m in messages for b in _blocks(m) if b.get("type") == "tool_use"])
    owed: list[str] = []
    for message in messages:
        blocks = _blocks(message)
        answered = [str(block["tool_use_id"]) for block in blocks if block.get("type") == "tool_result"]
        if sorted(answered) != sorted(owed):
            yield f"the results of {owed} should come next, there are {answered}"
        if answered and [block.get("type") for block in blocks[: len(answered)]] != ["tool_result"] * len(answered):
            yield "results come first in their message"
        owed = [str(block["id"]) for block in blocks if block.get("type") == "tool_use"]
        if not blocks:
            yield f"an empty {message['role']} message"
        for block in blocks:
            if block.get("type") == "text" and not str(block["text"]).strip():
                yield "an empty text block"
            if block.get("type") == "tool_result" and not block.get("content"):
                yield "an empty result"
    if owed:
        yield f"{owed} have no result"


def _gemini(body: JsonObject) -> Iterable[str]:
    contents = as_objects(body["contents"])
    roles = [str(content["role"]) for content in contents]
    yield from _alternate(roles)
    yield from _begins_and_ends(roles)
    owed: list[str] = []
    for content in contents:
        parts = as_objects(content["parts"])
        answered = [str(as_object(p["functionResponse"])["name"]) for p in parts if "functionResponse" in p]
        if answered != owed:
            yield f"responses to {owed} should come next, there are {answered}"
        owed = [str(as_object(part["functionCall"])["name"]) for part in parts if "functionCall" in part]
        if not parts:
            yield f"an empty {content['role']} content"
        if content["role"] == "user" and any("text" in part and not part["text"] for part in parts):
            yield "an empty text part"
    if owed:
        yield f"{owed} have no response"


_JUDGES: dict[str, Callable[[JsonObject], Iterable[str]]] = {
    "chat": _chat,
    "responses": _responses,
    "messages": _messages,
    "gemini": _gemini,
}


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def _used_once(ids: Sequence[str]) -> Iterable[str]:
    if len(set(ids)) < len(ids):
        yield f"an id is used twice among {list(ids)}"


def _alternate(roles: Sequence[str]) -> Iterable[str]:
    if any(a == b for a, b in pairwise(roles)):
        yield f"roles do not alternate: {list(roles)}"


def _begins_and_ends(roles: Sequence[str]) -> Iterable[str]:
    if not roles or roles[0] != "user":
        yield f"the conversation begins with {list(roles[:1])}"
    if roles and roles[-1] in ("assistant", "model"):
        yield "the conversation ends with the model's own words"


def _no_blank(role: str, content: Any, has_calls: bool) -> Iterable[str]:
    if isinstance(content, str):
        if not content.strip() and not has_calls:
            yield f"an empty {role} message"
        return
    parts = as_list(content)
    if not parts and not has_calls:
        yield f"an empty {role} message"
    for part in parts:
        text = as_object(part).get("text")
        if isinstance(text, str) and not text.strip():
            yield f"an empty part in a {role} message"
