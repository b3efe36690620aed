"""Conversations of clients of /v1: a session continues only where its client names it. Equal words are not a name."""

import asyncio
import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from heald.core.events import ExchangeRequest
from heald.core.json import as_objects
from heald.core.messages import Message, ToolCall, ToolResult
from heald.providers.scripted import Script, ScriptedCall, ScriptedRequest
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import OTHER, S, Served, served

EQUAL = 50
CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
NEXT = [
    {"role": "user", "content": "Write it"},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Read it"},
]
TOOL = {"name": "locate", "parameters": {"type": "object", "properties": {"of": {"type": "string"}}}}
FUNCTION = {"type": "function", "function": TOOL}
MANY = ServerSettings(port=0, limits=ServerLimits(exchanges=10_000, sessions_per_minute=100_000))


numbers = count(1)


def keeps_files(request: ScriptedRequest) -> Script:
    """Writes a file that is like no other, in the words of all others, and reads it when asked."""
    last = request.messages[-1]
    asked = max(number for number, message in enumerate(request.messages) if message.role == "user")
    reads = "Read" in request.messages[asked].words
    if last.role == "tool":
        return _result(last) if reads else "Done."
    if reads:
        return S.call("read_file", path="note.txt")
    return S.call("write_file", path="note.txt", content=f"secret {next(numbers)}.")


def _result(message: Message) -> str:
    return "".join(block.text for block in message.content if isinstance(block, ToolResult))


def calls_client(request: ScriptedRequest) -> Script:
    """Calls the client's tool, always under the same id, and repeats the result."""
    last = request.messages[-1]
    if last.role == "tool":
        return _result(last)
    return ScriptedCall("locate", {"of": "me"}, id="call_1") if "locate" in last.words else "Hello."


async def chat(
    server: Served, messages: list[dict[str, Any]], headers: Mapping[str, str] | None = None, **body: Any
) -> tuple[dict[str, Any], aiohttp.ClientResponse]:
    request = {"messages": messages, "store": True, **body}
    async with server.client.post(CHAT, json=request, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return (await answer.json())["choices"][0]["message"], answer


async def respond(
    server: Served, items: list[dict[str, Any]], headers: Mapping[str, str] | None = None, **body: Any
) -> dict[str, Any]:
    async with server.client.post(RESPONSES, json={"input": items, **body}, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


def said(response: Mapping[str, Any]) -> str:
    return "".join(part["text"] for item in response["output"] for part in item.get("content", []))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


# --- equal conversations ---------------------------------------------------------------------------------------------


async def ask(server: Served, api: str, messages: list[dict[str, Any]], headers: Mapping[str, str] = {}) -> str:
    if api == CHAT:
        return (await chat(server, messages, headers))[0]["content"]
    return said(await respond(server, messages, headers))


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_the_next_turn_of_one_does_not_read_the_files_of_another(api: str, tmp_path: Path) -> None:
    """Behind one token, two people have said the same so far, and got the same answers."""
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        for _ in range(2):
            assert await ask(server, api, [user("Write it")]) == "Done."
        assert "secret" not in await ask(server, api, NEXT)
        assert len((await server.context.sessions.list()).sessions) == 3


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_fifty_equal_conversations_at_once_do_not_cross(api: str, is_named: bool, tmp_path: Path) -> None:
    gate = asyncio.Barrier(EQUAL)

    async def talk(server: Served, person: int) -> str:
        headers = {"X-Conversation-Id": f"chat-{person}"} if is_named else {}
        assert await ask(server, api, [user("Write it")], headers) == "Done."
        await gate.wait()
        return await ask(server, api, NEXT, headers)

    async with served(tmp_path, lambda: S([keeps_files] * 9), settings=MANY) as server:
        answers = await asyncio.gather(*(talk(server, person) for person in range(EQUAL)))
        sessions = (await server.context.sessions.list(limit=1000)).sessions
        logs = [(await server.log(info.id)) for info in sessions]
    if not is_named:
        assert len(sessions) == 2 * EQUAL
        assert not any("secret" in answer for answer in answers)
        return
    assert len(sessions) == EQUAL
    assert len(set(answers)) == EQUAL
    for log in logs:  # each has read what it has written itself
        calls = [event.data for event in log if isinstance(event.data, ToolCall)]
        results = [event.data for event in log if isinstance(event.data, ToolResult)]
        assert [call.name for call in calls] == ["write_file", "read_file"]
        assert calls[0].input is not None
        assert calls[0].input["content"] in results[1].text


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_fifty_equal_calls_at_once_get_their_own_results(api: str, tmp_path: Path) -> None:
    """A provider may give every call the same id."""
    gate = asyncio.Barrier(EQUAL)

    async def talk(server: Served, person: int) -> str:
        place = f"place {person}"
        if api == CHAT:
            first, _ = await chat(server, [user("Please locate")], tools=[{"type": "function", "function": TOOL}])
            await gate.wait()
            call = first["tool_calls"][0]["id"]
            result = {"role": "tool", "tool_call_id": call, "content": place}
            return (await chat(server, [user("Please locate"), first, result], tools=[FUNCTION]))[0]["content"]
        response = await respond(server, [user("Please locate")], tools=[{"type": "function", **TOOL}])
        await gate.wait()
        items = [item for item in response["output"] if item["type"] == "function_call"]
        outputs = [{"type": "function_call_output", "call_id": items[0]["call_id"], "output": place}]
        return said(
            await respond(server, [user("Please locate"), *items, *outputs], tools=[{"type": "function", **TOOL}])
        )

    async with served(tmp_path, lambda: S([calls_client] * 9), settings=MANY) as server:
        answers = await asyncio.gather(*(talk(server, person) for person in range(EQUAL)))
        assert len((await server.context.sessions.list(limit=1000)).sessions) == EQUAL
    assert answers == [f"place {person}" for person in range(EQUAL)]


# --- names -----------------------------------------------------------------------------------------------------------


NAMES: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    (CHAT, {"X-Conversation-Id": "1"}, {}),
    (CHAT, {"X-OpenWebUI-Chat-Id": "1"}, {"stream": True}),
    (CHAT, {"X-Session-Id": "ses_1"}, {"stream": True}),
    (CHAT, {}, {"chat_id": "1"}),
    (RESPONSES, {"X-Conversation-Id": "1"}, {}),
    (RESPONSES, {"Thread-Id": "1"}, {}),
]


@pytest.mark.parametrize(("api", "headers", "body"), NAMES)
async def test_a_name_that_a_client_sends_continues_its_session(
    api: str, headers: dict[str, str], body: dict[str, Any], tmp_path: Path
) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        answers: list[bytes] = []
        for messages in ([user("Write it")], NEXT):
            field = "messages" if api == CHAT else "input"
            async with server.client.post(api, json={field: messages, **body}, headers=headers) as answer:
                assert answer.status == 200, await answer.text()
                answers.append(await answer.read())
        assert b"secret" in answers[1]
        assert len((await server.context.sessions.list()).sessions) == 1


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_two_owners_with_the_same_name_do_not_share(api: str, tmp_path: Path) -> None:
    name = {"X-Conversation-Id": "1"}
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        assert await ask(server, api, [user("Write it")], name) == "Done."
        (info,) = (await server.context.sessions.list()).sessions
        for theirs in (name, {"X-Heald-Session": info.id}):
            headers = {"Authorization": f"Bearer {OTHER}", **theirs}
            assert "secret" not in await ask(server, api, NEXT, headers)
        assert "secret" in await ask(server, api, NEXT, name)


async def test_two_people_of_open_webui_with_the_same_id_do_not_share(tmp_path: Path) -> None:
    """A chat that is not stored there may have an id that others have too."""
    chat_id = {"X-OpenWebUI-Chat-Id": "local:undefined"}
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        for person, messages in (("a", [user("Write it")]), ("b", NEXT)):
            headers = {**chat_id, "X-OpenWebUI-User-Id": person}
            body = {"messages": messages, "stream": True}
            async with server.client.post(CHAT, json=body, headers=headers) as answer:
                text = await answer.text()
        assert "secret" not in text


@pytest.mark.parametrize("value", ["new", "null", "", "{{LIBRECHAT_BODY_CONVERSATIONID}}"])
async def test_a_conversation_without_an_id_yet_has_no_name(value: str, tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        headers = {"X-Conversation-Id": value}
        assert await ask(server, CHAT, [user("Write it")], headers) == "Done."
        assert "secret" not in await ask(server, CHAT, NEXT, headers)


async def test_what_conversations_share_is_no_name(tmp_path: Path) -> None:
    shared = {"user": "me", "prompt_cache_key": "all", "metadata": {"team": "all"}, "safety_identifier": "me"}
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        for api in (CHAT, RESPONSES):
            field = "messages" if api == CHAT else "input"
            for messages in ([user("Write it")], NEXT):
                async with server.client.post(api, json={field: messages, "store": True, **shared}) as answer:
                    text = await answer.text()
            assert "secret" not in text


async def test_the_id_of_a_session_comes_back_in_a_header(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        _, answer = await chat(server, [user("Write it")])
        name = {"X-Heald-Session": answer.headers["X-Heald-Session"]}
        changed = [user("Write that"), *NEXT[1:]]
        assert "secret" not in (await chat(server, changed, name))[0]["content"]  # not what this session holds
        assert "secret" in (await chat(server, NEXT, name))[0]["content"]


async def test_the_id_of_a_call_names_the_session_of_later_requests(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([calls_client] * 9)) as server:
        first, _ = await chat(server, [user("Please locate")], tools=[FUNCTION])
        result = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": "Bergen"}
        messages = [user("Please locate"), first, result]
        second, _ = await chat(server, messages, tools=[FUNCTION])
        third, _ = await chat(server, [*messages, second, user("Thanks")], tools=[FUNCTION])
        assert (second["content"], third["content"]) == ("Bergen", "Hello.")
        assert len((await server.context.sessions.list()).sessions) == 1


async def test_the_ids_of_items_name_the_session_of_a_response(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        first = await respond(server, [user("Write it")])
        await respond(server, [user("Write it")])
        items = [user("Write it"), *first["output"], user("Read it")]
        references = [{"type": "item_reference", "id": item["id"]} for item in first["output"]]
        assert "secret" in said(await respond(server, items))
        assert "secret" not in said(await respond(server, [user("Write it"), *references, user("Read it")]))
        assert len((await server.context.sessions.list()).sessions) == 3  # the session has gone on since


async def test_a_conversation_of_responses_is_added_to(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 9)) as server:
        first = await respond(server, [user("Write it")], conversation="conv_1")
        second = await respond(server, [user("Read it")], conversation={"id": "conv_1"})
        assert first["conversation"] == second["conversation"] == {"id": "conv_1"}
        assert "secret" in said(second)
        assert "secret" not in said(await respond(server, [user("Read it")], conversation="conv_2"))
        both = {"input": "Hello", "conversation": "conv_1", "previous_response_id": first["id"]}
        async with server.client.post(RESPONSES, json=both) as answer:
            assert answer.status == 400


async def test_a_title_that_is_asked_for_at_the_same_time_is_no_part_of_the_conversation(tmp_path: Path) -> None:
    """As opencode does, whose requests for a title have the id of the conversation."""
    headers = {"X-Session-Id": "ses_1"}
    async with served(tmp_path, lambda: S([keeps_files] * 9, pause=0.01)) as server:
        await asyncio.gather(
            chat(server, [user("Write it")], headers, tools=[FUNCTION], agent_tools=True),
            *(chat(server, [user("A title:"), user(f"Write {n}")], headers) for n in range(3)),
        )
        sessions = (await server.context.sessions.list()).sessions
        requests = [
            [event.data.message.text for event in await server.log(info.id) if isinstance(event.data, ExchangeRequest)]
            for info in sessions
        ]
        assert ["Write it"] in requests  # titles that come one after the other may share a session of their own
        assert sorted(text for texts in requests for text in texts) == ["Write 0", "Write 1", "Write 2", "Write it"]
        assert "secret" in (await chat(server, NEXT, headers))[0]["content"]


# --- ids of responses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
async def test_a_call_and_the_answer_after_it_are_two_responses(stream: bool, tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([calls_client] * 9)) as server:
        ids: list[set[str]] = []
        messages: list[dict[str, Any]] = [user("Please locate")]
        for _ in range(2):
            body = {"messages": messages, "stream": stream, "tools": [FUNCTION]}
            async with server.client.post(CHAT, json=body) as answer:
                text = await answer.text()
            lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")] if stream else [text]
            chunks = [json.loads(line) for line in lines]
            ids.append({chunk["id"] for chunk in chunks})
            deltas: list[dict[str, Any]] = [
                choice["delta" if stream else "message"] for chunk in chunks for choice in chunk["choices"]
            ]
            calls: list[dict[str, Any]] = [
                {name: call[name] for name in ("id", "type", "function")}
                for delta in deltas
                for call in as_objects(delta.get("tool_calls"))
            ]
            if calls:
                messages += [{"role": "assistant", "content": None, "tool_calls": calls}]
                messages += [{"role": "tool", "tool_call_id": calls[0]["id"], "content": "Bergen"}]
        assert [len(names) for names in ids] == [1, 1]
        assert ids[0] != ids[1]
        assert len((await server.context.sessions.list()).sessions) == 1


async def test_a_first_request_without_a_stream_keeps_its_files(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S([keeps_files] * 10)) as server:
        _, answer = await chat(server, NEXT[:1], store=None)
        session = answer.headers["X-Heald-Session"]
        async with server.client.get(f"/sessions/{session}/files/note.txt") as file:
            written = await file.text()
        assert "secret" in written
        message, later = await chat(server, NEXT, {"X-Heald-Session": session}, store=None)
        assert later.headers["X-Heald-Session"] == session
        assert message["content"].endswith(written)


@pytest.mark.parametrize(("text", "store"), [("Write it", False), ("Hello", None)])
async def test_a_first_request_without_files_or_with_store_false_keeps_no_session(
    tmp_path: Path, text: str, store: bool | None
) -> None:
    def script(request: ScriptedRequest) -> Script:
        return "Hello." if "Hello" in request.messages[-1].words else keeps_files(request)

    async with served(tmp_path, lambda: S([script] * 10)) as server:
        _, answer = await chat(server, [{"role": "user", "content": text}], store=store)
        assert "X-Heald-Session" not in answer.headers
        assert (await server.context.sessions.list()).sessions == []
