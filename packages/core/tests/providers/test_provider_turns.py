"""Turn after turn over real connections: what is echoed, what is numbered, what it cost."""

from typing import Any

import pytest
from provider_bench import KEY, NOW, WIRES, model_at, session_at, turn_of

import heald
from heald.core.events import TextDelta, ToolUseContentBlockStart
from heald.core.messages import (
    Message,
    Native,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    assistant,
    user_message,
)
from heald.core.payload import Payload
from heald.core.turn import Settings, Usage
from heald.providers.base import ProviderSession, ProviderTurn
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import sse_event, wire_reply, wire_stream

LOOK = ToolDefinition(name="look", input_schema={"type": "object", "properties": {"path": {"type": "string"}}})
SIGNATURE = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg=="


def call(path: str, call_id: str = "call_1") -> ToolCall:
    return ToolCall(id=call_id, name="look", input={"path": path})


def thoughtful(wire: str, path: str) -> Reply:
    return wire_reply(wire, thinking="Let me see.", text="Looking.", calls=[call(path)], signature=SIGNATURE)


def answer_calls(session: ProviderSession, turn: ProviderTurn) -> None:
    results = [ToolResult(id=c.id, name=c.name, status="ok", content=f"seen {c.input}") for c in turn.tool_calls]
    session.append_tool_results(turn, results)


# --- the provider's own content goes back ------------------------------------------------------------------------


def echoed(wire: str, body: Any) -> Any:
    """The model's message in a request, in the words of its wire."""
    match wire:
        case "chat" | "ollama" | "messages":
            return next(m for m in body["messages"] if m["role"] == "assistant")
        case "gemini":
            return next(m for m in body["contents"] if m["role"] == "model")
        case _:
            return [item for item in body["input"] if item.get("role") != "user" and "output" not in item]


EXPECTED: dict[str, str] = {
    "chat": "reasoning_content",
    "responses": SIGNATURE,
    "messages": SIGNATURE,
    "gemini": SIGNATURE,
    "ollama": "Let me see.",
}


@pytest.mark.parametrize("wire", WIRES)
async def test_a_continuation_carries_the_native_content(wire: str) -> None:
    async with ScriptedServer([thoughtful(wire, "a"), wire_reply(wire, text="Done.")]) as server:
        session = session_at(server, wire, tools=[LOOK])
        turn = await session.stream_turn(lambda _: None)
        answer_calls(session, turn)
        await session.stream_turn(lambda _: None)
        first, second = server.requests
    assert turn.assistant_turn is not None
    sent = str(echoed(wire, second.body))
    assert EXPECTED[wire] in sent
    assert "Looking." in sent
    assert "look" in sent
    assert "seen {'path': 'a'}" in str(second.body)
    assert str(first.body["input" if wire == "responses" else "contents" if wire == "gemini" else "messages"])


@pytest.mark.parametrize("wire", WIRES)
async def test_a_strangers_native_content_stays_home(wire: str) -> None:
    foreign = Message(
        role="assistant",
        content=[Reasoning("Hm."), Text("Hello.")],
        native=Native(wire=wire, provider="another", model="test-model", content=[{"secret": SIGNATURE}]),
    )
    async with ScriptedServer([wire_reply(wire, text="Done.")]) as server:
        await turn_of(session_at(server, wire, messages=[user_message("Hi."), foreign, user_message("Go.")]))
        sent = server.requests[0].content.decode()
    assert SIGNATURE not in sent
    assert "Hello." in sent


@pytest.mark.parametrize("wire", WIRES)
async def test_a_session_that_goes_on_sends_what_a_fresh_one_would(wire: str) -> None:
    """What was written for an earlier turn is kept and not written again: the bytes must be the same."""
    replies = [thoughtful(wire, "a"), wire_reply(wire, text="Half."), thoughtful(wire, "b"), thoughtful(wire, "c")]
    options: dict[str, Any] = {"tools": [LOOK], "settings": Settings(system="Be brief.", max_output_tokens=500)}
    async with ScriptedServer([*replies, *[wire_reply(wire, text="Done.")] * 4]) as server:
        session = session_at(server, wire, **options)
        histories: list[list[Message]] = []
        for _ in replies:
            histories.append(list(session.messages))
            turn = await session.stream_turn(lambda _: None)
            answer_calls(session, turn)
            if not turn.tool_calls:
                session.append(user_message("Go on."))
        for history in histories:
            await turn_of(session_at(server, wire, messages=history, **options))
        bodies = [request.content for request in server.requests]
    assert bodies[:4] == bodies[4:]
    assert len(set(bodies)) == 4


async def test_a_history_that_is_changed_in_progress_is_written_anew() -> None:
    async with ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server:
        session = session_at(server, messages=[user_message("One."), assistant("Two."), user_message("Three.")])
        await session.stream_turn(lambda _: None)
        session.messages[0] = user_message("Uno.")
        await session.stream_turn(lambda _: None)
        del session.messages[:2]
        await session.stream_turn(lambda _: None)
        said = [[m["content"] for m in request.body["messages"]] for request in server.requests]
    assert said == [["One.", "Two.", "Three."], ["Uno.", "Two.", "Three."], ["Three."]]


# --- calls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_call_ids_are_unique_over_turns(wire: str) -> None:
    replies = [wire_reply(wire, calls=[call("a"), call("b")])] + [wire_reply(wire, calls=[call("c")])] * 2
    async with ScriptedServer([*replies, wire_reply(wire, text="Done.")]) as server:
        session = session_at(server, wire, tools=[LOOK])
        ids: list[str] = []
        for _ in range(3):
            events: list[Payload] = []
            turn = await session.stream_turn(events.append)
            announced = [payload.id for payload in events if isinstance(payload, ToolUseContentBlockStart)]
            assert announced == [c.id for c in turn.tool_calls]
            ids += announced
            answer_calls(session, turn)
        await session.stream_turn(lambda _: None)
        body = server.requests[-1].body
    assert len(ids) == len(set(ids)) == 4
    if wire in ("chat", "messages", "responses"):
        calls, results = _paired(wire, body)
        assert calls == results
        assert len(set(calls)) == 4


def _paired(wire: str, body: Any) -> tuple[list[str], list[str]]:
    """The ids of calls and of results in a request."""
    if wire == "responses":
        calls = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
        return calls, [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
    messages = body["messages"]
    if wire == "chat":
        calls = [c["id"] for m in messages for c in m.get("tool_calls", [])]
        return calls, [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    blocks: list[dict[str, Any]] = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
    calls = [b["id"] for b in blocks if b.get("type") == "tool_use"]
    return calls, [b["tool_use_id"] for b in blocks if b.get("type") == "tool_result"]


async def test_call_ids_are_unique_though_a_call_was_never_answered() -> None:
    async with ScriptedServer([wire_reply("chat", calls=[call("a")])] * 2) as server:
        session = session_at(server)
        first = await session.stream_turn(lambda _: None)
        session.append(first.message)
        session.append(user_message("Never mind. Again."))
        second = await session.stream_turn(lambda _: None)
    assert first.tool_calls[0].id != second.tool_calls[0].id


# --- what a turn says of itself ------------------------------------------------------------------------------------


async def test_a_finished_turn() -> None:
    async with ScriptedServer([thoughtful("messages", "a")]) as server:
        events: list[Payload] = []
        turn = await session_at(server, "messages").stream_turn(events.append)
    assert turn.text == turn.assistant_text == "Looking."
    assert "".join(payload.text for payload in events if isinstance(payload, TextDelta)) == "Looking."
    assert (turn.stop_reason, turn.provider_stop_reason) == ("tool_use", "tool_use")
    assert (turn.usage.input, turn.usage.output, turn.attempts) == (11, 7, 1)
    assert turn.response_model == "scripted"
    assert turn.response_id
    assert turn.refusal is None
    assert turn.tool_calls == [call("a")]
    native = turn.message.native
    assert native is not None
    assert (native.wire, native.provider, native.model) == ("messages", "test", "test-model")
    assert turn.assistant_turn is native.content
    assert KEY not in repr(turn)


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_a_refusal_is_not_text(wire: str) -> None:
    async with ScriptedServer([wire_reply(wire, text="I will not.", stop="refusal")]) as server:
        turn = await turn_of(session_at(server, wire))
    assert (turn.text, turn.refusal, turn.stop_reason) == ("", "I will not.", "refusal")


async def test_the_bill_is_the_providers() -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "cost": 0.00123}
    stream = [*wire_stream("chat", text="Hello", usage=None)[:-1], sse_event({"choices": [], "usage": usage})]
    async with ScriptedServer([Reply([*stream, sse_event("[DONE]")]), wire_reply("chat", text="Hello")]) as server:
        assert (await turn_of(session_at(server))).cost_usd == 0.00123
        assert (await turn_of(session_at(server))).cost_usd is None


async def test_a_session_knows_its_prices() -> None:
    usage = Usage(input=1000, output=1000)
    model = model_at("http://127.0.0.1:1", name="gpt-4o", provider="openai")
    cost = heald.providers.open_provider_session(model, retry=NOW).cost(usage)
    assert cost.source == "catalogue"
    assert cost.usd is not None
    assert cost.usd > 0
    assert session_at("http://127.0.0.1:1").cost(usage).usd is None


# --- what arrives together is delivered together --------------------------------------------------------------------


class _Batches:
    """A listener that accepts the payloads of one read in one call."""

    def __init__(self) -> None:
        self.batches: list[list[Payload]] = []

    def __call__(self, payload: Payload) -> None:
        self.batches.append([payload])

    def on_payloads(self, payloads: list[Payload]) -> None:
        self.batches.append(list(payloads))


@pytest.mark.parametrize("wire", WIRES)
async def test_a_listener_gets_the_payloads_of_a_read_at_once(wire: str) -> None:
    words = ["one ", "two ", "three"]
    reply = Reply([b"".join(wire_stream(wire, text=words))], content_type=wire_reply(wire).content_type)
    async with ScriptedServer([reply, reply]) as server:
        session, listener, payloads = session_at(server, wire), _Batches(), list[Payload]()
        await session.stream_turn(listener)
        await session.stream_turn(payloads.append)
    kinds = [[type(payload) for payload in batch] for batch in listener.batches]
    assert [kind for batch in kinds for kind in batch] == [type(payload) for payload in payloads]
    assert max(map(len, kinds)) >= len(words) > 1
    assert len(kinds) < len(payloads)
