"""Messages of the Claude Agent SDK become the same events as any model's."""

from typing import Any

import pytest
from claude_agent_recordings import answer, call, event, init, message, result, text, thinking, whole
from claude_agent_support import Begin, Finish, Played, Together, Use

import heald
from heald.core.messages import Image, Reasoning, Text, ToolCall
from heald.core.turn import Usage

WEATHER = "mcp__heald__weather"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    if city == "Atlantis":
        raise heald.ToolFault("There is no such city.")
    return f"{city}: 3 °C"


async def test_text_only() -> None:
    async with Played([answer("Take a coat.")], tools=[weather]) as played:
        done = await played.agent.run("What should I wear?")
    assert (done.text, done.status, done.stop_reason, done.turns) == ("Take a coat.", "completed", "end_turn", 1)
    assert done.usage == Usage(input=10, output=5)
    assert done.cost_usd == pytest.approx(0.01)
    assert played.types() == [
        "exchange_request",
        "user_message",
        "conversation_start",
        "message_start",
        "conversation_thinking",
        "text_content_block_start",
        "conversation_responding",
        "text_delta",
        "text_delta",
        "text_content_block_stop",
        "message_delta",
        "message_stop",
        "assistant_message",
        "conversation_end",
        "exchange_response",
    ]
    assert played.payloads_of("message_start")[0].model == "claude-agent/claude-sonnet-4-6"
    asked = played.processes[0].prompts[0]
    assert asked["message"]["content"] == [{"type": "text", "text": "What should I wear?"}]


async def test_thinking_and_text() -> None:
    recording = [init(), *message("msg_1", thinking("Oslo is cold."), text("Take a coat.")), result("Take a coat.")]
    async with Played([recording]) as played:
        await played.agent.run("What should I wear?")
    assert played.payloads_of("assistant_message")[0].message.content == [
        Reasoning("Oslo is cold."),
        Text("Take a coat."),
    ]
    assert [delta.text for delta in played.payloads_of("thinking_delta")] == ["Oslo i", "s cold."]


async def test_one_tool_runs_here_and_the_model_gets_its_result() -> None:
    recording = [
        init(),
        *message("msg_1", text("I look."), call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        *message("msg_2", text("Take a coat.")),
        result("Take a coat.", cost=0.02),
    ]
    async with Played([recording], tools=[weather]) as played:
        done = await played.agent.run("What should I wear?")
    assert (done.text, done.turns, done.usage) == ("Take a coat.", 2, Usage(input=20, output=10))
    assert done.cost_usd == pytest.approx(0.02)
    assert played.types(
        "message_stop", "tool_call", "tool_executing", "tool_completed", "tool_result", "message_start"
    ) == [
        "message_start",
        "message_stop",
        "tool_call",
        "tool_executing",
        "tool_completed",
        "tool_result",
        "message_start",
        "message_stop",
    ]
    assert played.payloads_of("tool_call") == [ToolCall(id="toolu_1", name="weather", input={"city": "Oslo"})]
    assert played.payloads_of("tool_result")[0].content == "Oslo: 3 °C"
    process = played.processes[0]
    assert [tool["name"] for tool in process.tools] == ["weather"]
    assert process.tools[0]["inputSchema"]["required"] == ["city"]
    assert _answered(process)[-1]["content"] == [{"type": "text", "text": "Oslo: 3 °C"}]
    assert process.decisions == [{"hookEventName": "PreToolUse", "permissionDecision": "allow"}]


@pytest.mark.parametrize("at_once", [True, False])
async def test_parallel_tools_in_whatever_order_the_sdk_calls_them(at_once: bool) -> None:
    uses = [Use("toolu_2", WEATHER, {"city": "Rome"}), Use("toolu_1", WEATHER, {"city": "Oslo"})]
    calls = message("msg_1", call(WEATHER, "toolu_1", city="Oslo"), call(WEATHER, "toolu_2", city="Rome"))
    recording = [
        init(),
        *calls,
        *([Together(uses)] if at_once else uses),
        *message("msg_2", text("Ok.")),
        result("Ok."),
    ]
    async with Played([recording], tools=[weather]) as played:
        await played.agent.run("Where is it warmer?")
    assert [(r.id, r.content) for r in played.payloads_of("tool_result")] == [
        ("toolu_1", "Oslo: 3 °C"),
        ("toolu_2", "Rome: 3 °C"),
    ]
    assert [answer["content"][0]["text"][:4] for answer in _answered(played.processes[0])] == ["Rome", "Oslo"]


async def test_a_call_that_comes_before_its_message_is_whole_waits_for_it() -> None:
    lines = message("msg_1", call(WEATHER, "toolu_1", city="Oslo"))
    early = [*lines[:-2], Begin(Use("toolu_1", WEATHER, {"city": "Oslo"})), *lines[-2:], Finish()]
    async with Played([[init(), *early, *message("msg_2", text("Ok.")), result("Ok.")]], tools=[weather]) as played:
        assert (await played.agent.run("What should I wear?")).text == "Ok."
    assert played.payloads_of("tool_result")[0].status == "ok"


async def test_a_tool_that_fails_and_one_with_wrong_arguments() -> None:
    recording = [
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Atlantis"), call(WEATHER, "toolu_2", town="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Atlantis"}),
        Use("toolu_2", WEATHER, {"town": "Oslo"}),
        *message("msg_2", text("Sorry.")),
        result("Sorry."),
    ]
    async with Played([recording], tools=[weather]) as played:
        await played.agent.run("What should I wear?")
    results = {r.id: r for r in played.payloads_of("tool_result")}
    assert {call: (r.status, r.is_error) for call, r in results.items()} == {
        "toolu_1": ("error", True),
        "toolu_2": ("invalid_input", True),
    }
    told = _answered(played.processes[0])
    assert [answer["isError"] for answer in told] == [True, True]
    assert told[0]["content"][0]["text"] == results["toolu_1"].content
    assert told[1]["content"][0]["text"] == results["toolu_2"].content


async def test_pictures_go_over_as_pictures() -> None:
    @heald.tool
    async def look() -> list[Any]:
        """Look."""
        return [Image(media_type="image/png", data="aGk="), "a dot"]

    name = "mcp__heald__look"
    recording = [init(), *message("msg_1", call(name, "toolu_1")), Use("toolu_1", name, {}), *answer("A dot.", "msg_2")]
    async with Played([recording], tools=[look]) as played:
        await played.agent.run([Image(media_type="image/png", data="aGk="), "What is it?"])
    assert _answered(played.processes[0])[0]["content"] == [
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "text", "text": "a dot"},
    ]
    asked = played.processes[0].prompts[0]["message"]["content"]
    assert asked[0] == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


async def test_a_message_that_was_not_streamed() -> None:
    recording = [
        init(),
        whole("msg_1", text("I look.")),
        whole("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        whole("msg_2", thinking("Cold."), text("Take a coat.")),
        result("Take a coat."),
    ]
    async with Played([recording], tools=[weather]) as played:
        done = await played.agent.run("What should I wear?")
    assert (done.text, done.usage) == ("Take a coat.", Usage(input=20, output=10))
    assert [m.message.text for m in played.payloads_of("assistant_message")] == ["I look.", "", "Take a coat."]
    assert played.payloads_of("tool_result")[0].content == "Oslo: 3 °C"


async def test_an_attempt_that_the_sdk_gave_up_is_discarded_in_the_open() -> None:
    broken = message("msg_0", text("Take a c"), usage=(7, 3))[:4]
    async with Played([[init(), *broken, *answer("Take a coat.")[1:]]]) as played:
        done = await played.agent.run("What should I wear?")
    assert done.text == "Take a coat."
    assert played.types("message_start", "message_discarded", "retry_scheduled", "message_stop") == [
        "message_start",
        "message_discarded",
        "retry_scheduled",
        "message_start",
        "message_stop",
    ]
    assert [start.attempt for start in played.payloads_of("message_start")] == [1, 2]
    assert done.usage == Usage(input=17, output=6)


async def test_the_loop_may_go_on_by_itself() -> None:
    recording = [init(), *message("msg_1", text("One.")), *message("msg_2", text("Two.")), result("Two.")]
    async with Played([recording]) as played:
        done = await played.agent.run("Count.")
    assert (done.text, done.turns, done.stop_reason) == ("Two.", 2, "end_turn")
    assert [m.message.text for m in played.payloads_of("assistant_message")] == ["One.", "Two."]


async def test_a_result_without_a_message_is_the_message() -> None:
    async with Played([[init(), result("Nothing to do.")]]) as played:
        assert (await played.agent.run("Go.")).text == "Nothing to do."


async def test_lines_that_nobody_knows_are_passed_over() -> None:
    lines = answer("Ok.")
    odd = [{"type": "system", "subtype": "news", "session_id": "s-1"}, event(type="ping"), {"type": "brand_new"}]
    async with Played([[*lines[:3], *odd, *lines[3:]]]) as played:
        assert (await played.agent.run("Go.")).text == "Ok."


def _answered(process: Any) -> list[Any]:
    """What Heald's server answered to calls, in the order of its answers."""
    answers = [
        line["response"].get("response", {}).get("mcp_response", {}) for line in process.heard if "response" in line
    ]
    return [answer["result"] for answer in answers if "content" in answer.get("result", {})]
