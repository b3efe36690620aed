"""The AI SDK's chat and the AG-UI agent, as they come from their registry, against a real server."""

import asyncio
from pathlib import Path
from typing import Any

from client_parts import answers, model, weather
from node_clients import played

import heald
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.providers.scripted import Script, ScriptedRequest
from heald_check.checker import check_log
from serving_parts import TOKEN, S, Served, served


def _texts(message: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in message["parts"] if part["type"] == "text")


async def _only_session(server: Served) -> str:
    page = await server.context.sessions.list()
    assert len(page.sessions) == 1
    return page.sessions[0].id


async def test_the_ai_sdk_chats_over_several_turns_with_tools(tmp_path: Path) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server:
        steps = [
            {"do": "send", "text": "Hello"},
            {"do": "send", "text": "How is the weather?"},
            {"do": "send", "text": "Thanks"},
        ]
        told = await played("ai.mjs", server.url, TOKEN, "chat-1", steps=steps)
        session = await _only_session(server)
        log = await server.log(session)
    assert [step["status"] for step in told] == ["ready"] * 3
    assert all(step["errors"] == [] for step in told)
    messages = told[-1]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3
    assert _texts(messages[1]) == "Answer 1 to “Hello”."
    assert _texts(messages[5]) == "Answer 3 to “Thanks”."
    (tool,) = [part for part in messages[3]["parts"] if part["type"] == "tool-weather"]
    assert (tool["state"], tool["input"], tool["output"]) == (
        "output-available",
        {"city": "Oslo"},
        "Oslo: 3 °C, snow",
    )
    assert [part["text"] for part in messages[3]["parts"] if part["type"] == "reasoning"] == ["Oslo is cold."]
    assert sum(isinstance(event.data, ExchangeRequest) for event in log) == 3
    assert not check_log(log)


async def test_the_ai_sdk_regenerates_an_answer(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        steps: list[dict[str, Any]] = [
            {"do": "send", "text": "Hello"},
            {"do": "send", "text": "And now?"},
            {"do": "regenerate"},
            {"do": "send", "text": "Go on"},
        ]
        told = await played("ai.mjs", server.url, TOKEN, "chat-2", steps=steps)
    assert all(step["errors"] == [] for step in told)
    assert [len(step["messages"]) for step in told] == [2, 4, 4, 6]
    assert [_texts(step["messages"][-1]) for step in told] == [
        "Answer 1 to “Hello”.",
        "Answer 2 to “And now?”.",
        "Answer 2 to “And now?”.",
        "Answer 3 to “Go on”.",
    ]
    assert told[1]["messages"][-1]["id"] != told[2]["messages"][-1]["id"]


async def test_the_ai_sdk_is_informed_of_an_error(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        told = await played("ai.mjs", server.url, TOKEN, "chat-3", steps=[{"do": "send", "text": "Please fail"}])
        assert told[0]["status"] == "error"
        assert "out of order" in told[0]["errors"][0]
        told = await played("ai.mjs", server.url, "wrong", "chat-3", steps=[{"do": "send", "text": "Hello"}])
        assert told[0]["status"] == "error"


async def test_the_ai_sdk_disconnects_and_comes_back_to_what_goes_on(tmp_path: Path) -> None:
    def slow() -> heald.testing.ScriptedModel:
        return S([answers] * 50, piece=6, pause=0.02)

    async with served(tmp_path, slow) as server:
        steps: list[dict[str, Any]] = [
            {"do": "send", "text": "Hello"},
            {"do": "leave", "text": "Something long"},
            {"do": "reload"},
            {"do": "resume"},
        ]
        told = await played("ai.mjs", server.url, TOKEN, "chat-4", steps=steps)
        log = await server.log(await _only_session(server))
    assert len(_texts(told[1]["messages"][-1])) < len("Word after word. " * 30)
    assert told[3]["errors"] == []
    assert [message["role"] for message in told[3]["messages"]] == ["user", "user", "assistant"]
    assert [part["type"] for part in told[3]["messages"][-1]["parts"]] == ["step-start", "text"]
    assert _texts(told[3]["messages"][-1]) == "Word after word. " * 30
    assert [part["type"] for part in told[3]["data"]] == ["data-usage"]
    assert not check_log(log)
    statuses = [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]
    assert statuses == ["completed", "completed"]


async def test_an_ag_ui_agent_runs_several_times_with_tools_and_files(tmp_path: Path) -> None:
    def writing(request: ScriptedRequest) -> Script:
        if request.messages[-1].text == "Write":
            return [S.call("write_file", path="a.txt", content="hello")]
        return answers(request)

    async with served(tmp_path, lambda: S([writing] * 20, piece=6), tools={"weather": weather}) as server:
        steps: list[dict[str, Any]] = [{"text": "Hello"}, {"text": "The weather?"}, {"text": "Write"}]
        told = await played("agui.mjs", server.url, TOKEN, "thread-1", steps=steps)
        log = await server.log(await _only_session(server))
    assert all(step["errors"] == [] for step in told)
    for step in told:
        kinds = [event["type"] for event in step["events"]]
        assert (kinds[0], kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")
        assert step["events"][0]["threadId"] == "thread-1"
    messages = told[-1]["messages"]
    said = [message.get("content") for message in messages if message["role"] == "assistant"]
    assert "Answer 1 to “Hello”." in said
    results = [message["content"] for message in messages if message["role"] == "tool"]
    assert results[0] == "Oslo: 3 °C, snow"
    assert list(told[-1]["state"]["files"]) == ["a.txt"]
    assert sum(isinstance(event.data, ExchangeRequest) for event in log) == 3
    assert not check_log(log)


async def test_an_ag_ui_agent_is_informed_of_an_error_and_a_run_is_made_once(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        told = await played("agui.mjs", server.url, TOKEN, "thread-2", steps=[{"text": "Please fail"}])
        assert told[0]["events"][-1]["type"] == "RUN_ERROR"
        assert "out of order" in str(told[0])
        steps = [{"text": "Hello", "runId": "run-1"}]
        both = await asyncio.gather(
            *(played("agui.mjs", server.url, TOKEN, "thread-3", steps=steps) for _ in range(2)),
        )
        assert [run[0]["messages"][-1]["content"] for run in both] == ["Answer 1 to “Hello”."] * 2
        requests = 0
        for info in (await server.context.sessions.list()).sessions:
            requests += sum(isinstance(event.data, ExchangeRequest) for event in await server.log(info.id))
        assert requests == 2
