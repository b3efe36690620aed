"""A reactor that cancels in the middle of the very event it hears: nothing begins after that, whatever it was."""

import asyncio

import pytest
from cancel_support import (
    NOW,
    WIRES,
    Log,
    assert_accepted,
    assert_same_history,
    calls_of,
    model_at,
    soon,
)

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.events import CancelRequested, ExchangeResponse
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    await asyncio.sleep(0)
    return "seen"


def script(wire: str) -> list[Reply]:
    """Thinking, text, two calls, then one of a tool that is not there and one that does not fit, then an answer."""
    return [
        wire_reply(wire, thinking="Hm.", text="Let me see.", calls=calls_of("look", "look", place="here")),
        wire_reply(
            wire,
            calls=[ToolCall(id="c8", name="nowhere", input={}), ToolCall(id="c9", name="look", input={"place": [1]})],
        ),
        wire_reply(wire, text=["It is ", "there."]),
    ]


async def play(wire: str, cancel_at: int | None) -> list[str]:
    """Run the script and cancel at an event by its number. Gives the types of its events."""
    wild = script(wire)
    calm = False

    def answer(_: ReceivedRequest) -> Reply:
        return wire_reply(wire, text="Done.") if calm else wild.pop(0)

    async with (
        ScriptedServer(answer) as server,
        Agent(model_at(server, wire), tools=[look], retry=NOW) as agent,
    ):
        log = Log(agent)
        asked: list[bool] = []

        def cancel(event: Event) -> None:
            if event.seq == cancel_at:
                asked.append(agent.cancel("At this event."))

        agent.subscribe(cancel)
        result = await soon(agent.run("Go."))
        types = log.types
        cancelled = bool(asked and asked[0])
        assert result.status == ("cancelled" if cancelled else "completed")
        assert len(log.of(ExchangeResponse)) == 1
        assert len(log.of(CancelRequested)) == int(cancelled)
        assert sorted(r.id for r in log.of(ToolResult)) == sorted(c.id for c in log.of(ToolCall))
        if cancelled:
            log.assert_cancelled_once()
        calm = True
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        log.assert_clean()
        assert_same_history(agent, log)
    return types


@pytest.mark.parametrize("wire", WIRES)
async def test_cancelling_at_each_event(wire: str) -> None:
    types = await play(wire, None)
    assert len(types) > 40
    failed: dict[str, str] = {}
    for number, kind in enumerate(types, 1):
        try:
            await play(wire, number)
        except (AssertionError, TimeoutError) as error:
            failed[f"{number} {kind}"] = (str(error) or type(error).__name__)[:300]
    assert failed == {}
