"""Tools that a client runs, with a local agent: the events, the results, and results that are refused."""

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import ClientToolRequested, ConversationWaiting, ExchangeRequest, ToolExecuting, UserMessage
from heald.core.messages import Image, Message, Text, ToolCall, ToolResult, assistant, user_message
from heald.providers.scripted import Script, ScriptedRequest
from heald.tools.approvals import NotPending
from heald.tools.client_results import MAX_RESULT, ResultTooLarge
from heald.tools.client_tools import MAX_TOOLS, read_client_tools
from log_support import Log, call, results_of, scripted, until

WHERE = {
    "name": "where_am_i",
    "description": "Where the user is.",
    "input_schema": {"type": "object", "properties": {"exact": {"type": "boolean"}}, "additionalProperties": False},
}
PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=")
).decode()


@heald.tool
async def slow(seconds: float) -> str:
    """Work on the server."""
    await asyncio.sleep(seconds)
    return "worked"


def made(*turns: Any, **options: Any) -> tuple[Agent, Log]:
    agent = Agent(scripted(*turns), client_tools=[WHERE], **options)
    return agent, Log(agent)


async def waiting(agent: Agent, calls: int = 1) -> list[ClientToolRequested]:
    await until(lambda: len(agent.client_calls) == calls)
    return agent.client_calls


async def test_a_call_waits_for_its_result_and_the_exchange_goes_on() -> None:
    agent, log = made([call("where_am_i", exact=True)], "In Oslo.")
    exchange = agent.send("Where am I?")
    (request,) = await waiting(agent)
    assert (request.name, request.input, request.timeout_seconds) == ("where_am_i", {"exact": True}, 600.0)
    agent.send_tool_result(request.id, "Oslo")
    result = await exchange.result()
    assert result.text == "In Oslo."
    (tool_result,) = results_of(result.messages)
    assert (tool_result.status, tool_result.content) == ("ok", "Oslo")
    steps = ["tool_call", "tool_planned", "tool_executing", "client_tool_requested", "conversation_waiting"]
    assert [kind for kind in log.types if kind in (*steps, "tool_result")] == [*steps, "tool_result"]
    assert log.of(ConversationWaiting) == [ConversationWaiting([request.id])]
    log.prove()
    await agent.close()


@pytest.mark.parametrize("kind", ["function", "mapping"])
async def test_a_reactor_answers_at_tool_call(kind: str) -> None:
    """The reactor gets `tool_call` before the call starts."""
    agent, log = made([call("where_am_i")], "Done.")

    def run_locally(event: Event) -> None:
        assert isinstance(event.data, ToolCall)
        denial = {"type": "execution-denied", "reason": "Not now."}
        agent.send_tool_result(event.data.id, "Oslo" if kind == "function" else denial)

    agent.subscribe(run_locally, types=["tool_call"])
    result = await agent.run("Where?")
    (tool_result,) = results_of(result.messages)
    assert tool_result.status == ("ok" if kind == "function" else "denied")
    assert kind == "function" or "Not now." in tool_result.text
    assert len(log.of(ClientToolRequested)) == 1
    assert log.of(ConversationWaiting) == []
    log.prove()


async def test_a_call_of_the_server_ends_before_the_conversation_waits() -> None:
    agent, log = made([call("where_am_i"), call("slow", seconds=0.05)], "Done.", tools=[slow])
    exchange = agent.send("Go.")
    await until(lambda: log.of(ConversationWaiting))
    assert log.types.index("tool_result") < log.types.index("conversation_waiting")
    agent.send_tool_result(agent.client_calls[0].id, {"city": "Oslo"})
    result = await exchange.result()
    assert [tool_result.text for tool_result in results_of(result.messages)] == ['{"city":"Oslo"}', "worked"]
    log.prove()


async def test_many_calls_are_answered_in_any_order() -> None:
    """More calls than run at once on the server: all of them reach the client."""
    count = 20
    agent, log = made([call("where_am_i") for _ in range(count)], "Done.")
    exchange = agent.send("Go.")
    requests = await waiting(agent, count)
    assert [len(event.call_ids) for event in log.of(ConversationWaiting)] == [count]
    for number, request in reversed(list(enumerate(requests))):
        agent.send_tool_result(request.id, f"place {number}")
        await until(lambda: len(log.of(ToolResult)) == count - number)  # noqa: B023
    result = await exchange.result()
    assert [tool_result.text for tool_result in results_of(result.messages)] == [
        f"place {number}" for number in range(count)
    ]
    assert len(log.of(ConversationWaiting)) == 1
    log.prove()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        (None, ""),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (3.5, "3.5"),
        ([], "[]"),
        ([1, {"type": "text"}], '[1,{"type":"text"}]'),
        ([{"type": "text", "text": "a"}, Text("b")], "a\nb"),
        ("half \ud800 and \x00", "half � and �"),
    ],
)
async def test_results_are_text_parts_or_json(content: Any, text: str) -> None:
    agent, log = made([call("where_am_i")], "Done.")
    exchange = agent.send("Go.")
    (request,) = await waiting(agent)
    agent.send_tool_result(request.id, content)
    (tool_result,) = results_of((await exchange.result()).messages)
    assert (tool_result.status, tool_result.text) == ("ok", text)
    log.prove()


async def test_a_picture_and_an_error() -> None:
    agent, log = made([call("where_am_i"), call("where_am_i")], "Done.")
    exchange = agent.send("Go.")
    first, second = await waiting(agent, 2)
    agent.send_tool_result(first.id, [{"type": "image", "media_type": "image/gif", "data": PIXEL}])
    agent.send_tool_result(second.id, "No signal.", is_error=True)
    picture, failed = results_of((await exchange.result()).messages)
    assert picture.content == [Image(media_type="image/png", data=PIXEL)]
    assert (failed.status, failed.text, failed.is_error) == ("error", "No signal.", True)
    log.prove()


@pytest.mark.parametrize(
    ("content", "is_error", "error"),
    [
        ("x" * (MAX_RESULT + 1), False, ResultTooLarge),
        (object(), False, ConfigurationError),
        ("text", "yes", ConfigurationError),
        ([{"type": "image", "data": "no base64!"}], False, ConfigurationError),
        ([{"type": "image", "data": base64.b64encode(b"<svg>").decode()}], False, ConfigurationError),
        ([{"type": "image", "url": "file:///etc/passwd"}], False, ConfigurationError),
        ([{"type": "image"}], False, ConfigurationError),
        ([{"type": "text", "text": 3}], False, ConfigurationError),
        ({"type": "execution-denied", "reason": 3}, False, ConfigurationError),
    ],
)
async def test_a_result_that_cannot_be_used_is_refused_and_the_call_waits_on(
    content: Any, is_error: Any, error: type[Exception]
) -> None:
    agent, log = made([call("where_am_i")], "Done.")
    exchange = agent.send("Go.")
    (request,) = await waiting(agent)
    with pytest.raises(error) as refused:
        agent.send_tool_result(request.id, content, is_error)
    assert str(refused.value).endswith(".")
    assert agent.client_calls == [request]
    agent.send_tool_result(request.id, "Oslo")
    assert (await exchange.result()).text == "Done."
    log.prove()


async def test_results_for_calls_that_do_not_wait_are_refused() -> None:
    agent, log = made([call("where_am_i"), call("where_am_i")], "Done.")
    exchange = agent.send("Go.")
    first, second = await waiting(agent, 2)
    with pytest.raises(NotPending, match="no such call is known"):
        agent.send_tool_result("call_none", "x")
    with pytest.raises(ConfigurationError, match="id of a call is a text"):
        agent.send_tool_result(7, "x")  # pyright: ignore[reportArgumentType]
    agent.send_tool_result(first.id, "one")
    with pytest.raises(NotPending, match="has a result already"):
        agent.send_tool_result(first.id, "two")
    await until(lambda: len(log.of(ToolResult)) == 1)
    with pytest.raises(NotPending, match="has a result already"):
        agent.send_tool_result(first.id, "three")
    agent.send_tool_result(second.id, "ok")
    result = await exchange.result()
    with pytest.raises(NotPending, match="has a result already"):
        agent.send_tool_result(second.id, "late")
    assert [tool_result.text for tool_result in results_of(result.messages)] == ["one", "ok"]
    log.prove()


async def test_the_time_limit_is_a_result_that_the_model_sees() -> None:
    agent, log = made([call("where_am_i")], "Without.", client_tool_timeout=0.05)
    result = await agent.run("Where?")
    (tool_result,) = results_of(result.messages)
    assert (result.text, tool_result.status) == ("Without.", "timeout")
    assert "within 0.05 s" in tool_result.text
    with pytest.raises(NotPending, match=r"time limit of 0\.05 s is over"):
        agent.send_tool_result(tool_result.id, "late")
    log.prove()


async def test_cancel_ends_the_wait() -> None:
    agent, log = made([call("where_am_i")], "Never.")
    exchange = agent.send("Where?")
    (request,) = await waiting(agent)
    assert agent.cancel("enough")
    result = await exchange.result()
    assert (result.status, agent.client_calls) == ("cancelled", [])
    assert [tool_result.status for tool_result in log.of(ToolResult)] == ["cancelled"]
    with pytest.raises(NotPending, match="exchange was cancelled"):
        agent.send_tool_result(request.id, "late")
    log.prove()


async def test_steering_waits_and_interrupting_cancels() -> None:
    agent, log = made([call("where_am_i")], "First.", [call("where_am_i")], "Third.")
    exchange = agent.send("1")
    (request,) = await waiting(agent)
    assert agent.send("1b", when_busy="steer") is exchange
    agent.send_tool_result(request.id, "Oslo")
    assert (await exchange.result()).text == "First."
    assert [message.text for message in agent.messages if message.role == "user"] == ["1", "1b"]
    interrupted = agent.send("2")
    await waiting(agent)
    assert (await agent.send("3", when_busy="interrupt").result()).text == "Third."
    assert (await interrupted.result()).status == "cancelled"
    log.prove()


async def test_invalid_arguments_never_reach_the_client() -> None:
    agent, log = made([call("where_am_i", exact="perhaps")], "Done.")
    result = await agent.run("Where?")
    assert [tool_result.status for tool_result in results_of(result.messages)] == ["invalid_input"]
    assert (log.of(ClientToolRequested), log.of(ToolExecuting)) == ([], [])
    log.prove()


@pytest.mark.parametrize("mode", ["ask", "read-only"])
async def test_permissions_do_not_ask_for_a_call_of_the_client(mode: Any) -> None:
    agent, _ = made([call("where_am_i")], "Done.", permissions=mode)
    exchange = agent.send("Go.")
    (request,) = await waiting(agent)
    agent.send_tool_result(request.id, "Oslo")
    assert (await exchange.result()).text == "Done."


async def test_a_rule_that_denies_holds() -> None:
    agent, _ = made([call("where_am_i")], "Done.", permissions=heald.Permissions("auto", ["deny where_am_i"]))
    assert [tool_result.status for tool_result in results_of((await agent.run("Go.")).messages)] == ["denied"]


async def test_tools_change_at_the_next_turn() -> None:
    offered: list[list[str]] = []

    def answer(script: Script) -> Callable[[ScriptedRequest], Script]:
        return lambda request: offered.append([tool.name for tool in request.tools]) or script

    agent, _ = made(answer([call("where_am_i")]), answer([call("what_time")]), "Done.")
    exchange = agent.send("Go.")
    (first,) = await waiting(agent)
    await agent.set_client_tools([{"name": "what_time", "description": "The time."}])
    agent.send_tool_result(first.id, "Oslo")
    await until(lambda: [request.name for request in agent.client_calls] == ["what_time"])
    assert offered == [["where_am_i"], ["what_time"]]
    agent.send_tool_result(agent.client_calls[0].id, "noon")
    assert (await exchange.result()).text == "Done."


async def test_a_name_of_the_agents_own_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="has a tool named 'slow' of its own"):
        Agent(scripted("x"), tools=[slow], client_tools=[{"name": "slow"}])
    agent, _ = made("x", tools=[slow])
    with pytest.raises(ConfigurationError, match="of its own"):
        await agent.set_client_tools([{"name": "other"}, {"name": "slow"}])
    assert [tool.name for tool in agent.client_tools] == ["where_am_i"]


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "t", "description": "d", "input_schema": SCHEMA},
        {"name": "t", "description": "d", "inputSchema": SCHEMA},
        {"name": "t", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": SCHEMA}},
        heald.providers.ToolDefinition(name="t", description="d", input_schema=SCHEMA),
    ],
)
def test_each_spelling_is_the_same_tool(definition: Any) -> None:
    assert read_client_tools([definition]) == [
        heald.providers.ToolDefinition(name="t", description="d", input_schema=SCHEMA)
    ]


UNUSABLE: list[tuple[list[Any], str]] = [
    ([7], "is not an object"),
    ([{}], "needs a name"),
    ([{"name": "no spaces"}], "needs a name"),
    ([{"name": "t", "description": 3}], "needs a description"),
    ([{"name": "t", "description": "d" * 9000}], "needs a description"),
    ([{"name": "t"}, {"name": "t"}], "two client tools named 't'"),
    ([{"name": "t", "input_schema": []}], "not of type object"),
    ([{"name": "t", "input_schema": {"type": "array"}}], "not of type object"),
    ([{"name": "t", "input_schema": {"type": "object", "properties": 3}}], "is not valid"),
    ([{"name": "t", "input_schema": {"type": "object", "$ref": "https://x.test/s"}}], "refers to another document"),
    ([{"name": "t", "input_schema": {"type": "object", "title": "x" * 70_000}}], "too large"),
    ([{"name": f"t{number}"} for number in range(MAX_TOOLS + 1)], f"more than {MAX_TOOLS}"),
    (
        [{"name": f"t{n}", "input_schema": {"type": "object", "title": "x" * 60_000}} for n in range(6)],
        "more than 262,144 bytes",
    ),
]


@pytest.mark.parametrize(("definitions", "words"), UNUSABLE)
def test_definitions_that_cannot_be_used_are_refused(definitions: list[Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        read_client_tools(definitions)


# --- continuing with results ---------------------------------------------------------------------------------------


ASKED = Message(role="assistant", content=[ToolCall(id="call_1", name="where_am_i", input={})])
ANSWERED = Message(role="tool", content=[ToolResult(id="call_1", status="ok", content="Oslo", name="where_am_i")])


async def test_a_conversation_continues_with_the_results_of_its_last_calls() -> None:
    agent = Agent(scripted("In Oslo."), history=[user_message("Where?"), ASKED])
    log = Log(agent)
    result = await agent.run(ANSWERED)
    assert result.text == "In Oslo."
    assert [message.role for message in agent.messages] == ["user", "assistant", "tool", "assistant"]
    assert log.of(ExchangeRequest)[0].message == ANSWERED
    assert log.of(UserMessage) == [UserMessage(ANSWERED)]
    log.prove()


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ([], ANSWERED),
        ([user_message("Where?"), assistant("Here.")], ANSWERED),
        ([user_message("Where?"), ASKED, ANSWERED], ANSWERED),
        ([ASKED], Message(role="tool", content=[ToolResult(id="call_2", status="ok", content="")])),
        ([ASKED], Message(role="tool", content=[*ANSWERED.content, *ANSWERED.content])),
        ([ASKED], Message(role="tool", content=[])),
        ([ASKED], Message(role="tool", content=[Text("Oslo")])),
    ],
)
async def test_results_that_belong_to_no_call_are_refused(history: list[Message], message: Message) -> None:
    agent = Agent(scripted("x"), history=history)
    with pytest.raises(ConfigurationError, match="results"):
        agent.send(message)
