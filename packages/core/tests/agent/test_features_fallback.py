"""Models that take over: attempts count on, the history is converted, and the one that took over stays."""

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.errors import AuthenticationFailed, Overloaded, UnknownProvider
from heald.core.events import ExchangeResponse, MessageDiscarded, MessageStart, RetryScheduled
from heald.core.json import encode_text
from heald.core.messages import Message, ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from log_support import Log, call, fail, results_of, scripted, think

WIRES = ["chat", "responses", "messages", "gemini", "ollama"]
BUSY = Reply.json({"error": {"message": "overloaded"}}, 503)


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return f"seen {place}"


def model_at(server: ScriptedServer, wire: str, name: str) -> heald.Model:
    base = server.url + {"gemini": "/v1beta", "ollama": ""}.get(wire, "/v1")
    return heald.Model(name, wire=wire, base_url=base, api_key="no-real-key", provider=name)


def tries(log: Log) -> list[tuple[str, int]]:
    """Messages and retries in their order, with the attempt they name."""
    return [
        (payload.type, payload.attempt)
        for payload in (event.data for event in log.own)
        if isinstance(payload, MessageStart | RetryScheduled)
    ]


async def test_the_next_one_continues_and_stays() -> None:
    first = scripted(["Half", fail(Overloaded("busy"))], name="scripted/first")
    second = scripted("One.", "Two.", name="scripted/second")
    agent = Agent(first, fallbacks=[second])
    log = Log(agent)
    assert (await agent.run("A")).text == "One."
    assert tries(log) == [("message_start", 1), ("retry_scheduled", 2), ("message_start", 2)]
    assert (await agent.run("B")).text == "Two."
    assert tries(log)[3:] == [("message_start", 1)]
    assert [start.model for start in log.of(MessageStart)] == ["scripted/first", "scripted/second", "scripted/second"]
    assert len(first.requests) == 1
    assert [message.text for message in second.requests[1].messages] == ["A", "One.", "B"]
    log.prove()


async def test_in_the_middle_of_an_exchange() -> None:
    first = scripted([think("Hm."), call("look", place="Oslo")], [fail(Overloaded("busy"))])
    second = scripted("Done.")
    agent = Agent(first, fallbacks=[second], tools=[look])
    log = Log(agent)
    result = await agent.run("Go.")
    assert (result.text, result.turns) == ("Done.", 2)
    assert [tool_result.text for tool_result in results_of(second.requests[0].messages)] == ["seen Oslo"]
    assert [tool.name for tool in second.requests[0].tools] == ["look"]
    log.prove()


async def test_through_all_of_them_to_the_last_error() -> None:
    models = [scripted([fail(Overloaded(f"busy {number}"))]) for number in range(3)]
    agent = Agent(models[0], fallbacks=models[1:])
    log = Log(agent)
    with pytest.raises(Overloaded, match="busy 2"):
        await agent.run("Go.")
    assert [attempt for kind, attempt in tries(log) if kind == "message_start"] == [1, 2, 3]
    assert len(log.of(MessageDiscarded)) == 3
    assert [response.status for response in log.of(ExchangeResponse)] == ["failed"]
    log.prove()


async def test_what_no_retry_repairs_another_model_may() -> None:
    agent = Agent(scripted([fail(AuthenticationFailed("wrong key"))]), fallbacks=[scripted("Fine.")])
    assert (await agent.run("Go.")).text == "Fine."


async def test_settings_and_output_go_along() -> None:
    second = scripted("[1]")
    agent = Agent(scripted([fail(Overloaded("busy"))]), fallbacks=[second], instructions="Be brief.", output=list[int])
    result = await agent.run("Go.")
    assert result.output == [1]
    assert second.requests[0].settings.system == "Be brief."
    assert second.requests[0].settings.output_schema is not None


async def test_the_request_names_the_model_that_is_up() -> None:
    agent = Agent(scripted([fail(Overloaded("busy"))], name="one"), fallbacks=[scripted("A", "B", name="two")])
    log = Log(agent)
    await agent.run("Go.")
    await agent.run("Go.")
    assert [event.data.model for event in log.own if hasattr(event.data, "client_request_id")] == ["one", "two"]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


async def test_a_fallback_that_cannot_be_is_refused_at_once() -> None:
    with pytest.raises(UnknownProvider):
        Agent(scripted("Fine."), fallbacks=["nobody/knows"])


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("other", WIRES)
async def test_retries_then_another_wire_with_the_history_converted(wire: str, other: str) -> None:
    asked = ToolCall(id="call_7", name="look", input={"place": "Oslo"})
    first = [wire_reply(wire, thinking="Hm.", text="See.", calls=[asked], signature="c2VjcmV0LXNpZw=="), BUSY, BUSY]
    replies = [wire_reply(other, text="Done."), wire_reply(other, text="Again.")]
    async with ScriptedServer(first) as broken_server, ScriptedServer(replies) as fallback_server:
        agent = Agent(
            model_at(broken_server, wire, "one"),
            fallbacks=[model_at(fallback_server, other, "two")],
            tools=[look],
            retry=heald.Retry(attempts=2, base=0),
        )
        log = Log(agent)
        assert (await agent.run("Go.")).text == "Done."
        assert tries(log)[1:] == [
            ("message_start", 1),
            ("retry_scheduled", 2),
            ("message_start", 2),
            ("retry_scheduled", 3),
            ("message_start", 3),
        ]
        assert (await agent.run("Again.")).text == "Again."
        assert (len(broken_server.requests), len(fallback_server.requests)) == (3, 2)
        body = encode_text(fallback_server.requests[0].body)
        assert "seen Oslo" in body
        assert "See." in body
        assert "c2VjcmV0LXNpZw" not in body
        log.prove(secrets=["no-real-key"])
        await agent.close()


async def test_a_discarded_attempt_is_nowhere_in_the_history() -> None:
    second = scripted("Whole.")
    agent = Agent(
        scripted(["Half of", call("look", place="x"), fail(Overloaded("busy"))]), fallbacks=[second], tools=[look]
    )
    log = Log(agent)
    await agent.run("Go.")
    assert [message.text for message in agent.messages] == ["Go.", "Whole."]
    assert all(isinstance(message, Message) for message in agent.messages)
    assert log.of(ToolCall) == []
    log.prove()
