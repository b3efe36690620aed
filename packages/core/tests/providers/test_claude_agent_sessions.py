"""A conversation with the Claude Agent SDK over several exchanges: resumed, reopened, forked, begun elsewhere."""

import asyncio
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from claude_agent_recordings import answer, call, init, message, result, text
from claude_agent_support import Played, Use, Wait

import heald
from heald.core.envelope import Event
from heald.core.errors import UnknownProvider
from heald.core.messages import Message, Text, ToolCall, ToolResult, assistant, decode_messages, user_message
from heald.providers.claude_agent.query import prompt_of

WEATHER = "mcp__heald__weather"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C"


def asked(played: Played, process: int, prompt: int = 0) -> str:
    content = played.processes[process].prompts[prompt]["message"]["content"]
    return "".join(part.get("text", "[picture]") for part in content)


async def test_the_next_exchange_resumes_the_sdks_session() -> None:
    first, second = answer("One.", "msg_1", cost=0.01), answer("Two.", "msg_2", cost=0.03)
    async with Played([first], [second]) as played:
        first_result = await played.agent.run("First?")
        second_result = await played.agent.run("Second?")
    assert [first_result.text, second_result.text] == ["One.", "Two."]
    assert [p.options.resume for p in played.processes] == [None, "s-1"]
    assert not played.processes[1].options.fork_session
    assert asked(played, 1) == "Second?"
    assert (first_result.cost_usd, second_result.cost_usd) == (
        pytest.approx(0.01),
        pytest.approx(0.02),
    )  # the SDK tells the session's total


async def test_a_total_of_one_exchange_alone_is_that_exchanges() -> None:
    first = [init(), *message("msg_1", text("One."), usage=(100_000, 1000)), result("One.", cost=0.32)]
    second = [init(), *message("msg_2", text("Two."), usage=(100_000, 1000)), result("Two.", cost=0.33)]
    async with Played([first], [second]) as played:
        await played.agent.run("First?")
        assert (await played.agent.run("Second?")).cost_usd == pytest.approx(0.33)


async def test_a_reopened_conversation_goes_on_where_it_ended() -> None:
    async with Played([answer("One.")]) as played:
        await played.agent.run("First?")
        stored = msgspec.json.encode(played.agent.messages)
    async with Played(
        [answer("Two.", "msg_2", session="s-2")], [answer("Three.", "msg_3")], history=decode_messages(stored)
    ) as later:
        await later.agent.run("Second?")
        await later.agent.run("Third?")
    options = later.processes[0].options
    assert (options.resume, options.resume_session_at, options.fork_session) == ("s-1", "msg_1-0", True)
    assert asked(later, 0) == "Second?"
    options = later.processes[1].options
    assert (options.resume, options.resume_session_at, options.fork_session) == ("s-2", None, False)


async def test_a_history_of_another_model_is_reported() -> None:
    history = [
        user_message("What should I wear?"),
        Message(role="assistant", content=[Text("I look."), ToolCall(id="c", name="weather", input={"city": "Oslo"})]),
        Message(role="tool", content=[ToolResult(id="c", name="weather", status="ok", content="3 °C")]),
        assistant("A coat."),
    ]
    async with Played([answer("Boots.")], history=history) as played:
        await played.agent.run("And on my feet?")
    said = asked(played, 0)
    assert "User: What should I wear?" in said
    assert 'I look.[called weather with {"city":"Oslo"}]' in said
    assert "[weather: ok: 3 °C]" in said
    assert said.endswith("Now:\n\nAnd on my feet?")
    assert played.processes[0].options.resume is None


async def test_what_another_model_sent_in_between_is_reported() -> None:
    async with Played([answer("One.")]) as played:
        await played.agent.run("First?")
        history = [*played.agent.messages, user_message("Second?"), assistant("Two, says the other.")]
    async with Played([answer("Three.", "msg_2")], history=history) as later:
        await later.agent.run("Third?")
    said = asked(later, 0)
    assert "First?" not in said
    assert "User: Second?" in said
    assert "Assistant: Two, says the other." in said
    assert later.processes[0].options.resume == "s-1"


async def test_another_model_adopts_what_the_sdk_sent() -> None:
    recording = [
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        *answer("A coat.", "msg_2")[1:],
    ]
    async with Played([recording], tools=[weather]) as played:
        await played.agent.run("What should I wear?")
        history = played.agent.messages
    scripted = heald.testing.ScriptedModel(["Boots."])
    async with heald.Agent(scripted, tools=[weather], history=history) as other:
        await other.run("And on my feet?")
    assert [m.role for m in scripted.requests[0].messages] == ["user", "assistant", "tool", "assistant", "user"]


async def test_after_a_cancel_the_session_is_resumed() -> None:
    started = message("msg_1", text("Take a coat."))[:3]
    async with Played([[init(), *started, Wait()]], [answer("Two.", "msg_2")]) as played:

        def on_event(event: Event) -> None:
            if event.type == "text_delta" and len(played.processes) == 1:
                played.agent.cancel()

        played.agent.subscribe(on_event)
        await played.agent.run("First?")
        await played.agent.run("Second?")
    assert played.processes[1].options.resume == "s-1"
    assert "First?" not in asked(played, 1)
    assert asked(played, 1).endswith("Second?")


async def test_a_request_that_the_model_never_saw_is_repeated() -> None:
    async with Played([[init(), Wait()]], [answer("Both.")]) as played:
        exchange = played.agent.send("First?")
        async with asyncio.timeout(120):
            while not played.processes or not played.processes[0].prompts:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        exchange.cancel()
        await exchange.result()
        await played.agent.run("Second?")
    assert asked(played, 1) == "First?Second?"
    assert played.processes[1].options.resume is None


async def test_steering_is_reported_when_the_query_has_its_result() -> None:
    first = [
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        *answer("A coat.", "msg_2")[1:],
    ]
    async with Played([first, answer("And boots.", "msg_3", cost=0.02)], tools=[weather]) as played:

        def on_event(event: Event) -> None:
            if event.type == "tool_executing":
                played.agent.send("And on my feet?", when_busy="steer")

        played.agent.subscribe(on_event)
        done = await played.agent.run("What should I wear?")
    assert (done.text, done.turns) == ("And boots.", 3)
    assert len(played.processes) == 1
    assert asked(played, 0, 1) == "And on my feet?"
    assert done.cost_usd == pytest.approx(0.02)


async def test_an_answer_that_does_not_fit_is_requested_repeatedly() -> None:
    async with Played([answer("no"), answer("7", "msg_2")]) as played:
        assert (await played.agent.run("How many?", output=int)).output == 7
    assert "nothing but the JSON" in asked(played, 0, 1)
    assert '"type":"integer"' in str(played.processes[0].options.system_prompt)


async def test_a_session_without_an_agent() -> None:
    played = Played([[
        init(),
        *message("msg_1", call(WEATHER, "toolu_1", city="Oslo")),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        *answer("A coat.", "msg_2")[1:],
    ]])  # fmt: skip
    model: Any = played.agent.options["model"]
    session = heald.providers.open_provider_session(
        model, messages=[user_message("What should I wear?")], tools=[weather.definition]
    )
    turn = await session.stream_turn(lambda _: None)
    session.append_tool_results(turn, [ToolResult(id="toolu_1", name="weather", status="ok", content="3 °C")])
    turn = await session.stream_turn(lambda _: None)
    await session.close()
    await played.agent.close()
    assert turn.text == "A coat."


def test_pictures_of_earlier_messages_come_along() -> None:
    picture = heald.Image(media_type="image/png", data="aGk=")
    told = prompt_of([user_message(picture, "What is it?"), assistant("A dot."), user_message("Sure?")])
    assert [part["type"] for part in told].count("image") == 1


def test_a_name_is_enough_and_loads_nothing() -> None:
    code = "import heald, sys; heald.Agent('claude-agent/claude-sonnet-4-6'); heald.Agent('claude-agent/default')"
    check = "print([n for n in ('claude_agent_sdk', 'mcp') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}; {check}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_without_a_model() -> None:
    with pytest.raises(UnknownProvider):
        heald.Agent("claude-agent/")


async def test_a_conversation_that_was_rewound_goes_on_from_there() -> None:
    processes = [answer("One."), answer("Two.", "msg_2"), answer("Other.", "msg_3", session="s-2")]
    async with Played(*[[process] for process in processes]) as played:
        await played.agent.run("First?")
        await played.agent.run("Second?")
        del played.agent._conversation.messages[2:]  # pyright: ignore[reportPrivateUsage]
        await played.agent.run("Or rather?")
    options = played.processes[2].options
    assert (options.resume, options.resume_session_at, options.fork_session) == ("s-1", "msg_1-0", True)
    assert asked(played, 2) == "Or rather?"
