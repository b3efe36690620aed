"""A call of an answer that was cut anywhere never runs, on any wire; nor one that the provider itself cut short."""

import pytest

import heald
from heald.core.messages import ToolCall
from heald.core.retry import Retry
from heald.core.turn import StopReason
from heald.testing.server import EVENT_STREAM, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald_check import check_log

WHOLE_WITHOUT = {"chat": 2, "responses": 0, "messages": 1, "gemini": 0, "ollama": 0}
"""How many of the last pieces a whole answer may lack: after its reason to stop come only usage and a mark."""
CALLS = [ToolCall(id="call_1", name="boom", input={"a": 1}), ToolCall(id="call_2", name="boom", input={"a": 2})]


async def _ran(wire: str, pieces: list[bytes]) -> list[int]:
    """What was run, of an answer that ends after these pieces."""
    ran: list[int] = []

    @heald.tool
    def boom(a: int) -> str:
        """Does something that cannot be taken back."""
        ran.append(a)
        return "done"

    kind = "application/x-ndjson" if wire == "ollama" else EVENT_STREAM
    replies = [Reply(pieces, content_type=kind), Reply(wire_stream(wire, text="Done."), content_type=kind)]
    async with ScriptedServer(replies) as server:
        model = heald.Model("m", wire=wire, base_url=f"{server.url}/v1", api_key="k")
        agent = heald.Agent(model, tools=[boom], permissions="auto", retry=Retry(attempts=1))
        events = [event async for event in agent.stream("Go.")]
    assert not check_log(events)
    return sorted(ran)  # side by side


@pytest.mark.parametrize("wire", list(WHOLE_WITHOUT))
async def test_an_answer_cut_after_each_event(wire: str) -> None:
    pieces = wire_stream(wire, text="Let me.", calls=CALLS)
    whole = len(pieces) - WHOLE_WITHOUT[wire]
    for end in range(len(pieces) + 1):
        assert await _ran(wire, pieces[:end]) == ([1, 2] if end >= whole else []), end


@pytest.mark.parametrize("wire", list(WHOLE_WITHOUT))
async def test_an_answer_cut_inside_each_event(wire: str) -> None:
    pieces = wire_stream(wire, text="Let me.", calls=CALLS)
    whole = len(pieces) - WHOLE_WITHOUT[wire]
    for end in range(whole):
        assert await _ran(wire, [*pieces[:end], pieces[end][: len(pieces[end]) // 2]]) == [], end


@pytest.mark.parametrize("wire", list(WHOLE_WITHOUT))
@pytest.mark.parametrize("stop", ["max_tokens", "content_filter", "refusal"])
async def test_an_answer_that_its_provider_cut_short(wire: str, stop: StopReason) -> None:
    if wire == "ollama" and stop != "max_tokens":
        pytest.skip("this API has no word for it")
    assert await _ran(wire, wire_stream(wire, text="No.", calls=CALLS, stop=stop)) == []


@pytest.mark.parametrize(("wire", "text"), [("chat", "Let me look."), ("chat", ""), ("messages", "Let me look.")])
async def test_a_model_that_stops_to_call_a_tool_and_calls_none(wire: str, text: str) -> None:
    async with ScriptedServer([wire_reply(wire, text=text, stop="tool_use")]) as server:
        agent = heald.Agent(heald.Model("m", wire=wire, base_url=f"{server.url}/v1"))
        result = await agent.run("Go.")
    assert (result.status, result.text) == ("completed", text)
    assert result.note == "The model stopped to call a tool and called none; the answer may be unfinished."
