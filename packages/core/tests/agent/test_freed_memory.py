"""What a turn and a call needed is freed when they end: nothing of it waits for the garbage collector."""

import gc
from collections.abc import Iterator

import pytest
from cancel_support import WIRES, model_at

from heald import Agent, tool
from heald.agent import finished_exchange
from heald.agent.exchange import Exchange
from heald.core.messages import ToolCall
from heald.testing import ScriptedModel, ScriptedServer, wire_reply
from heald.tools.call_batch import CallBatch
from heald.tools.context import ToolContext
from heald.tools.running_call import RunningCall
from heald.wires.decoder import Decoder

_SHORT_LIVED = (Decoder, CallBatch, RunningCall, ToolContext)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def live_objects(*kinds: type) -> list[object]:
    """The objects of these kinds that exist. Earlier tests of the process may have left some."""
    objects: list[object] = gc.get_objects()
    return [live_object for live_object in objects if isinstance(live_object, kinds)]


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("wire", WIRES)
async def test_decoders_and_calls_are_freed_at_once(wire: str) -> None:
    calls = [ToolCall(id=f"call_{number}", name="add", input={"a": number, "b": 2}) for number in range(3)]
    replies = [wire_reply(wire, text="Adding.", calls=[call]) for call in calls]
    replies.append(wire_reply(wire, text="Done."))
    earlier = live_objects(*_SHORT_LIVED)
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire), tools=[add]) as agent:
        assert (await agent.run("Add.")).turns == 4
        alive = [type(live).__name__ for live in live_objects(*_SHORT_LIVED) if not any(live is old for old in earlier)]
    assert alive == []


async def test_exchanges_of_requests_with_an_id_are_freed() -> None:
    count = 50
    earlier = live_objects(Exchange)
    async with Agent(ScriptedModel(["Fine."] * count)) as agent:
        for number in range(count):
            await agent.send("Go.", client_request_id=f"r{number}").result()
        gc.collect()
        assert [live for live in live_objects(Exchange) if not any(live is old for old in earlier)] == []
        repeated = agent.send("Go.", client_request_id="r7")
        result = await repeated.result()
    assert (repeated.is_over, result.text, result.status) == (True, "Fine.", "completed")


async def test_the_number_of_outcomes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_exchange, "MAX_REQUESTS", 3)
    async with Agent(ScriptedModel([f"Answer {number}." for number in range(6)])) as agent:
        for number in range(5):
            await agent.send("Go.", client_request_id=f"r{number}").result()
        assert [agent.find_request(f"r{number}") is not None for number in range(5)] == [False, False, True, True, True]
