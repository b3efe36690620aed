"""An answer that does not end is cut: at the budget, at `max_output_tokens`, at a size no model writes, or by time."""

from typing import Any

import pytest
from cancel_support import NOW, WIRES, Log, assert_same_history, calls_of, model_at, soon

import heald
from heald.core.errors import AnswerTooSlow
from heald.core.events import InputJsonDelta, MessageDiscarded, TextDelta, ThinkingDelta
from heald.providers.watchdog import Timeouts
from heald.testing.server import Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

WORDS = 20_000
TOKEN_BYTES = 4


def endless(wire: str, **answer: Any) -> Reply:
    """An answer of 100,000 characters in small pieces, slow enough that its reader can stop it."""
    steps: list[Any] = []
    for piece in wire_stream(wire, **answer):
        steps += [piece, Pause(0.0002)]
    return Reply(steps, content_type=wire_reply(wire, text="").content_type)


def received_bytes(log: Log) -> int:
    """What the log has of the answer, counted without the engine."""
    texts = [event.text for event in (*log.of(TextDelta), *log.of(ThinkingDelta))]
    return sum(len(text.encode()) for text in [*texts, *(event.partial_json for event in log.of(InputJsonDelta))])


KINDS: dict[str, dict[str, Any]] = {
    "text": {"text": ["word "] * WORDS},
    "reasoning": {"thinking": ["word "] * WORDS, "text": "Done."},
    "kanji": {"text": ["語"] * WORDS},
}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_budget_of_tokens_cuts_the_stream(wire: str, kind: str) -> None:
    budget = heald.Budget(tokens=500)
    async with (
        ScriptedServer([endless(wire, **KINDS[kind]), wire_reply(wire, text="Done.")]) as server,
        heald.Agent(model_at(server, wire), budget=budget, retry=NOW) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit) == ("limit", "tokens")
        assert result.note == "The exchange reached its budget of 500 tokens."
        await soon(server.requests[0].closed_early.wait())
        assert 0.8 * 500 < received_bytes(log) / TOKEN_BYTES <= 1.2 * 500
        (discarded,) = log.of(MessageDiscarded)
        assert discarded.estimated
        assert 400 < (result.usage.total or 0) <= 600
        following = await soon(agent.run("Go on."))  # the conversation goes on
        assert following.status == "completed"
        assert len(server.requests) == 2
        log.assert_clean()
        assert_same_history(agent, log)


@pytest.mark.parametrize("wire", WIRES)
async def test_arguments_without_end_are_cut(wire: str) -> None:
    @heald.tool
    async def note(text: str) -> str:
        """Notes a text."""
        raise AssertionError("a cut call ran")

    calls = calls_of("note", text="word " * WORDS)
    async with (
        ScriptedServer([endless(wire, calls=calls)]) as server,
        heald.Agent(model_at(server, wire), tools=[note], budget=heald.Budget(tokens=300), retry=NOW) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit) == ("limit", "tokens")
        log.assert_clean()


async def test_a_server_that_ignores_max_output_tokens() -> None:
    async with (
        ScriptedServer([endless("chat", text=["word "] * WORDS)]) as server,
        heald.Agent(model_at(server), max_output_tokens=100, retry=NOW) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit) == ("limit", "max_output_tokens")
        assert received_bytes(log) / TOKEN_BYTES < 500
        await soon(server.requests[0].closed_early.wait())


async def test_a_budget_in_dollars_cuts_the_stream() -> None:
    async with ScriptedServer([endless("chat", text=["word "] * WORDS)]) as server:
        model = heald.Model("gpt-4o", wire="chat", base_url=f"{server.url}/v1", api_key="x", provider="openai")
        async with heald.Agent(
            model, budget=heald.Budget(usd=0.005), retry=NOW
        ) as agent:  # 500 tokens at $10 a million
            log = Log(agent)
            result = await soon(agent.run("Go."))
            assert (result.status, result.limit) == ("limit", "usd")
            assert 400 < received_bytes(log) / TOKEN_BYTES <= 600


async def test_without_a_budget_an_answer_has_an_end_too() -> None:
    assert heald.Budget().message_tokens == 256_000
    budget = heald.Budget(message_tokens=1000)
    async with (
        ScriptedServer([endless("chat", text=["word "] * WORDS)]) as server,
        heald.Agent(model_at(server), budget=budget, retry=NOW) as agent,
    ):
        result = await soon(agent.run("Go."))
        assert (result.status, result.limit) == ("limit", "message_tokens")
        assert result.note == "The answer exceeded message_tokens, so it was cut and the exchange ended."


async def test_an_answer_that_never_ends_by_time() -> None:
    steps = [wire_stream("chat", text="word")[0]]
    slow: list[Any] = [*steps, *[step for _ in range(100) for step in (wire_stream("chat", text="a")[1], Pause(0.05))]]
    async with (
        ScriptedServer([Reply(slow)]) as server,
        heald.Agent(model_at(server), timeouts=Timeouts(total=0.5), retry=NOW) as agent,
    ):
        with pytest.raises(AnswerTooSlow, match=r"longer than 0\.5 s"):
            await soon(agent.run("Go."))
        assert len(server.requests) == 1  # another attempt would cost as much
