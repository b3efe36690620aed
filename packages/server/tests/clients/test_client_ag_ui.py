"""The `@ag-ui/client` package against /agui."""

import json
from pathlib import Path
from typing import Any

from heald.core.events import ExchangeResponse
from heald.sessions.settings import SessionSettings
from heald_check.checker import check_log
from registry_clients import run_node
from scripted_agents import LOCATE, PDF, PIXEL, launch, model, slow, weather
from serving_parts import TOKEN, Served, served

TOOLS = {"weather": weather, "launch": launch}
ASKING = SessionSettings(permissions="ask", tools=["launch", "ask"])

Step = dict[str, Any]


async def _play(server: Served, steps: list[Step], **options: Any) -> list[Step]:
    agent = {"url": server.url, "token": TOKEN, "thread": "thread-1", **options}
    played = await run_node("agui_agent.mjs", agent, steps)
    assert len(played) == len(steps)
    return played


async def _statuses(server: Served) -> list[str]:
    (info,) = (await server.context.sessions.list()).sessions
    log = await server.log(info.id)
    assert not check_log(log)
    return [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]


def _outcome(step: Step) -> Any:
    return step["events"][-1].get("outcome")


def _last(step: Step) -> str:
    return step["messages"][-1]["content"]


async def test_several_runs_with_a_tool_in_one_session(tmp_path: Path) -> None:
    steps: list[Step] = [{"content": "Hello"}, {"content": "The weather?"}, {"content": "Thanks"}]
    async with served(tmp_path, model, tools=TOOLS) as server:
        played = await _play(server, steps)
        statuses = await _statuses(server)
    assert [step["errors"] for step in played] == [[]] * 3
    assert _last(played[2]) == "Answer 3 to “Thanks”."
    assert played[2]["events"][-1]["usage"][0]["outputTokens"] > 0
    assert statuses == ["completed"] * 3


async def test_interrupts_are_approved_denied_and_cancelled(tmp_path: Path) -> None:
    steps: list[Step] = [
        {"content": "Please launch"},
        {"answer": {"approved": True}},
        {"content": "Please launch it"},
        {"answer": {"approved": False, "reason": "Too loud."}},
        {"content": "Please launch again"},
        {"answer": None, "status": "cancelled"},
        {"content": "Thanks"},
    ]
    async with served(tmp_path, model, tools=TOOLS, defaults=ASKING) as server:
        played = await _play(server, steps)
        statuses = await _statuses(server)
    assert [step["errors"] for step in played] == [[]] * len(steps)
    assert _outcome(played[0])["type"] == "interrupt"
    (interrupt,) = played[0]["interrupts"]
    assert interrupt["toolCallId"] == played[0]["messages"][-1]["toolCalls"][0]["id"]
    assert played[1]["interrupts"] == []
    assert _last(played[1]) == "Done: ok rocket launched"
    assert "denied" in _last(played[3])
    assert "denied" in _last(played[5])
    assert _last(played[6]) == "Answer 4 to “Thanks”."
    assert statuses == ["completed"] * 4


async def test_tools_of_the_page_and_its_context(tmp_path: Path) -> None:
    steps: list[Step] = [
        {"content": "Use both"},
        {"result": "Bergen"},
        {"content": "What is seen?", "context": [{"description": "colour", "value": "blue"}]},
        {"content": "Thanks"},
    ]
    async with served(tmp_path, model, tools=TOOLS) as server:
        played = await _play(server, steps, tools=[LOCATE])
        statuses = await _statuses(server)
    assert [step["errors"] for step in played] == [[]] * len(steps)
    assert _outcome(played[0])["type"] == "success"
    assert len(_outcome(played[0])["pendingToolCallIds"]) == 1
    assert _last(played[1]) == "Done: ok Oslo: 3 °C, snow, ok Bergen"
    assert "- colour: blue" in _last(played[2])
    assert _last(played[3]) == "Answer 3 to “Thanks”."
    assert statuses == ["completed"] * 3


async def test_bad_results_are_refused_and_the_exchange_waits_on(tmp_path: Path) -> None:
    steps: list[Step] = [
        {"content": "Please locate"},
        {"result": "x" * 60_000, "call": "call_9"},
    ]
    async with served(tmp_path, model) as server:
        played = await _play(server, steps, tools=[LOCATE])
        (info,) = (await server.context.sessions.list()).sessions
        session = server.context.open_sessions.find_open(info.id)
        assert session is not None
        assert len(session.client_calls) == 1
    assert "did not call" in played[1]["errors"][0]


async def test_an_aborted_run_is_cancelled_and_a_repeated_one_is_resumed(tmp_path: Path) -> None:
    async with served(tmp_path, slow) as server:
        steps: list[Step] = [{"content": "Something long", "runId": "run-1", "abort": True}]
        _, repeated = await _play(server, [*steps, {"runId": "run-1", "repeat": True}])
        assert _last(repeated) == "Word after word. " * 200
        await _play(server, [{"content": "Something long", "runId": "run-2", "abort": True}], thread="thread-2")
        await server.wait_idle()
        statuses: list[str] = []
        for info in (await server.context.sessions.list()).sessions:
            statuses += [
                event.data.status for event in await server.log(info.id) if isinstance(event.data, ExchangeResponse)
            ]
    assert sorted(statuses) == ["cancelled", "completed"]


async def test_pictures_documents_and_errors(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "data", "value": PIXEL, "mimeType": "image/png"}}
    document = {"type": "document", "source": {"type": "data", "value": PDF, "mimeType": "application/pdf"}}
    foreign = {"type": "document", "source": {"type": "file", "value": "file-1"}}
    steps: list[Step] = [
        {"content": [{"type": "text", "text": "What is seen?"}, picture, document]},
        {"content": "Please fail"},
        {"content": [{"type": "text", "text": "Seen?"}, foreign]},
    ]
    async with served(tmp_path, model) as server:
        played = await _play(server, steps)
    assert _last(played[0]) == "I see text and image/png and application/pdf: What is seen?"
    assert "out of order" in str(played[1]["events"][-1])
    assert "names a file of a provider" in played[2]["errors"][0]


async def test_a_client_from_before_the_first_version_gets_outcomes_that_it_knows(tmp_path: Path) -> None:
    async with served(tmp_path, model) as server:

        async def run(text: str, **more: Any) -> Any:
            """The outcome of a run."""
            message = {"id": text, "role": "user", "content": text}
            body = {"threadId": text + str(more), "runId": "r1", "messages": [message], "tools": [LOCATE], **more}
            async with server.client.post("/agui", json=body) as answer:
                events = [json.loads(line[6:]) async for line in answer.content if line.startswith(b"data: ")]
            assert events[-1]["type"] == "RUN_FINISHED"
            return events[-1].get("outcome")

        assert await run("Please locate") == {"type": "success"}
        assert (await run("Please locate", protocolVersion="1.0"))["pendingToolCallIds"]
