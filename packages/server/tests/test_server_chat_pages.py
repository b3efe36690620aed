"""Bodies of chat pages at /api/chat: of assistant-ui, of Vercel's template, and of pages that stop an answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.providers.scripted import Script, ScriptedRequest
from scripted_agents import PIXEL, answers
from serving_parts import S, Served, served

TOOL = {"description": "Where the user is.", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}}


def ui(text: str, name: str = "m1", role: str = "user") -> dict[str, Any]:
    return {"id": name, "role": role, "parts": [{"type": "text", "text": text}]}


async def chat(server: Served, **body: Any) -> list[dict[str, Any]]:
    """The parts of an answer."""
    async with server.client.post("/api/chat", json=body) as answer:
        text = await answer.text()
        assert answer.status == 200, text
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def words(parts: list[dict[str, Any]]) -> str:
    return "".join(part["delta"] for part in parts if part["type"] == "text-delta")


# --- bodies ----------------------------------------------------------------------------------------------------------


async def test_assistant_ui_sends_its_tools_as_a_map(tmp_path: Path) -> None:
    """As `AssistantChatTransport` does, with no tools at all too."""
    begin: dict[str, Any] = {
        "id": "1",
        "trigger": "submit-message",
        "system": "Be a pirate.",
        "config": {},
        "callSettings": None,
    }
    systems: list[str] = []

    def script(request: ScriptedRequest) -> Script:
        systems.append(request.settings.system)
        return answers(request)

    async with served(tmp_path, lambda: S([script] * 9)) as server:
        assert words(await chat(server, **begin, tools={}, messages=[ui("Hello")])) == "Answer 1 to “Hello”."
        parts = await chat(server, id="2", tools={"locate": TOOL}, messages=[ui("Please locate")])
    assert [part["toolName"] for part in parts if part["type"] == "tool-input-available"] == ["locate"]
    assert "Be a pirate." in systems[0]
    assert "Be a pirate." not in systems[1]


async def test_assistant_ui_sends_model_messages_with_the_results_of_its_tools(tmp_path: Path) -> None:
    """As `useDataStreamRuntime` does: its messages have no parts, and its requests for one answer share an id."""
    seen: list[list[str]] = []

    def script(request: ScriptedRequest) -> Script:
        last = request.messages[-1].content
        seen.append([getattr(block, "media_type", "text") for block in last])
        return answers(request)

    image = {"type": "file", "data": PIXEL, "mediaType": "image/png"}
    request = {"role": "user", "content": [{"type": "text", "text": "Please locate"}, image]}
    call = {"type": "tool-call", "toolName": "locate", "input": {"of": "me"}}
    async with served(tmp_path, lambda: S([script] * 9)) as server:
        begin: dict[str, Any] = {"tools": {"locate": TOOL}, "unstable_assistantMessageId": "a1", "runConfig": {}}
        parts = await chat(server, **begin, messages=[request, {"role": "assistant", "content": []}])
        (name,) = [part["toolCallId"] for part in parts if part["type"] == "tool-input-available"]

        def answered(value: object, kind: str) -> list[dict[str, Any]]:
            result = {"type": "tool-result", "toolCallId": name, "toolName": "locate"}
            results = [{**result, "output": {"type": kind, "value": value}}]
            asked = {"role": "assistant", "content": [{**call, "toolCallId": name}]}
            return [request, asked, {"role": "tool", "content": results}]

        continued = await chat(server, **begin, messages=answered("Bergen", "json"))
        late = begin | {"unstable_assistantMessageId": "a2"}
        restarted = await chat(server, **late, messages=answered({"why": "no"}, "error-json"))
        sessions = (await server.context.sessions.list()).sessions
        await server.wait_idle()
    assert words(continued) == "Done: ok Bergen"
    assert words(restarted) == 'Done: error {"why":"no"}'
    assert seen[0] == ["text", "image/png"]
    assert len(sessions) == 2  # the result of the first answer continued its exchange


async def test_a_data_stream_page_that_goes_cancels_its_answer(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([answers], piece=6, pause=0.02)) as server:
        body = {"messages": [{"role": "user", "content": "A long one"}], "unstable_assistantMessageId": "a1"}
        async with server.client.post("/api/chat", json=body) as answer:
            await answer.content.readline()
            session = answer.headers["X-Heald-Session"]
        await server.wait_idle()
        ends = [event.data for event in await server.log(session) if isinstance(event.data, ExchangeResponse)]
    assert [end.status for end in ends] == ["cancelled"]


async def test_vercels_template_sends_its_last_message(tmp_path: Path) -> None:
    more = {"selectedChatModel": "chat-model", "selectedVisibilityType": "private"}
    async with served(tmp_path, lambda: S([answers] * 9)) as server:
        assert words(await chat(server, id="1", message=ui("Hello"), **more)) == "Answer 1 to “Hello”."
        assert words(await chat(server, id="1", message=ui("More", "m2"), **more)) == "Answer 2 to “More”."
        assert len((await server.context.sessions.list()).sessions) == 1


@pytest.mark.parametrize("is_ui", [True, False])
async def test_a_last_message_is_added_to_a_known_conversation(is_ui: bool, tmp_path: Path) -> None:
    def message(text: str, name: str) -> dict[str, Any]:
        return ui(text, name) if is_ui else {"role": "user", "content": text}

    async with served(tmp_path, lambda: S([answers] * 9)) as server:
        for number in range(1, 4):
            body = {"id": "1", "messages": [message(f"Request {number}", f"m{number}")]}
            async with server.client.post("/api/chat", json=body) as answer:
                text = await answer.text()
            assert f"Answer {number}" in "".join(
                part.get("delta", "") or part.get("content") or ""
                for part in (json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {"))
            )
        assert len((await server.context.sessions.list()).sessions) == 1


async def test_a_first_message_that_is_regenerated_goes_back(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([answers] * 9)) as server:
        await chat(server, id="1", messages=[ui("Hello")])
        again = await chat(server, id="1", messages=[ui("Hello")], trigger="regenerate-message")
        assert words(again) == "Answer 1 to “Hello”."


async def test_a_body_without_messages_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        bodies: list[Any] = [{}, {"messages": []}, {"message": "Hello"}, []]
        for body in bodies:
            async with server.client.post("/api/chat", json=body) as answer:
                assert answer.status == 400


# --- an answer that was stopped --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_watched", [False, True])
async def test_a_new_message_ends_an_answer_that_nobody_listens_to(is_watched: bool, tmp_path: Path) -> None:
    gate = asyncio.Event()

    @heald.tool
    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    def script(request: ScriptedRequest) -> Script:
        last = request.messages[-1]
        return ["I wait.", S.call("wait")] if last.role == "user" and "Wait" in last.words else "Done."

    async with served(tmp_path, lambda: S([script] * 9), tools={"wait": wait}) as server:
        async with server.client.post("/api/chat", json={"id": "1", "messages": [ui("Wait")]}) as first:
            session = first.headers["X-Heald-Session"]
            while b"tool-input-available" not in await first.content.readline():
                pass
            first.close()  # as `stop()` does
        hub = server.context.open_sessions.hub(session)
        async with asyncio.timeout(120):
            while hub.readers:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        watching = server.client.get(f"/sessions/{session}/events") if is_watched else None
        watcher = await watching if watching is not None else None
        messages = [ui("Wait"), ui("I wait.", "a1", "assistant"), ui("Go on", "m2")]
        asking = asyncio.create_task(chat(server, id="1", messages=messages))
        if watcher is not None:
            async with asyncio.timeout(120):
                while b"conversation_queued" not in await watcher.content.readline():
                    pass
            gate.set()
        async with asyncio.timeout(120):
            assert words(await asking) == "Done."
        if watcher is not None:
            watcher.close()
        ends = [event.data.status for event in await server.log(session) if isinstance(event.data, ExchangeResponse)]
    assert ends == (["completed", "completed"] if is_watched else ["cancelled", "completed"])


async def test_a_repeated_message_joins_the_answer_that_nobody_listens_to(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([answers] * 9, piece=4, pause=0.005)) as server:
        body = {"id": "1", "messages": [ui("A long one")]}
        async with server.client.post("/api/chat", json=body) as first:
            await first.content.readline()
            first.close()
        assert words(await chat(server, **body)) == "Word after word. " * 200
        (info,) = (await server.context.sessions.list()).sessions
        assert sum(isinstance(event.data, ExchangeResponse) for event in await server.log(info.id)) == 1


# --- usage -----------------------------------------------------------------------------------------------------------


async def test_the_usage_is_in_the_metadata_of_the_message(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([answers] * 9)) as server:
        parts = await chat(server, id="1", messages=[ui("Hello")])
        async with server.client.get("/api/chat/1") as answer:
            stored = (await answer.json())["messages"][-1]
    (finish,) = [part for part in parts if part["type"] == "finish"]
    usage = finish["messageMetadata"]["usage"]
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"] > 0
    assert stored["metadata"] == finish["messageMetadata"]
