"""Asking an agent: run, stream and run_sync; several exchanges; queue, steer and interrupt."""

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

import heald
from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, Overloaded
from heald.core.events import ExchangeResponse, TextDelta, ToolExecuting, UserMessage
from heald.core.messages import Image, Message, Text, ToolResult, assistant, user_message
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from log_support import Log, call, played, results_of, scripted, until
from strategy_support import WriteAnswer


@heald.tool
async def look(place: str = "") -> str:
    """Looks."""
    return f"seen {place}"


@heald.tool
async def wait_long() -> str:
    """Waits."""
    await asyncio.sleep(60)
    return "never"


# --- run -------------------------------------------------------------------------------------------------------------


async def test_run_gives_everything() -> None:
    agent = Agent(scripted(["Let me see.", call("look", place="Oslo")], "Take a coat."), tools=[look])
    log = Log(agent)
    result = await agent.run("What should I wear?")
    assert (result.text, result.status, result.completed) == ("Take a coat.", "completed", True)
    assert (result.stop_reason, result.turns, result.cost_usd, result.note) == ("end_turn", 2, 0.0, None)
    assert result.usage.output == log.of(ExchangeResponse)[0].usage.output
    assert result.duration_ms > 0
    assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert result.exchange == log.own[0].exchange
    assert result.messages == agent.messages
    log.prove()


async def test_a_failed_exchange_raises_its_error_and_keeps_the_agent_usable() -> None:
    agent = Agent(
        scripted(["Half", heald.testing.ScriptedModel.fail(Overloaded("The model is busy.", status=529))], "Fine.")
    )
    log = Log(agent)
    with pytest.raises(Overloaded, match="The model is busy"):
        await agent.run("Go.")
    assert (await agent.run("Again.")).text == "Fine."
    assert [response.status for response in log.of(ExchangeResponse)] == ["failed", "completed"]
    assert [message.text for message in agent.messages] == ["Go.", "Again.", "Fine."]
    log.prove()


async def test_prompts_of_every_kind() -> None:
    model = scripted(*["Fine."] * 4)
    agent = Agent(model)
    picture = Image(data="aGk=")
    await agent.run("Words.")
    await agent.run(["Look:", picture])
    await agent.run([Text("Only text.")])
    await agent.run(user_message("A message."))
    asked = [message.content for message in agent.messages if message.role == "user"]
    assert asked == [[Text("Words.")], [Text("Look:"), picture], [Text("Only text.")], [Text("A message.")]]
    with pytest.raises(ConfigurationError, match="begins with a user message"):
        await agent.run(assistant("I say."))


async def test_history_goes_on_and_may_be_given() -> None:
    model = scripted("One.", "Two.", "Three.")
    agent = Agent(model, history=[user_message("Before."), assistant("Yes.")], default_instructions=False)
    for prompt in ("A", "B", "C"):
        await agent.run(prompt)
    texts = [[message.text for message in request.messages] for request in model.requests]
    assert texts[0] == ["Before.", "Yes.", "A"]
    assert texts[2] == ["Before.", "Yes.", "A", "One.", "B", "Two.", "C"]
    mine = agent.messages
    mine.clear()
    assert len(agent.messages) == 8


async def test_settings_reach_the_model() -> None:
    model = scripted("Fine.")
    agent = Agent(model, temperature=0.3, max_output_tokens=99, reasoning=heald.Reason(effort="low"))
    await agent.run("Go.")
    asked = model.requests[0].settings
    assert (asked.temperature, asked.max_output_tokens, asked.reasoning) == (0.3, 99, heald.Reason(effort="low"))


# --- stream ----------------------------------------------------------------------------------------------------------


async def test_stream_is_the_log_of_its_exchange() -> None:
    agent = Agent(scripted(["See.", call("look")], "Done."), tools=[look])
    log = Log(agent)
    events = [event async for event in agent.stream("Go.")]
    assert events == log.own
    assert events[-1].type == "exchange_response"


async def test_stream_receives_each_event_before_the_next_piece_comes() -> None:
    agent = Agent(scripted("word " * 10, piece=5))
    behind = [agent.last_seq - event.seq async for event in agent.stream("Go.") if event.type == "text_delta"]
    assert len(behind) == 10
    assert max(behind) <= 4


async def test_stream_of_a_second_exchange_keeps_the_first_out() -> None:
    agent = Agent(scripted("One.", "Two."))
    first = agent.send("A")
    texts = [event.data.text async for event in agent.stream("B") if isinstance(event.data, TextDelta)]
    assert texts == ["Two."]
    assert (await first.result()).text == "One."


async def test_disconnecting_the_stream_cancels() -> None:
    agent = Agent(scripted("word " * 1000, "Fine."))
    log = Log(agent)
    async with aclosing(cast("Any", agent.stream("Go."))) as stream:
        async for event in cast("AsyncIterator[Event]", stream):
            if event.type == "text_delta":
                break
    assert [response.status for response in log.of(ExchangeResponse)] == ["cancelled"]
    assert (await agent.run("Again.")).text == "Fine."
    log.prove()


async def test_a_failed_exchange_ends_its_stream_and_raises_nothing() -> None:
    agent = Agent(scripted([heald.testing.ScriptedModel.fail(Overloaded("busy"))]))
    events = [event async for event in agent.stream("Go.")]
    assert isinstance(events[-1].data, ExchangeResponse)
    assert events[-1].data.status == "failed"


# --- run_sync --------------------------------------------------------------------------------------------------------


def test_run_sync_several_times_from_a_script() -> None:
    agent = Agent(scripted([call("look")], "One.", "Two."), tools=[look])
    log = Log(agent)
    assert agent.run_sync("A").text == "One."
    assert agent.run_sync("B").text == "Two."
    log.prove()
    asyncio.run(agent.close())


async def test_run_sync_while_a_loop_runs_in_this_thread() -> None:
    """As in a notebook cell: the loop of the notebook is running."""
    agent = Agent(scripted("One.", "Two.", "Three."))
    assert agent.run_sync("A").text == "One."
    await asyncio.sleep(0)
    assert agent.run_sync("B").text == "Two."
    await agent.close()


def test_run_sync_from_several_threads_alternates() -> None:
    agent = Agent(scripted(*["Fine."] * 5))
    log = Log(agent)
    agent.run_sync("First.")
    threads = [threading.Thread(target=agent.run_sync, args=(f"{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [response.status for response in log.of(ExchangeResponse)] == ["completed"] * 5
    log.prove()
    asyncio.run(agent.close())


def test_run_sync_raises_what_run_raises() -> None:
    agent = Agent(scripted([heald.testing.ScriptedModel.fail(Overloaded("busy"))], "Fine."))
    with pytest.raises(Overloaded):
        agent.run_sync("A")
    assert agent.run_sync("B").text == "Fine."
    asyncio.run(agent.close())


def test_run_sync_with_somebody_who_approves_and_answers() -> None:
    async def yes(_: Any) -> bool:
        return True

    async def blue(_: Any) -> str:
        return "blue"

    agent = Agent(
        scripted([call("look")], [call("ask_user", question="Which?", suggestions=["red", "blue"])], "Done."),
        tools=[look, "ask"],
        permissions="ask",
        on_approval=yes,
        on_question=blue,
    )
    assert [result.status for result in results_of(agent.run_sync("Go.").messages)] == ["ok", "ok"]
    asyncio.run(agent.close())


async def test_run_sync_over_a_real_connection_can_be_closed_from_another_loop() -> None:
    async with ScriptedServer([wire_reply("chat", text="One."), wire_reply("chat", text="Two.")]) as server:
        model = heald.Model("m", wire="chat", base_url=server.url + "/v1", api_key="no-real-key", provider="test")
        agent = Agent(model)
        for expected in ("One.", "Two."):
            assert (await asyncio.to_thread(agent.run_sync, "Go.")).text == expected
        await asyncio.wait_for(agent.close(), 60)


def test_a_script_that_never_closes_ends_by_itself_and_quietly(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import heald
        agent = heald.Agent(heald.testing.ScriptedModel(["One.", "Two."]))
        print(agent.run_sync("A").text, agent.run_sync("B").text)
        """)
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Executing ")]  # a busy machine
    assert (done.returncode, done.stdout, complaints) == (0, "One. Two.\n", [])


# --- while another exchange runs -------------------------------------------------------------------------------------


async def test_queued_exchanges_run_in_order() -> None:
    agent = Agent(scripted("One.", "Two.", "Three."))
    log = Log(agent)
    exchanges = [agent.send(prompt) for prompt in "ABC"]
    assert [(await exchange.result()).text for exchange in exchanges] == ["One.", "Two.", "Three."]
    assert log.types.count("conversation_queued") == 2
    log.prove()


async def test_steering_is_seen_at_the_next_turn() -> None:
    agent = Agent(scripted([call("look")], "Done."), tools=[look])
    log = Log(agent)
    steered: list[Any] = []
    agent.subscribe(lambda _: steered.append(agent.send("In Rome.", when_busy="steer")), types=["tool_executing"])
    first = agent.send("Go.")
    assert (await first.result()).text == "Done."
    assert steered == [first]
    assert [message.text for message in agent.messages if message.role == "user"] == ["Go.", "In Rome."]
    assert len(log.of(ExchangeResponse)) == 1
    log.prove()


async def test_steering_during_the_last_turn_makes_another() -> None:
    agent = Agent(scripted("In Oslo.", "In Rome, then."))
    log = Log(agent)
    once = iter(["In Rome."])
    agent.subscribe(lambda _: [agent.send(text, when_busy="steer") for text in once], types=["text_delta"])
    result = await agent.run("Go.")
    assert (result.text, result.turns) == ("In Rome, then.", 2)
    log.prove()


async def test_steering_an_idle_agent_asks() -> None:
    agent = Agent(scripted("Fine."))
    assert (await agent.send("Go.", when_busy="steer").result()).text == "Fine."


@pytest.mark.parametrize("at", ["file_changed", "conversation_end"])
async def test_a_message_that_comes_too_late_to_steer_is_not_lost(at: str) -> None:
    """Between the last turn and the end of the exchange there is no next turn to see it at."""
    model = scripted("<!doctype html><html></html>", "Here too.")
    agent = Agent(model, tools=["files"], strategies=[WriteAnswer])
    log = Log(agent)

    def steer(event: Event) -> None:
        if event.type == at and len(model.requests) == 1:
            agent.send("One more thing.", when_busy="steer")

    agent.subscribe(steer)
    await agent.run("Go.")
    await until(lambda: agent.current is None)
    assert "One more thing." in [payload.message.text for payload in log.of(UserMessage)]
    log.prove()


async def test_a_steering_message_whose_exchange_is_cancelled_is_kept() -> None:
    """The agent accepted the message, so it must be in the conversation."""
    agent = Agent(scripted([call("wait_long")], "Fine."), tools=[wait_long])
    log = Log(agent)
    first = agent.send("Go.")
    await until(lambda: log.of(ToolExecuting))
    agent.send("In Rome.", when_busy="steer")
    agent.cancel()
    assert (await first.result()).status == "cancelled"
    await agent.run("Go on.")
    assert "In Rome." in [message.text for message in agent.messages]
    log.prove()


async def test_interrupting_ends_what_runs_and_replaces_it() -> None:
    agent = Agent(scripted([call("wait_long")], "Rome it is."), tools=[wait_long])
    log = Log(agent)
    first = agent.send("Oslo?")
    await until(lambda: log.of(ToolExecuting))
    second = agent.send("No, Rome.", when_busy="interrupt")
    assert ((await first.result()).status, (await second.result()).text) == ("cancelled", "Rome it is.")
    assert [result.status for result in log.of(ToolResult)] == ["cancelled"]
    log.prove()


async def test_an_interruption_goes_before_what_waits() -> None:
    agent = Agent(scripted([call("wait_long")], "Rome.", "Later."), tools=[wait_long])
    log = Log(agent)
    first = agent.send("Oslo?")
    await until(lambda: log.of(ToolExecuting))
    queued = agent.send("Paris later.")
    urgent = agent.send("No, Rome.", when_busy="interrupt")
    for exchange in (first, urgent, queued):
        await exchange.result()
    assert [payload.message.text for payload in log.of(UserMessage)] == ["Oslo?", "No, Rome.", "Paris later."]
    log.prove()


# --- ending ----------------------------------------------------------------------------------------------------------


async def test_closing_ends_what_runs_and_what_waits() -> None:
    agent = Agent(scripted([call("wait_long")]), tools=[wait_long])
    log = Log(agent)
    exchanges = [agent.send(prompt) for prompt in "AB"]
    await until(lambda: log.of(ToolExecuting))
    await asyncio.wait_for(agent.close(), 60)
    assert [(await exchange.result()).status for exchange in exchanges] == ["cancelled", "cancelled"]
    log.prove()


async def test_an_agent_is_a_context() -> None:
    closed: list[str] = []

    class Kept:
        def close(self) -> None:
            closed.append("closed")

    @heald.tool
    async def keeps(ctx: heald.ToolContext) -> str:
        """Keeps something."""
        ctx.keep(Kept)
        return "kept"

    async with Agent(scripted([call("keeps")], "Done."), tools=[keeps]) as agent:
        await agent.run("Go.")
        assert closed == []
    assert closed == ["closed"]


# --- repeats ---------------------------------------------------------------------------------------------------------


async def test_the_same_call_repeatedly_is_noticed() -> None:
    same = [[call("look", place="x")]] * 4
    result, _ = await played(*same, [call("look", place="y")], "Done.", tools=[look])
    notes = ["times in a row" in tool_result.text for tool_result in results_of(result.messages)]
    assert notes == [False, False, True, True, False]
    assert "You have made exactly this call 4 times" in results_of(result.messages)[3].text


async def test_two_tools_in_turns_are_no_repeat() -> None:
    turns = [[call("look", place="xy"[number % 2])] for number in range(6)]
    result, _ = await played(*turns, "Done.", tools=[look])
    assert not any("in a row" in tool_result.text for tool_result in results_of(result.messages))


# --- what the bus shares ---------------------------------------------------------------------------------------------


async def test_agents_have_sessions_of_their_own_or_the_one_given() -> None:
    first, second, named = Agent(scripted("A")), Agent(scripted("B")), Agent(scripted("C"), session="ses_mine")
    assert first.session != second.session
    log = Log(named)
    await named.run("Go.")
    assert {event.session for event in log.events} == {named.session} == {"ses_mine"}


async def test_the_request_of_a_client_stands_in_the_log() -> None:
    agent = Agent(scripted("Fine."))
    log = Log(agent)
    await agent.send("Go.", client_request_id="r1").result()
    assert cast("Any", log.own[0].data).client_request_id == "r1"
    assert isinstance(agent.messages[0], Message)
