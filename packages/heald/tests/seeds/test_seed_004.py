"""Document 004, four layers of events: a client that reads the dialect `agentx`, and the document's promises."""

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from agentx_parts import ASKED, LISTING, TOKEN, S, exchange, of, served

import heald
import heald_server
from heald.agent.assembler import MessageAssembler
from heald.agent.tracker import ExchangeTracker
from heald.core.errors import InvalidRequest
from heald.core.events import InputJsonDelta, MessageDelta, MessageStart, MessageStop, ToolUseContentBlockStart
from heald.core.json import JsonObject
from heald.core.turn import StopReason, Usage
from heald_check import check_log


@pytest.fixture
async def events(tmp_path: Path) -> list[JsonObject]:
    """The events of an exchange with one call."""
    async with served(tmp_path, *ASKED, piece=4) as server:
        return await exchange(server)


# --- the envelope -----------------------------------------------------------------------------------------------------


def test_envelope(events: list[JsonObject]) -> None:
    assert len({event["uuid"] for event in events}) == len(events)
    assert len({event["agentId"] for event in events}) == 1
    assert len({event["exchangeId"] for event in events}) == 1
    assert all(type(event["timestamp"]) is int for event in events)
    assert all(earlier["timestamp"] <= later["timestamp"] for earlier, later in pairwise(events))
    assert events[0]["timestamp"] > 1_600_000_000_000, "milliseconds"


# --- stream layer -----------------------------------------------------------------------------------------------------


def test_tool_use_content_block_start(events: list[JsonObject]) -> None:
    (start,) = of(events, "tool_use_content_block_start")
    (call,) = of(events, "tool_call")
    assert (start["index"], start["data"]) == (1, {"id": call["data"]["id"], "name": "list_folder"})


def test_input_json_delta(events: list[JsonObject]) -> None:
    deltas = of(events, "input_json_delta")
    assert len(deltas) > 1
    assert {delta["index"] for delta in deltas} == {1}
    assert json.loads("".join(delta["data"]["partialJson"] for delta in deltas)) == {"path": "."}


def test_tool_use_content_block_stop(events: list[JsonObject]) -> None:
    (stop,) = of(events, "tool_use_content_block_stop")
    (call,) = of(events, "tool_call")
    assert (stop["index"], stop["data"]) == (1, {"id": call["data"]["id"]})


def test_tool_call(events: list[JsonObject]) -> None:
    (call,) = of(events, "tool_call")
    assert set(call["data"]) == {"id", "name", "input"}
    assert (call["data"]["name"], call["data"]["input"]) == ("list_folder", {"path": "."})


def test_tool_result(events: list[JsonObject]) -> None:
    (call,) = of(events, "tool_call")
    (result,) = of(events, "tool_result")
    assert result["data"] == {"toolId": call["data"]["id"], "content": LISTING, "isError": False, "status": "ok"}


def test_text_delta(events: list[JsonObject]) -> None:
    deltas = of(events, "text_delta")
    assert "".join(delta["data"]["text"] for delta in deltas) == "Let me look. There are two files."
    assert {delta["index"] for delta in deltas} == {0}


def test_message_delta_stop_reason(events: list[JsonObject]) -> None:
    assert [delta["data"]["delta"]["stopReason"] for delta in of(events, "message_delta")] == ["tool_use", "end_turn"]


def test_message_start_and_message_stop(events: list[JsonObject]) -> None:
    starts, stops = of(events, "message_start"), of(events, "message_stop")
    assert len(starts) == len(stops) == 2
    assert [event["data"]["message"]["id"] for event in starts] == [event["data"]["message"]["id"] for event in stops]


# --- state layer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        *(("conversation_start", 1), ("conversation_thinking", 2), ("conversation_responding", 2)),
        *(("conversation_end", 1), ("tool_planned", 1), ("tool_executing", 1), ("tool_completed", 1)),
    ],
)
def test_state_layer(events: list[JsonObject], kind: str, times: int) -> None:
    assert len(of(events, kind)) == times


def test_state_of_a_tool(events: list[JsonObject]) -> None:
    (call,) = of(events, "tool_call")
    states = [event for event in events if event["type"] in ("tool_planned", "tool_executing", "tool_completed")]
    assert [event["type"] for event in states] == ["tool_planned", "tool_executing", "tool_completed"]
    assert {(event["data"]["id"], event["data"]["name"]) for event in states} == {(call["data"]["id"], "list_folder")}
    assert states[-1]["data"]["durationMs"] >= 0


# --- message layer ----------------------------------------------------------------------------------------------------


def test_user_message(events: list[JsonObject]) -> None:
    (message,) = of(events, "user_message")
    assert (message["data"]["role"], message["data"]["content"]) == ("user", "Which files are there?")


def test_assistant_message(events: list[JsonObject]) -> None:
    first, second = of(events, "assistant_message")
    assert (first["data"]["role"], first["data"]["content"]) == ("assistant", "Let me look. ")
    assert second["data"]["content"] == "There are two files."


def test_tool_use_message(events: list[JsonObject]) -> None:
    """Once, with a placeholder that `tool_result` fills; the update repeats it with the result."""
    (call,) = of(events, "tool_call")
    (first,) = (event["data"] for event in of(events, "tool_use_message"))
    (second,) = (event["data"] for event in of(events, "tool_use_message_update"))
    named = {"id": call["data"]["id"], "name": "list_folder"}
    assert first == {
        "id": first["id"],
        "role": "tool-use",
        "toolCall": {"type": "tool-call", **named, "input": {"path": "."}},
        "toolResult": {"type": "tool-result", **named, "output": {"type": "text", "value": ""}},
        "timestamp": call["timestamp"],
    }
    result = {"type": "tool-result", **named, "output": {"type": "text", "value": LISTING}}
    assert second == first | {"toolResult": result}


async def test_tool_use_message_of_a_failed_call(tmp_path: Path) -> None:
    async with served(tmp_path, [S.call("broken")], "It failed.") as server:
        events = await exchange(server)
    (result,) = of(events, "tool_result")
    output = of(events, "tool_use_message_update")[-1]["data"]["toolResult"]["output"]
    assert result["data"]["isError"] is True
    assert output == {"type": "error-text", "value": result["data"]["content"]}
    assert "no such disk" in output["value"]


async def test_tool_use_message_in_our_own_log(tmp_path: Path) -> None:
    async with served(tmp_path, *ASKED) as server:
        session = (await exchange(server))[0]["agentId"]
        log = await server.log(session)
    messages = [event.data for event in log if isinstance(event.data, heald.events.ToolUseMessage)]
    assert [message.result and message.result.text for message in messages] == [None, LISTING]
    assert messages[0].call == messages[1].call
    assert check_log(log) == []


async def test_error_message(tmp_path: Path) -> None:
    async with served(tmp_path, [S.fail(InvalidRequest("The model is closed today."))]) as server:
        events = await exchange(server)
    (message,) = of(events, "error_message")
    assert (message["data"]["role"], message["data"]["message"]) == ("error", "The model is closed today.")
    assert events[-1]["data"]["status"] == "failed"


# --- exchange layer ---------------------------------------------------------------------------------------------------


def test_exchange_request(events: list[JsonObject]) -> None:
    request, message = events[0], of(events, "user_message")[0]
    assert request["type"] == "exchange_request"
    assert request["data"]["requestedAt"] == request["timestamp"]
    assert {**request["data"]["userMessage"], "timestamp": 0} == {**message["data"], "timestamp": 0}


def test_exchange_response(events: list[JsonObject]) -> None:
    response, answer = events[-1], of(events, "assistant_message")[-1]
    data = response["data"]
    assert data["assistantMessage"] == answer["data"]
    assert data["respondedAt"] == response["timestamp"]
    assert type(data["durationMs"]) is int
    assert 0 <= data["durationMs"] <= data["respondedAt"] - events[0]["data"]["requestedAt"] + 50
    assert set(data["usage"]) == {"input", "output"}
    assert all(type(tokens) is int for tokens in data["usage"].values())
    assert data["costUsd"] is None or data["costUsd"] >= 0


def test_exchange_response_at_end_turn_and_not_at_message_stop(events: list[JsonObject]) -> None:
    kinds = [event["type"] for event in events]
    assert kinds.count("message_stop") == 2
    assert kinds.count("exchange_response") == 1
    assert kinds[-1] == "exchange_response"
    assert events[-1]["data"]["stopReason"] == "end_turn"


# --- order and flow ---------------------------------------------------------------------------------------------------


def test_expected_order(events: list[JsonObject]) -> None:
    expected = ["tool_call", "tool_use_message", "tool_result", "exchange_response"]
    kinds = [event["type"] for event in events if event["type"] in expected]
    assert kinds == expected


def test_browser_console_order(events: list[JsonObject]) -> None:
    expected = ["conversation_start", "tool_use_message", "tool_result", "assistant_message", "exchange_response"]
    positions = [
        max(number for number, event in enumerate(events) if event["type"] == kind)
        if kind in ("assistant_message", "exchange_response")
        else next(number for number, event in enumerate(events) if event["type"] == kind)
        for kind in expected
    ]
    assert positions == sorted(positions)


def test_data_flow(events: list[JsonObject]) -> None:
    """The four steps: the message, the decision for a tool, its execution, the final response."""
    steps = [
        *("user_message", "message_start", "tool_use_content_block_start", "tool_use_content_block_stop", "tool_call"),
        *("tool_executing", "tool_result", "exchange_response"),
    ]
    kinds = [event["type"] for event in events if event["type"] in steps]
    assert kinds == [
        *("user_message", "message_start", "tool_use_content_block_start", "tool_use_content_block_stop", "tool_call"),
        *("tool_executing", "tool_result", "message_start", "exchange_response"),
    ]


async def test_over_server_sent_events_with_resume(tmp_path: Path) -> None:
    async with served(tmp_path, *ASKED, piece=4) as server:
        told = await exchange(server)
        session = told[0]["agentId"]
        whole = await _read_sse(server, session, 0)
        assert [data for _, data in whole] == [{key: event[key] for key in event if key != "seq"} for event in told]
        middle = next(number for number, (cursor, _) in enumerate(whole) if cursor is not None and number > 8)
        cursor = whole[middle][0]
        assert cursor is not None
        assert await _read_sse(server, session, cursor) == whole[middle + 1 :]


async def _read_sse(server: Any, session: str, after: int) -> list[tuple[int | None, JsonObject]]:
    headers = {"Last-Event-ID": str(after)} if after else {}
    frames: list[tuple[int | None, JsonObject]] = []
    cursor: int | None = None
    async with (
        asyncio.timeout(120),
        server.client.get(f"/sessions/{session}/events?dialect=agentx", headers=headers) as answer,
    ):
        assert answer.status == 200
        async for line in answer.content:
            if line.startswith(b"id: "):
                cursor = int(line[4:])
            elif line.startswith(b"data: "):
                frames.append((cursor, json.loads(line[6:])))
                cursor = None
                if frames[-1][1]["type"] == "exchange_response":
                    return frames
    raise AssertionError("the stream ended first")


async def test_over_websocket_with_resume(tmp_path: Path) -> None:
    async with served(tmp_path, *ASKED, piece=4) as server:
        told = await exchange(server)
        (at,) = (number for number, event in enumerate(told) if event["type"] == "tool_executing")
        url = f"/sessions/{told[0]['agentId']}/ws?dialect=agentx"
        async with asyncio.timeout(120), server.client.ws_connect(url) as socket:
            await socket.send_json({"resume": told[at]["seq"]})
            rest: list[JsonObject] = []
            while not rest or rest[-1]["type"] != "exchange_response":
                rest.append(await socket.receive_json())
    assert rest == told[at + 1 :]


# --- components -------------------------------------------------------------------------------------------------------


async def test_event_bus_with_several_reactors() -> None:
    seen: dict[str, list[str]] = {"a": [], "b": []}
    agent = heald.Agent(S(["Hello."]))
    agent.subscribe(lambda event: seen["a"].append(event.type))
    agent.subscribe(lambda event: seen["b"].append(event.type))
    await agent.run("Hi")
    await agent.close()
    assert seen["a"] == seen["b"]
    assert seen["a"][-1] == "exchange_response"


def test_agent_message_assembler() -> None:
    assembler = MessageAssembler()
    assembler.feed(MessageStart("msg_1", "m", 1))
    assembler.feed(ToolUseContentBlockStart(0, "b", "call_1", "list_folder"))
    for piece in ('{"pa', 'th": "."}'):
        assert assembler.feed(InputJsonDelta(0, "b", piece)) == []
    assembler.feed(MessageDelta("msg_1", "tool_use", Usage()))
    made = assembler.feed(MessageStop("msg_1"))
    assert [payload.type for payload in made] == [
        *("assistant_message", "tool_call", "tool_use_message", "tool_planned")
    ]
    assert made[1].input == {"path": "."}  # type: ignore[attr-defined]


def test_agent_exchange_tracker() -> None:
    tracker = ExchangeTracker()
    tracker.feed(MessageDelta("msg_1", "end_turn", Usage(input=1000, output=500)))
    response = tracker.response("completed", 20_000)
    assert (response.stop_reason, response.duration_ms, response.usage.total) == ("end_turn", 20_000, 1500)


def test_stop_reason() -> None:
    assert {"end_turn", "tool_use", "max_tokens", "stop_sequence"} <= set(get_args(StopReason))


# --- future enhancements ----------------------------------------------------------------------------------------------

TOOL: JsonObject = {"name": "clock", "description": "The time of the client.", "input_schema": {"type": "object"}}


async def _run_clock(tmp_path: Path, answer: Callable[[JsonObject], object]) -> list[JsonObject]:
    """Two equal calls of a tool that the client runs. `answer` gives the result of a call."""
    results: list[JsonObject] = []
    async with (
        served(tmp_path, [S.call("clock")], [S.call("clock")], "Noon.") as server,
        heald_server.AgentXClient(server.url, TOKEN, client_tools=[TOOL]) as agent,
    ):

        async def on_tool_call(event: JsonObject) -> None:
            await agent.send_tool_result(event["data"]["id"], answer(event["data"]))

        agent.react({"onToolCall": on_tool_call, "onToolResult": lambda event: results.append(event["data"])})
        response = await asyncio.wait_for(agent.run("What time is it?"), 120)
    assert response["data"]["assistantMessage"]["content"] == "Noon."
    return results


async def test_tool_execution_middleware(tmp_path: Path) -> None:
    results = await _run_clock(tmp_path, lambda call: f"{call['name']}: 12:00")
    assert [(result["content"], result["isError"]) for result in results] == [("clock: 12:00", False)] * 2


async def test_tool_permission_system(tmp_path: Path) -> None:
    denial = {"type": "execution-denied", "reason": "Not at this hour."}
    results = await _run_clock(tmp_path, lambda _: denial)
    assert [(result["status"], result["isError"]) for result in results] == [("denied", True)] * 2
    assert all("Not at this hour." in result["content"] for result in results)


async def test_tool_permission_system_of_the_server(tmp_path: Path) -> None:
    """The server asks before it runs one of its own tools."""
    async with (
        served(tmp_path, *ASKED) as server,
        heald_server.AgentXClient(server.url, TOKEN, permissions="ask", tools=["list_folder"]) as agent,
    ):
        results: list[JsonObject] = []

        async def on_approval_requested(event: JsonObject) -> None:
            await agent.deny(event["data"]["approval"], "Not this folder.")

        agent.react({"onApprovalRequested": on_approval_requested, "onToolResult": results.append})
        await asyncio.wait_for(agent.run("Which files?"), 120)
        assert server.gate.runs == 0
    assert results[0]["data"]["status"] == "denied"


async def test_tool_result_caching(tmp_path: Path) -> None:
    cache: dict[str, str] = {}
    runs: list[str] = []

    def answer(call: JsonObject) -> str:
        key = f"{call['name']}:{json.dumps(call['input'])}"
        if key not in cache:
            runs.append(key)
            cache[key] = f"run {len(runs)}"
        return cache[key]

    results = await _run_clock(tmp_path, answer)
    assert [result["content"] for result in results] == ["run 1", "run 1"]
    assert len(runs) == 1


async def test_tool_result_caching_of_the_agent() -> None:
    runs: list[str] = []

    @heald.tool(pure=True)
    async def square(number: int) -> int:
        """Square a number."""
        runs.append("square")
        return number * number

    model = S([[S.call("square", number=3)], [S.call("square", number=3)], "Nine."])
    async with heald.Agent(model, tools=[square], cache=True) as agent:
        await agent.run("Three squared, twice.")
    assert runs == ["square"]


# --- reactors on every kind of agent ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["local", "stored", "remote"])
async def test_reactors(kind: str, tmp_path: Path) -> None:
    """Handlers, plain and asynchronous, and how they are unsubscribed."""
    seen: list[str] = []
    handled = asyncio.Event()

    def on_message(event: heald.events.Event) -> None:
        assert isinstance(event.data, heald.events.AssistantMessage)
        seen.append(event.data.message.text)

    async def on_exchange_response(event: heald.events.Event) -> None:
        await asyncio.sleep(0)
        seen.append(event.type)
        handled.set()

    async with served(tmp_path, "One.", "Two.") as server:
        agent = await _agent(kind, server.url)
        plain = agent.subscribe(on_message, types=["assistant_message"])
        slow = agent.subscribe(on_exchange_response, types=["exchange_response"])
        await agent.run("Hi")
        await asyncio.wait_for(handled.wait(), 60)
        plain.close()
        slow.close()
        await agent.run("Hi")
        await agent.close()
    assert sorted(seen) == ["One.", "exchange_response"]


async def _agent(kind: str, url: str) -> heald.AgentInterface:
    if kind == "remote":
        return heald_server.connect(url, TOKEN)
    agent = heald.Agent(S(["One.", "Two."]))
    return agent if kind == "local" else await heald.open_session("reactors", agent, store="memory:")
