"""A conversation that is too long is shortened once, and then the error stands."""

import pytest

import weft
from weft.core.envelope import Event
from weft.core.errors import ContextOverflow
from weft.core.events import ErrorOccurred, MessageStart, RetryScheduled
from weft.core.messages import Image, Message, Text, ToolCall, ToolResult, assistant, tool_results, user_message
from weft.testing import check_log
from weft.testing.server import Reply, ScriptedServer
from weft.testing.streams import wire_reply

TOO_LONG = Reply.json(
    {"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}, 400
)


def long_history(size: int = 5000) -> list[Message]:
    history: list[Message] = []
    for number in range(4):
        call = ToolCall(id=f"call_{number}", name="look", input={})
        result = ToolResult(id=call.id, name="look", status="ok", content="x" * size)
        picture = Image(data="aGk=" * size)
        history += [user_message("Look.", picture), Message(role="assistant", content=[call]), tool_results([result])]
        history.append(assistant("I looked."))
    return history


async def asked(replies: list[Reply], history: list[Message]) -> tuple[weft.Agent, list[str], ScriptedServer]:
    async with ScriptedServer(replies) as server:
        agent = weft.Agent(weft.Model("m", base_url=server.url + "/v1", api_key="no-key"), history=history)
        log: list[str] = []
        agent.subscribe(lambda event: log.append(event.type))
        events: list[Event] = []
        agent.subscribe(events.append)
        try:
            await agent.run("And now?")
        finally:
            assert check_log(events) == []
        return agent, log, server


async def test_it_is_shortened_and_repeated() -> None:
    agent, log, server = await asked([TOO_LONG, wire_reply("chat", text="Fine.")], long_history())
    first, second = (len(request.content) for request in server.requests)
    assert second < first / 3
    assert log.count(RetryScheduled.type) == 1
    assert log.count(MessageStart.type) == 2
    sent = server.requests[1].body["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant"] * 4 + ["user"]
    assert agent.messages[-1].text == "Fine."
    assert isinstance(agent.messages[0].content[1], Text)


async def test_once_and_not_twice() -> None:
    with pytest.raises(ContextOverflow):
        await asked([TOO_LONG, TOO_LONG], long_history())


async def test_what_cannot_be_shortened_fails_at_once() -> None:
    async with ScriptedServer([TOO_LONG]) as server:
        agent = weft.Agent(weft.Model("m", base_url=server.url + "/v1", api_key="no-key"), history=[user_message("Hi")])
        log: list[str] = []
        agent.subscribe(lambda event: log.append(event.type))
        with pytest.raises(ContextOverflow):
            await agent.run("x" * 10_000)
        assert len(server.requests) == 1
    assert log.count(ErrorOccurred.type) == 1


async def test_the_same_request_is_one_exchange() -> None:
    agent = weft.Agent(weft.ScriptedModel(["One.", "Two."]))
    first = agent.send("Go.", client_request_id="r1")
    assert agent.send("Go.", client_request_id="r1") is first
    assert (await first.result()).text == "One."
    assert agent.send("Go.", client_request_id="r1") is first
    assert (await agent.send("Go.", client_request_id="r2").result()).text == "Two."
