"""With the tool choice `none` no call runs, whatever a model sends: on every wire, as text, and after a crash."""

import pytest

import heald
from heald.agent.assembler import MessageAssembler
from heald.core.messages import ToolCall
from heald.core.retry import Retry
from heald.core.turn import Settings
from heald.events import AssistantMessage, Event, MessageDelta, ToolResult
from heald.testing import ScriptedModel
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

PAY = ToolCall(id="call_1", name="pay", input={"amount": 5})
NONE = Settings(tool_choice="none")


class Payments:
    """A tool that counts what it paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

        @heald.tool
        def pay(amount: int) -> str:
            """Pays an amount."""
            self.paid.append(amount)
            return "paid"

        self.tool = pay


def outcomes(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.data.status, event.data.text) for event in events if isinstance(event.data, ToolResult)]


@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "gemini", "ollama", "converse"])
async def test_a_call_that_came_all_the_same_is_not_run(wire: str) -> None:
    payments = Payments()
    async with ScriptedServer([wire_reply(wire, calls=[PAY]), wire_reply(wire, text="Fine.")]) as server:
        model = heald.Model("m", wire=wire, base_url=f"{server.url}/v1", api_key="k")
        agent = heald.Agent(model, tools=[payments.tool], settings=NONE, permissions="auto", retry=Retry(attempts=1))
        events = [event async for event in agent.stream("Pay 5.")]
        sent = [request.content for request in server.requests]
    assert not check_log(events)
    assert payments.paid == []
    ((status, text),) = outcomes(events)
    assert status == "invalid_input"
    assert "tool choice is `none`" in text
    assert len(sent) == 2
    assert not any(b'"auto"' in body or b'"AUTO"' in body for body in sent)


@pytest.mark.parametrize("wire", ["chat", "ollama"])
async def test_a_call_that_is_written_as_text_stays_text(wire: str) -> None:
    written = '<tool_call>{"name": "pay", "arguments": {"amount": 5}}</tool_call>'
    payments = Payments()
    async with ScriptedServer([wire_reply(wire, text=written)]) as server:
        model = heald.Model("m", wire=wire, base_url=f"{server.url}/v1")
        agent = heald.Agent(model, tools=[payments.tool], settings=NONE, permissions="auto")
        result = await agent.run("Pay 5.")
    assert (result.text, payments.paid) == (written, [])


async def test_a_model_without_a_wire() -> None:
    payments = Payments()
    model = ScriptedModel([ScriptedModel.call("pay", amount=5), "Fine."])
    async with heald.Agent(model, tools=[payments.tool], settings=NONE, permissions="auto") as agent:
        result = await agent.run("Pay 5.")
    assert (result.text, payments.paid) == ("Fine.", [])


async def test_the_log_says_so_to_whoever_continues_it() -> None:
    """A writer that crashed behind `message_stop` has stored no calls: they are read from the stream."""
    model = ScriptedModel([ScriptedModel.call("pay", amount=5), "Fine."])
    async with heald.Agent(model, tools=[Payments().tool], settings=NONE) as agent:
        events = [event async for event in agent.stream("Pay 5.")]
    assert [event.data.calls_allowed for event in events if isinstance(event.data, MessageDelta)] == [False, False]
    assembler = MessageAssembler()
    assembled = [payload for event in events for payload in assembler.feed(event.data)]
    first = next(payload.message for payload in assembled if isinstance(payload, AssistantMessage))
    assert [call.invalid.reason for call in first.tool_calls if call.invalid] == ["disabled"]
