"""The gate: a call runs only if its message was finished, its arguments are whole and fit, and the stop allows it."""

import pytest
from cancel_support import NOW, WIRES, Log, assert_accepted, assert_same_history, model_at, soon

import heald
from heald.agent.agent import Agent
from heald.core.errors import InvalidRequest
from heald.core.events import ExchangeResponse, ToolExecuting
from heald.core.messages import ToolCall, ToolResult
from heald.core.turn import StopReason
from heald.testing.server import Cut, Hang, Reply, Reset, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

CALLS = [
    ToolCall(id="c1", name="count", input={"place": "x" * 40 + "WHOLE"}),
    ToolCall(id="c2", name="count", input={"place": "y" * 40 + "BROKEN"}),
]


class Counter:
    """A tool that counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

        @heald.tool
        async def count(place: str) -> str:
            """Counts."""
            self.runs += 1
            return f"{len(place)}"

        self.tool = count


def stopped(wire: str, stop: StopReason) -> Reply:
    return wire_reply(wire, text="So.", calls=CALLS, stop=stop)


WHY: list[tuple[StopReason, str, bool]] = [
    ("max_tokens", "cut off", True),
    ("content_filter", "filter", False),
    ("refusal", "refus", False),
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(("stop", "why", "goes_on"), WHY, ids=[stop for stop, _, _ in WHY])
async def test_calls_of_a_message_that_did_not_end_well_never_run(
    wire: str, stop: StopReason, why: str, goes_on: bool
) -> None:
    """All of them, also the one whose arguments are whole: it cannot be known what was left out."""
    counter = Counter()
    async with (
        ScriptedServer([stopped(wire, stop), *[wire_reply(wire, text="Done.")] * 2]) as server,
        Agent(model_at(server, wire), tools=[counter.tool], retry=NOW) as agent,
    ):
        log = Log(agent)
        result = await soon(agent.run("Go."))
        assert counter.runs == 0
        assert not log.has(ToolExecuting)
        assert [(r.status, r.is_error) for r in log.of(ToolResult)] == [("invalid_input", True)] * 2
        assert sorted(r.id for r in log.of(ToolResult)) == sorted(c.id for c in log.of(ToolCall))
        assert all("not run" in r.text for r in log.of(ToolResult))
        if not (wire in ("messages", "gemini") and stop != "max_tokens"):
            assert all(why in r.text for r in log.of(ToolResult))
        assert result.status == "completed"
        assert len(server.requests) == (2 if goes_on else 1)
        assert (result.note is None) == goes_on
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    assert counter.runs == 0
    log.assert_clean()


def broken_arguments(wire: str) -> Reply:
    """Two calls; the arguments of the second lack their last brace. Gemini sends objects: there they do not fit."""
    if wire == "gemini":
        wrong = ToolCall(id="c2", name="count", input={"place": ["BROKEN"]})
        return wire_reply(wire, calls=[CALLS[0], wrong])
    pieces = [piece.replace(b'BROKEN\\"}', b'BROKEN\\"') for piece in wire_stream(wire, calls=CALLS)]
    assert pieces != wire_stream(wire, calls=CALLS)
    return Reply(pieces)


@pytest.mark.parametrize("wire", WIRES)
async def test_arguments_that_are_no_json_never_run(wire: str) -> None:
    """The other one does; the model is sent the reason and continues."""
    counter = Counter()
    async with (
        ScriptedServer([broken_arguments(wire), *[wire_reply(wire, text="Done.")] * 2]) as server,
        Agent(model_at(server, wire), tools=[counter.tool], retry=NOW) as agent,
    ):
        log = Log(agent)
        assert (await soon(agent.run("Go."))).text == "Done."
        assert counter.runs == 1
        by_call = {r.id: r for r in log.of(ToolResult)}
        whole, broken = [by_call[c.id] for c in log.of(ToolCall)]
        assert (whole.status, broken.status) == ("ok", "invalid_input")
        assert "argument" in broken.text
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tool_that_is_not_there(wire: str) -> None:
    counter = Counter()
    wrong = ToolCall(id="c1", name="cuont", input={"place": "x"})
    async with (
        ScriptedServer([wire_reply(wire, calls=[wrong]), wire_reply(wire, text="Done.")]) as server,
        Agent(model_at(server, wire), tools=[counter.tool]) as agent,
    ):
        log = Log(agent)
        assert (await soon(agent.run("Go."))).text == "Done."
        [result] = log.of(ToolResult)
        assert result.status == "unknown_tool"
        assert "'count'" in result.text
        assert_accepted(wire, server)
    assert counter.runs == 0
    log.assert_clean()


BREAKS = {"cut": Cut(), "reset": Reset()}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("how", BREAKS)
async def test_calls_of_an_attempt_that_broke_never_run(wire: str, how: str) -> None:
    """Wherever the stream breaks before its end, also when all arguments had arrived: the attempt is discarded."""
    whole = wire_stream(wire, text="So.", calls=CALLS)
    last_of_call = max(
        at for at, piece in enumerate(whole) if b"BROKEN" in piece and b"response.completed" not in piece
    )
    for cut in range(1, last_of_call + 2):
        counter = Counter()
        replies = [Reply([*whole[:cut], BREAKS[how]]), wire_reply(wire, text="Done.")]
        async with (
            ScriptedServer(replies) as server,
            Agent(model_at(server, wire), tools=[counter.tool], retry=NOW) as agent,
        ):
            log = Log(agent)
            result = await soon(agent.run("Go."))
            assert (result.status, result.text, counter.runs) == ("completed", "Done.", 0), cut
            assert not log.has(ToolCall)
            assert "message_discarded" in log.types
            assert_accepted(wire, server)
            assert server.requests[0].content == server.requests[1].content
            assert_same_history(agent, log)
        log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_that_hangs_after_its_calls_does_not_run_them(wire: str) -> None:
    """All is there but the end. The watchdog ends the attempt, another one is made."""
    whole = wire_stream(wire, calls=CALLS)
    last_of_call = max(
        at for at, piece in enumerate(whole) if b"BROKEN" in piece and b"response.completed" not in piece
    )
    counter = Counter()
    replies = [Reply([*whole[: last_of_call + 1], Hang()]), wire_reply(wire, text="Done.")]
    async with ScriptedServer(replies) as server:
        timeouts = heald.Timeouts(socket=0.3, content=0.3, tail=0.1)
        async with Agent(model_at(server, wire), tools=[counter.tool], retry=NOW, timeouts=timeouts) as agent:
            log = Log(agent)
            assert (await soon(agent.run("Go."))).text == "Done."
            assert counter.runs == 0
    log.assert_clean()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_failure_for_good_keeps_the_conversation_usable(wire: str) -> None:
    """A turn that fails after tools have run: the error is raised, what was done stays, and one can go on."""
    counter = Counter()
    replies = [
        wire_reply(wire, calls=CALLS),
        Reply.json({"error": {"message": "bad parameter", "type": "invalid_request_error"}}, 400),
        wire_reply(wire, text="Done."),
    ]
    async with (
        ScriptedServer(replies) as server,
        Agent(model_at(server, wire), tools=[counter.tool], retry=NOW) as agent,
    ):
        log = Log(agent)
        with pytest.raises(InvalidRequest):
            await soon(agent.run("Go."))
        assert counter.runs == 2
        assert [r.status for r in log.of(ExchangeResponse)] == ["failed"]
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
        assert_same_history(agent, log)
    assert counter.runs == 2
    log.assert_clean()
