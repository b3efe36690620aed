"""A conversation that is too long is shortened; a request that can never fit is removed from it."""

import pytest

import heald
from heald.agent.bus import EventBus
from heald.agent.conversation import Conversation
from heald.agent.model_chain import ModelChain
from heald.agent.state import ConversationState
from heald.core.context_events import ConversationCompacted
from heald.core.envelope import Event
from heald.core.errors import ContextOverflow
from heald.core.events import ErrorOccurred, MessageStart, RetryScheduled
from heald.core.messages import Image, Message, Text, ToolCall, ToolResult, assistant, tool_results, user_message
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.runtime import ToolRuntime
from heald_check import check_log

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


async def asked(replies: list[Reply], history: list[Message]) -> tuple[heald.Agent, list[str], ScriptedServer]:
    async with ScriptedServer(replies) as server:
        agent = heald.Agent(heald.Model("m", base_url=server.url + "/v1", api_key="no-key"), history=history)
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


async def test_a_summary_follows_if_short_results_do_not_suffice() -> None:
    replies = [TOO_LONG, TOO_LONG, wire_reply("chat", text="Facts: nothing."), wire_reply("chat", text="Fine.")]
    agent, log, server = await asked(replies, long_history())
    assert log.count(ConversationCompacted.type) == 2
    assert server.requests[2].body["messages"][0]["role"] == "system"
    assert "tools" not in server.requests[2].body
    assert "Facts: nothing." in agent.messages[0].text
    assert agent.messages[-1].text == "Fine."


async def test_without_a_summary_the_requests_are_kept_by_rule() -> None:
    broken = Reply.json({"error": {"message": "no"}}, 400)
    agent, log, _ = await asked([TOO_LONG, TOO_LONG, broken, wire_reply("chat", text="Fine.")], long_history())
    assert log.count(ConversationCompacted.type) == 2
    assert "- Look." in agent.messages[0].text
    assert agent.messages[-1].text == "Fine."


async def test_an_endpoint_that_refuses_everything_ends_the_exchange() -> None:
    with pytest.raises(ContextOverflow):
        await asked([TOO_LONG] * 12, long_history())


async def test_what_cannot_be_shortened_fails_at_once() -> None:
    async with ScriptedServer([TOO_LONG]) as server:
        agent = heald.Agent(
            heald.Model("m", base_url=server.url + "/v1", api_key="no-key"), history=[user_message("Hi")]
        )
        log: list[str] = []
        agent.subscribe(lambda event: log.append(event.type))
        with pytest.raises(ContextOverflow):
            await agent.run("x" * 10_000)
        assert len(server.requests) == 1
    assert log.count(ErrorOccurred.type) == 1


async def test_a_request_that_cannot_fit_is_removed_and_the_conversation_goes_on() -> None:
    async with ScriptedServer([TOO_LONG, wire_reply("chat", text="Hello.")]) as server:
        agent = heald.Agent(
            heald.Model("m", base_url=server.url + "/v1", api_key="no-key"), history=[user_message("Hi")]
        )
        events: list[Event] = []
        agent.subscribe(events.append)
        with pytest.raises(ContextOverflow, match=r"removed from the conversation.*Send a shorter one"):
            await agent.run("x" * 50_000)
        assert [message.text for message in agent.messages] == ["Hi"]
        assert (await agent.run("Short.")).text == "Hello."
        assert [message["content"] for message in server.requests[1].body["messages"]] == ["Hi", "Short."]
    assert check_log(events) == []
    state = ConversationState(history=[user_message("Hi")])
    for event in events:
        state.feed(event)
    assert state.context == agent.messages
    assert [len(message.text) for message in state.messages] == [2, 50_000, 6, 6]


async def test_the_same_request_is_one_exchange() -> None:
    agent = heald.Agent(heald.testing.ScriptedModel(["One.", "Two."]))
    first = agent.send("Go.", client_request_id="r1")
    assert agent.send("Go.", client_request_id="r1") is first
    assert (await first.result()).text == "One."
    repeated = agent.send("Go.", client_request_id="r1")
    assert (repeated.id, repeated.is_over, (await repeated.result()).text) == (first.id, True, "One.")
    assert (await agent.send("Go.", client_request_id="r2").result()).text == "Two."


async def test_the_provider_counts_when_it_is_close() -> None:
    """Anthropic's endpoint counts 700 tokens where Heald estimates more than 2,000: nothing is shortened."""
    asked: list[str] = []

    def reply(request: ReceivedRequest) -> Reply:
        asked.append(request.path)
        if request.path.endswith("/count_tokens"):
            return Reply.json({"input_tokens": 700})
        return wire_reply("messages", text="Fine.")

    async with ScriptedServer(reply) as server:
        model = heald.Model(
            "m",
            wire="messages",
            base_url=server.url + "/v1",
            api_key="no-key",
            quirks=heald.providers.Quirks(context_size=2600),
        )
        history = [user_message("x " * 3100), assistant("Yes.")]
        agent = heald.Agent(model, history=history)
        assert (await agent.run("And?")).text == "Fine."
    assert asked == ["/v1/messages/count_tokens", "/v1/messages"]
    assert agent.messages[:2] == history


async def test_the_running_total_follows_every_change_of_the_conversation() -> None:
    """The estimate of the conversation is the one of the same messages counted anew."""
    conversation = Conversation(ModelChain([heald.testing.ScriptedModel(["First."])]), ToolRuntime(), EventBus("ses_1"))
    conversation.append(user_message("A request."))
    window, messages = conversation.window, conversation.messages
    for change in (
        lambda: messages.append(user_message("One more, which is a little longer.")),
        lambda: messages.__setitem__(0, user_message("Another request in its place.")),
        messages.pop,
        messages.clear,
        lambda: messages.extend([user_message("x" * 500), user_message("y")]),
    ):
        change()
        assert window.tokens() == window.tokens(list(messages))
