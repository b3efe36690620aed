"""One retry layer: how often, how long, what is never tried again, and what is seen of it."""

import asyncio
from typing import Any

import pytest
from provider_bench import ERRORS, NOW, WIRES, ask, attempts, body, half, session_at, streamed_text, types

import heald
from heald.core.errors import (
    ConnectionFailed,
    InvalidRequest,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
)
from heald.core.events import MessageDiscarded, MessageStart, MessageStop, RetryScheduled, TextDelta
from heald.core.turn import Usage
from heald.providers.base import ProviderTurn
from heald.testing.server import Cut, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.wires.registry import WIRES as INSTALLED

LIMITS = [(wire, 5 if wire == "gemini" else 10) for wire in WIRES]


@pytest.mark.parametrize(("wire", "limit"), LIMITS)
async def test_how_often(wire: str, limit: int) -> None:
    async with ScriptedServer(lambda _: body(wire, ERRORS[wire])) as server:
        error, events = await ask(session_at(server, wire))
        assert len(server.requests) == limit
        assert len({request.content for request in server.requests}) == 1
    assert isinstance(error, ProviderError)
    assert attempts(events) == list(range(1, limit + 1))
    scheduled = [payload for payload in events if isinstance(payload, RetryScheduled)]
    assert [payload.attempt for payload in scheduled] == list(range(2, limit + 1))


@pytest.mark.parametrize("wire", ["chat", "gemini"])
async def test_the_last_attempt_may_succeed(wire: str) -> None:
    replies = [Reply.json({"error": {"message": "busy"}}, status=503)] * (dict(LIMITS)[wire] - 1)
    async with ScriptedServer([*replies, wire_reply(wire, text="Hello")]) as server:
        turn, events = await ask(session_at(server, wire))
    assert isinstance(turn, ProviderTurn)
    assert (turn.text, turn.attempts) == ("Hello", dict(LIMITS)[wire])
    assert streamed_text(events) == "Hello"


@pytest.mark.parametrize("limit", [1, 2, 12])
async def test_how_often_is_the_callers_choice(limit: int) -> None:
    async with ScriptedServer(lambda _: body("gemini", ERRORS["gemini"])) as server:
        await ask(session_at(server, "gemini", retry=heald.Retry(attempts=limit, base=0)))
        assert len(server.requests) == limit


# --- what is seen -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
async def test_every_event_of_a_retried_turn(wire: str) -> None:
    replies = [
        Reply.json({"error": {"message": "busy"}}, status=503),
        body(wire, *half(wire), Cut()),
        wire_reply(wire, text=["Hel", "lo"]),
    ]
    async with ScriptedServer(replies) as server:
        turn, events = await ask(session_at(server, wire))
    assert isinstance(turn, ProviderTurn)
    said = [kind for kind in types(events) if kind != "text_delta"]
    assert said == [
        *("message_start", "message_discarded", "retry_scheduled"),
        *("message_start", "text_content_block_start", "message_discarded", "retry_scheduled"),
        *("message_start", "text_content_block_start", "text_content_block_stop", "message_delta", "message_stop"),
    ]
    assert attempts(events) == [1, 2, 3]
    assert (streamed_text(events), turn.text, turn.attempts) == ("Hello", "Hello", 3)


async def test_each_attempt_is_a_message_of_its_own() -> None:
    replies = [body("chat", *half("chat"), Cut()), wire_reply("chat", text="Hello")]
    async with ScriptedServer(replies) as server:
        turn, events = await ask(session_at(server))
    assert isinstance(turn, ProviderTurn)
    first, second = (payload.message_id for payload in events if isinstance(payload, MessageStart))
    assert first != second
    assert [p.message_id for p in events if isinstance(p, MessageDiscarded | RetryScheduled)] == [first, first]
    assert [p.message_id for p in events if isinstance(p, MessageStop)] == [second]
    assert turn.message.id == second
    blocks = [payload.block for payload in events if isinstance(payload, TextDelta)]
    assert blocks[0].startswith(first)
    assert all(block.startswith(second) for block in blocks[1:])


@pytest.mark.parametrize("fault", ["status", "event", "cut", "end"])
async def test_events_and_error_state_the_same(fault: str) -> None:
    replies = {
        "status": Reply.json({"error": {"message": "busy"}}, status=503),
        "event": body("chat", ERRORS["chat"]),
        "cut": body("chat", *half("chat"), Cut()),
        "end": body("chat", *half("chat")),
    }
    async with ScriptedServer(lambda _: replies[fault]) as server:
        error, events = await ask(session_at(server, retry=heald.Retry(attempts=2, base=0)))
    assert isinstance(error, ProviderError)
    told = [payload.error for payload in events if isinstance(payload, MessageDiscarded | RetryScheduled)]
    assert told == [error.info()] * 3
    assert str(error).startswith("test/test-model")


async def test_usage_of_discarded_attempts_adds_up() -> None:
    broken = [*wire_stream("messages", text="Half", usage=(20, 3))[:3], Cut()]
    replies = [body("messages", *broken), body("messages", *broken), wire_reply("messages", text="Hello")]
    async with ScriptedServer(replies) as server:
        turn, events = await ask(session_at(server, "messages"))
    assert isinstance(turn, ProviderTurn)
    discarded = [payload.usage for payload in events if isinstance(payload, MessageDiscarded)]
    assert turn.discarded == discarded[0] + discarded[1]
    assert turn.discarded.input == 40
    assert turn.usage.input == 11


async def test_unknown_usage_is_not_zero() -> None:
    refusal = Reply.json({"error": {"message": "busy"}}, status=503)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello", usage=None)]) as server:
        turn, _ = await ask(session_at(server))
    assert isinstance(turn, ProviderTurn)
    assert (turn.discarded, turn.usage) == (Usage(), Usage())
    assert turn.usage.total is None


# --- what is never tried again ------------------------------------------------------------------------------------

NO_MONEY = [
    (429, {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}),
    (429, {"type": "error", "error": {"type": "enforced_spend_limit_reached", "message": "Spend limit."}}),
    (402, {"error": {"message": "Insufficient Balance"}}),
    (400, {"error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}}),
    (403, {"error": {"message": "billing hard limit", "code": "billing_hard_limit_reached"}}),
]


@pytest.mark.parametrize(("status", "refusal"), NO_MONEY)
async def test_out_of_money(status: int, refusal: object) -> None:
    async with ScriptedServer(lambda _: Reply.json(refusal, status, {"retry-after": "1"})) as server:
        error, events = await ask(session_at(server))
        assert len(server.requests) == 1
    assert isinstance(error, QuotaExhausted)
    assert "waiting does not help" in str(error)
    assert types(events) == ["message_start", "message_discarded"]


async def test_out_of_money_in_the_stream() -> None:
    said = b'data: {"error":{"message":"Insufficient credits","code":402}}\n\n'
    async with ScriptedServer(lambda _: body("chat", said)) as server:
        error, _ = await ask(session_at(server))
        assert len(server.requests) == 1
    assert isinstance(error, QuotaExhausted)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 415, 422, 451])
async def test_refused(status: int) -> None:
    async with ScriptedServer(lambda _: Reply.json({"error": {"message": "no"}}, status)) as server:
        error, _ = await ask(session_at(server))
        assert len(server.requests) == 1
    assert isinstance(error, ProviderError)
    assert (error.status, error.retryable) == (status, False)
    assert f"(HTTP {status})" in str(error)


# --- how long -----------------------------------------------------------------------------------------------------


async def test_the_servers_wait_is_really_waited() -> None:
    refusal = Reply.json({"error": {"message": "slow down"}}, 429, {"retry-after": "0.3"})
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        loop = asyncio.get_running_loop()
        start = loop.time()
        turn, events = await ask(session_at(server, retry=NOW))
        assert loop.time() - start >= 0.3
    assert isinstance(turn, ProviderTurn)
    (scheduled,) = (payload for payload in events if isinstance(payload, RetryScheduled))
    assert scheduled.delay_s == 0.3
    assert scheduled.error.code == "rate_limited"


def test_waits_grow_with_jitter_to_a_cap() -> None:
    retry, error = heald.Retry(base=1, cap=10), Overloaded("busy")
    for attempt, most in enumerate([1, 2, 4, 8, 10, 10, 10], 1):
        waits = {retry.delay(attempt, error) for _ in range(50)}
        assert all(most / 2 <= wait <= most for wait in waits)
        assert len(waits) > 1
    assert retry.delay(10_000, error) <= 10


def test_the_servers_wait_is_a_minimum() -> None:
    retry = heald.Retry(base=4, cap=4)
    assert retry.delay(1, RateLimited("slow down", retry_after=7.5)) == 7.5
    assert 2 <= retry.delay(1, RateLimited("slow down", retry_after=0.1)) <= 4


def test_limits() -> None:
    gone, broken = ConnectionFailed("gone", reached=False), ConnectionFailed("broken")
    for wire, limit in LIMITS:
        attempts = INSTALLED[wire].attempts
        assert (heald.Retry().limit(broken, attempts), heald.Retry().limit(gone, attempts)) == (limit, 3)
        assert heald.Retry(attempts=2).limit(gone, attempts) == 2
        assert heald.Retry(attempts=20).limit(InvalidRequest("no"), attempts) == 20


async def test_a_call_that_was_rejected_is_shown_to_the_model() -> None:
    report = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<function=x"}
    refusal = Reply.json({"error": report}, 400)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello"), wire_reply("chat", text="Bye")]) as server:
        model = heald.Model("m", base_url=f"{server.url}/v1")
        session = heald.providers.open_provider_session(
            model, messages=[heald.user_message("Go.")], retry=heald.Retry(base=0), timeouts=heald.Timeouts()
        )
        events: list[Any] = []
        turn = await session.stream_turn(events.append)
        session.messages.append(turn.message)
        session.messages.append(heald.user_message("And?"))
        await session.stream_turn(lambda _: None)
        sent = [[(m["role"], m["content"]) for m in request.body["messages"]] for request in server.requests]
    assert sent[1][:2] == [("user", "Go."), ("assistant", "<function=x")]
    assert "could not be read as a tool call" in sent[1][2][1]
    assert sent[2] == [("user", "Go."), ("assistant", "Hello"), ("user", "And?")]
    assert [event.type for event in events][:3] == ["message_start", "message_discarded", "retry_scheduled"]
