"""`AgentStream`: the result of a stream, and its live cell in a notebook; and what results look like."""

import asyncio
import sys
from types import ModuleType
from typing import Any

import msgspec
import pytest

import heald
from heald.agent import notebook_cell

S = heald.testing.ScriptedModel


@heald.tool
async def look(at: str) -> str:
    """Look."""
    return f"{at} is fine"


async def test_its_result_comes_after_the_events() -> None:
    stream = heald.Agent(S(["[1, 2]"])).stream("Go.", output=list[int])
    types = [event.type async for event in stream]
    assert types[-1] == "exchange_response"
    assert (await stream.result()).output == [1, 2]


async def test_its_result_reads_the_rest_of_the_events() -> None:
    stream = heald.Agent(S(["Hello there."])).stream("Go.")
    assert (await anext(stream)).type == "exchange_request"
    assert (await stream.result()).text == "Hello there."
    assert "started" in repr(stream)


async def test_its_result_raises_the_error_of_the_exchange() -> None:
    stream = heald.Agent(S([[S.fail(heald.QuotaExhausted("No credit."))]])).stream("Go.")
    with pytest.raises(heald.QuotaExhausted):
        await stream.result()


async def test_a_stream_that_was_closed_unread_has_no_result() -> None:
    model = S(["Hello."])
    stream = heald.Agent(model).stream("Go.")
    await stream.aclose()
    with pytest.raises(heald.HealdError, match="closed before its first event"):
        await stream.result()
    assert model.requests == []


# --- the output of a result ------------------------------------------------------------------------------------------


async def test_the_output_of_an_exchange_that_did_not_complete_is_an_error() -> None:
    model = S([[S.call("look", at="a")], "[1]"])
    result = await heald.Agent(model, tools=[look], output=list[int], budget=heald.Budget(turns=1)).run("Go.")
    assert result.status == "limit"
    with pytest.raises(heald.OutputError, match=r"status 'limit' \(.*\) and no output; check result.completed"):
        _ = result.output
    assert "output" not in msgspec.to_builtins(result)


async def test_the_output_can_be_none_itself() -> None:
    result = await heald.Agent(S(["null"])).run("Go.", output=int | None)
    assert (result.output, result.completed) == (None, True)


async def test_a_repeated_request_has_its_output_after_a_restart() -> None:
    store = heald.sessions.MemoryStore()
    agent = heald.Agent(S(["[1]"]), output=list[int])
    async with heald.open_session("s", agent, store=store) as session:
        await session.send("Go.", client_request_id="r").result()
    async with heald.open_session("s", agent, store=store) as session:
        assert (await session.send("Go.", client_request_id="r").result()).output == [1]


# --- representations -------------------------------------------------------------------------------------------------


async def test_a_result_an_agent_and_a_message_show_what_matters() -> None:
    agent = heald.Agent(S([[S.call("look", at="a" * 200)], "Fine. " * 40]), tools=[look], session="ses_1")
    assert repr(agent) == "<Agent ses_1 with scripted/model: 1 tool, 0 messages>"
    result = await agent.run("Go.", output=None)
    assert repr(result).startswith("AgentResult('Fine. Fine. ")
    assert "status='completed', turns=2" in repr(result)
    assert len(repr(result)) < 200
    assert repr(result.messages[0]) == "<Message user: 'Go.'>"
    assert repr(result.messages[1]).startswith("<Message assistant: call look(")
    assert repr(result.messages[2]).startswith("<Message tool: ok 'aaa")
    assert all(len(repr(message)) < 200 for message in result.messages)


async def test_an_event_shows_its_number_type_and_data() -> None:
    events = [event async for event in heald.Agent(S(["Hi."]), session="ses_1").stream("Go.")]
    text = next(repr(event) for event in events if event.type == "text_delta")
    assert text.startswith("<Event ")
    assert " text_delta of ses_1/ex_" in text
    assert "text='Hi.'" in text


async def test_a_result_is_rich_text_in_a_notebook() -> None:
    result = await heald.Agent(S(["**Bold** words."])).run("Go.")
    assert result._repr_markdown_().startswith("**Bold** words.\n\n<sub>1 turn · ")  # pyright: ignore[reportPrivateUsage]


class FakeCell:
    def __init__(self, outputs: list[Any]) -> None:
        self.outputs = outputs

    def update(self, content: object) -> None:
        self.outputs.append(content)


@pytest.fixture
def outputs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a notebook shows, one item for each update of a cell."""
    contents: list[Any] = []

    def display(content: Any, *, display_id: bool = False) -> FakeCell | None:
        contents.append(content)
        return FakeCell(contents) if display_id else None

    ipython, module = ModuleType("IPython"), ModuleType("IPython.display")
    vars(module).update(display=display, Markdown=str, Pretty=str)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return contents


async def _show(stream: heald.AgentStream[Any]) -> None:
    stream._ipython_display_()  # pyright: ignore[reportPrivateUsage]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        if "_follow" in repr(task.get_coro()):
            await task


async def test_a_stream_is_a_live_cell(outputs: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_cell, "_SECONDS", -1.0)  # no update is left out
    stream = heald.Agent(S(["Hello there."], piece=6)).stream("Go.")
    await _show(stream)
    assert outputs[:-1] == ["…", "Hello ", "Hello there."]
    assert isinstance(outputs[-1], heald.AgentResult)
    assert (await stream.result()).text == "Hello there."


async def test_the_cell_of_a_stream_that_fails_shows_the_error(outputs: list[Any]) -> None:
    await _show(heald.Agent(S([[S.fail(heald.QuotaExhausted("No credit."))]])).stream("Go."))
    assert outputs[-1].strip() == "**QuotaExhausted**: No credit."


def test_without_an_event_loop_the_cell_shows_what_the_stream_is(outputs: list[Any]) -> None:
    heald.Agent(S(["Hello."])).stream("Go.")._ipython_display_()  # pyright: ignore[reportPrivateUsage]
    assert outputs == ["<AgentStream not started; read it with `async for`, or await its result()>"]
