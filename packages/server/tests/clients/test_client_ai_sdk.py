"""The chat of the Vercel AI SDK, version 7 and 6, against /api/chat."""

import io
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.sessions.settings import SessionSettings
from heald_check.checker import check_log
from heald_server.settings import ServerSettings
from registry_clients import run_node
from scripted_agents import LOCATE, PDF, PIXEL, launch, model, slow, weather
from serving_parts import OTHER, TOKEN, Served, served

TOOLS = {"weather": weather, "launch": launch}
ASKING = SessionSettings(permissions="ask", rules=["allow weather"], tools=["weather", "launch"])
VERSIONS = ["ai", pytest.param("ai6", marks=pytest.mark.clients)]

Step = dict[str, Any]


async def _play(server: Served, steps: list[Step], package: str = "ai", **options: Any) -> list[Step]:
    chat = {"package": package, "url": server.url, "token": TOKEN, "chat": "chat-1", **options}
    played = await run_node("ai_chat.mjs", chat, steps)
    assert len(played) == len(steps)
    return played


def _texts(message: Step) -> str:
    return "".join(part.get("text", "") for part in message["parts"] if part["type"] == "text")


def _states(message: Step) -> list[str]:
    return [part["state"] for part in message["parts"] if part["type"].startswith("tool-")]


async def _exchanges(server: Served) -> list[tuple[str, str]]:
    """The requests of the only session, with how they ended."""
    (info,) = (await server.context.sessions.list()).sessions
    log = await server.log(info.id)
    assert not check_log(log)
    requests = [event.data.message.words for event in log if isinstance(event.data, ExchangeRequest)]
    statuses = [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]
    return list(zip(requests, statuses, strict=True))


@pytest.mark.parametrize("package", VERSIONS)
async def test_a_chat_keeps_its_session_over_tools_edits_and_regenerations(package: str, tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "resume"},
        {"do": "send", "text": "Hello"},
        {"do": "send", "text": "The weather?"},
        {"do": "send", "text": "Thanks"},
        {"do": "edit", "index": 4, "text": "No thanks"},
        {"do": "regenerate"},
        {"do": "send", "text": "Bye"},
        {"do": "fetch"},
        {"do": "send", "text": "Still there?"},
    ]
    async with served(tmp_path, model, tools=TOOLS) as server:
        played = await _play(server, steps, package)
        exchanges = await _exchanges(server)
    assert [step["errors"] for step in played] == [[]] * len(steps)
    assert _texts(played[2]["messages"][-1]) == "Let me see.Done: ok Oslo: 3 °C, snow"
    assert [_texts(step["messages"][-1]) for step in played[3:7]] == [
        "Answer 3 to “Thanks”.",
        "Answer 3 to “No thanks”.",
        "Answer 3 to “No thanks”.",
        "Answer 4 to “Bye”.",
    ]
    assert played[4]["messages"][-1]["id"] != played[5]["messages"][-1]["id"]
    assert [text for text, _ in exchanges] == [
        "Hello",
        "The weather?",
        "Thanks",
        "No thanks",
        "No thanks",
        "Bye",
        "Still there?",
    ]
    assert [message["role"] for message in played[7]["messages"]] == ["user", "assistant"] * 4
    assert [_texts(message) for message in played[7]["messages"]] == [
        _texts(earlier) for earlier in played[6]["messages"]
    ]
    assert [_states(message) for message in played[7]["messages"]] == [
        _states(earlier) for earlier in played[6]["messages"]
    ]
    assert _texts(played[8]["messages"][-1]) == "Answer 5 to “Still there?”."


@pytest.mark.parametrize("package", VERSIONS)
async def test_approvals_end_the_stream_and_the_decision_continues_the_message(package: str, tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "send", "text": "Please launch"},
        {"do": "approve", "approved": True},
        {"do": "send", "text": "Please launch it"},
        {"do": "approve", "approved": False, "reason": "Too loud."},
        {"do": "send", "text": "Thanks"},
    ]
    async with served(tmp_path, model, tools=TOOLS, defaults=ASKING) as server:
        played = await _play(server, steps, package)
        exchanges = await _exchanges(server)
    assert [step["errors"] for step in played] == [[]] * len(steps)
    assert [step["status"] for step in played] == ["ready"] * len(steps)
    assert _states(played[0]["messages"][-1]) == ["approval-requested"]
    assert _states(played[1]["messages"][-1]) == ["output-available"]
    assert played[1]["messages"][-1]["id"] == played[0]["messages"][-1]["id"]
    assert _texts(played[1]["messages"][-1]) == "I launch it.Done: ok rocket launched"
    assert _states(played[3]["messages"][-1]) == ["output-denied"]
    assert "denied" in _texts(played[3]["messages"][-1])
    assert [len(step["messages"]) for step in played] == [2, 2, 4, 4, 6]
    assert exchanges == [("Please launch", "completed"), ("Please launch it", "completed"), ("Thanks", "completed")]


@pytest.mark.parametrize("package", VERSIONS)
async def test_the_page_runs_its_own_tools(package: str, tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "send", "text": "Use both"},
        {"do": "output", "tool": "locate", "output": {"place": "Bergen"}},
        {"do": "send", "text": "Please locate"},
        {"do": "output", "tool": "locate", "error": "No signal."},
        {"do": "send", "text": "Thanks"},
    ]
    async with served(tmp_path, model, tools=TOOLS) as server:
        played = await _play(server, steps, package, tools=[LOCATE])
        exchanges = await _exchanges(server)
    assert [step["errors"] for step in played] == [[]] * len(steps)
    assert _states(played[0]["messages"][-1]) == ["output-available", "input-available"]
    assert _texts(played[1]["messages"][-1]) == 'First ours.Done: ok Oslo: 3 °C, snow, ok {"place":"Bergen"}'
    assert "error No signal." in _texts(played[3]["messages"][-1])
    assert [len(step["messages"]) for step in played] == [2, 2, 4, 4, 6]
    assert [status for _, status in exchanges] == ["completed"] * 3


async def test_a_message_ends_a_call_that_waits(tmp_path: Path) -> None:
    steps: list[Step] = [{"do": "send", "text": "Please locate"}, {"do": "send", "text": "Never mind"}]
    async with served(tmp_path, model) as server:
        played = await _play(server, steps, tools=[LOCATE])
        exchanges = await _exchanges(server)
    assert _texts(played[1]["messages"][-1]) == "Answer 2 to “Never mind”."
    assert [status for _, status in exchanges] == ["cancelled", "completed"]


@pytest.mark.parametrize("package", VERSIONS)
async def test_a_chat_is_stopped_cut_off_and_resumed(package: str, tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "stop", "text": "Something long"},
        {"do": "send", "text": "Go on"},
        {"do": "leave", "text": "Something longer"},
        {"do": "resume"},
        {"do": "send", "text": "Thanks"},
    ]
    async with served(tmp_path, slow) as server:
        played = await _play(server, steps, package)
        exchanges = await _exchanges(server)
    whole = "Word after word. " * 200
    assert 0 < len(_texts(played[0]["messages"][-1])) < len(whole)
    assert 0 < len(_texts(played[2]["messages"][-1])) < len(whole)
    assert _texts(played[3]["messages"][-1]).endswith(whole)
    assert [status for _, status in exchanges] == ["cancelled", "completed", "completed", "completed"]


async def test_pictures_files_and_errors(tmp_path: Path) -> None:
    files = [
        {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PIXEL}"},
        {
            "type": "file",
            "mediaType": "application/pdf",
            "filename": "a.pdf",
            "url": f"data:application/pdf;base64,{PDF}",
        },
    ]
    bad = [{"type": "file", "mediaType": "application/pdf", "url": "blob:nowhere"}]
    steps: list[Step] = [
        {"do": "send", "text": "What is seen?", "files": files},
        {"do": "send", "text": "Please fail"},
        {"do": "send", "text": "Seen?", "files": bad},
    ]
    async with served(tmp_path, model) as server:
        played = await _play(server, steps)
    assert _texts(played[0]["messages"][-1]) == "I see image/png and application/pdf and text: What is seen?"
    assert "out of order" in played[1]["errors"][0]
    assert "data: address" in played[2]["errors"][-1]


async def test_the_socket_of_version_7(tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "resume"},
        {"do": "send", "text": "Hello"},
        {"do": "send", "text": "Please locate"},
        {"do": "output", "tool": "locate", "output": "Bergen"},
        {"do": "leave", "text": "Something long"},
        {"do": "send", "text": "Please fail"},
    ]
    async with served(tmp_path, slow, tools=TOOLS) as server:
        played = await _play(server, steps, transport="socket", tools=[LOCATE])
        exchanges = await _exchanges(server)
    assert [step["errors"] for step in played[:5]] == [[]] * 5
    assert _texts(played[1]["messages"][-1]) == "Answer 1 to “Hello”."
    assert _texts(played[3]["messages"][-1]) == "I ask you.Done: ok Bergen"
    assert "out of order" in played[5]["errors"][0]
    assert [status for _, status in exchanges] == ["completed", "completed", "cancelled", "failed"]


# --- bad input -------------------------------------------------------------------------------------------------------


def _answer(call: str, **fields: Any) -> dict[str, Any]:
    part = {"type": "tool-locate", "toolCallId": call, "state": "output-available", "input": {"of": "me"}}
    return {"id": "m2", "role": "assistant", "parts": [{"type": "step-start"}, part | {"output": "Bergen"} | fields]}


async def _post(server: Served, messages: list[Any], token: str = TOKEN) -> tuple[int, str]:
    body = {"id": "chat-1", "messages": messages, "tools": [LOCATE], "trigger": "submit-message"}
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    data = io.BytesIO(json.dumps(body).encode())
    async with aiohttp.ClientSession(server.url) as client, client.post("/api/chat", data=data, headers=headers) as got:
        return got.status, await got.text()


async def test_bad_answers_are_refused_and_the_exchange_waits_on(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:
        asked = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Please locate"}]}
        status, text = await _post(server, [asked])
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        (call,) = [chunk["toolCallId"] for chunk in chunks if chunk["type"] == "tool-input-available"]
        approval = {"id": "appr_9", "approved": True}
        bad = [
            ([asked, _answer(call, output="x" * 1_100_000)], 413, "send less"),
            ([asked, _answer("call_9", state="approval-responded", approval=approval)], 409, "not open any more"),
            ([asked, _answer(call, state="input-available")], 400, "last message"),
            ([asked, {"id": "m2", "role": "assistant", "parts": "none"}], 400, "last message"),
        ]
        for messages, expected, why in bad:
            status, text = await _post(server, messages)
            assert (status, why in text) == (expected, True), text
        await _post(server, [asked, _answer(call)], OTHER)  # continues in a session of the other owner
        (info,) = (await server.context.sessions.list(owner="")).sessions
        session = server.context.open_sessions.find_open(info.id)
        assert session is not None
        assert [pending.id for pending in session.client_calls] == [call]
        for _ in range(2):  # the same answer twice gives the same response
            status, text = await _post(server, [asked, _answer(call)])
            assert status == 200
            assert '"finishReason":"stop"' in text
        assert session.client_calls == []


async def test_a_result_after_its_time_continues_from_the_history(tmp_path: Path) -> None:
    steps: list[Step] = [
        {"do": "send", "text": "Please locate"},
        {"do": "settle"},
        {"do": "output", "tool": "locate", "output": "Bergen"},
    ]
    settings = ServerSettings(port=0, client_tool_timeout=0.01)
    async with served(tmp_path, model, settings=settings) as server:
        played = await _play(server, steps, tools=[LOCATE])
    assert played[-1]["errors"] == []
    assert _texts(played[-1]["messages"][-1]).endswith("Done: ok Bergen")
