"""What a turn and a call needed is freed when they end: nothing of it waits for the garbage collector."""

import gc
from collections.abc import Iterator

import pytest
from cancel_support import WIRES, model_at

from weft import Agent, tool
from weft.core.messages import ToolCall
from weft.testing import ScriptedServer, wire_reply
from weft.tools.call_batch import CallBatch, RunningCall
from weft.tools.context import ToolContext
from weft.wires.decoder import Decoder

_SHORT_LIVED = (Decoder, CallBatch, RunningCall, ToolContext)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


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
    async with ScriptedServer(replies) as server, Agent(model_at(server, wire), tools=[add]) as agent:
        assert (await agent.run("Add.")).turns == 4
        found = [type(one).__name__ for one in gc.get_objects() if isinstance(one, _SHORT_LIVED)]
    assert found == []
