"""Large contents: a client never gets a frame above 1 MiB, and loses nothing of it."""

import base64
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from stream_readers import sse_frames

import heald
import heald_server
from heald.core.envelope import Event
from heald.core.events import AssistantMessage, InputJsonDelta, TextDelta, ThinkingDelta, UserMessage
from heald.core.json import encode, loads
from heald.core.messages import Image, ToolCall
from heald.sessions.event_codec import MAX_FRAME_BYTES
from heald.sessions.memory import MemoryStore
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from serving_parts import TOKEN, S, context_on, served, serving

MIB = 1024 * 1024
WIRES = ["chat", "responses", "messages", "gemini", "ollama"]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
PICTURE = base64.b64decode(PIXEL) + bytes(MIB)
LONG = "\0ä" * (MIB // 4)


def _long_answer() -> heald.testing.ScriptedModel:
    return S([LONG], piece=MIB // 16)  # a few deltas, each below a frame's limit


def _same(actual: object, expected: object) -> None:
    is_same = actual == expected  # a difference of megabytes is not shown
    assert is_same


@pytest.mark.parametrize("wire", WIRES)
async def test_a_large_delta_becomes_several(wire: str) -> None:
    text, thinking = "\0" * (MIB // 2) + "end", "é" * MIB
    call = ToolCall(id="c1", name="save", input={"text": "x" * (MIB + 1)})
    reply = wire_reply(wire, text=[text], thinking=[thinking], calls=[call])
    async with ScriptedServer([reply]) as server:
        bases = {"gemini": "/v1beta", "ollama": ""}
        session = heald.providers.open_provider_session(
            heald.Model("m", wire=wire, base_url=server.url + bases.get(wire, "/v1")),
            messages=[heald.user_message("Go.")],
            tools=[heald.providers.ToolDefinition(name="save", description="", input_schema={"type": "object"})],
        )
        events: list[Any] = []
        turn = await session.stream_turn(events.append)
    _same(turn.text, text)
    _same(turn.tool_calls[0].input, call.input)
    for kind, whole in ((TextDelta, text), (ThinkingDelta, thinking)):
        _same("".join(event.text for event in events if isinstance(event, kind)), whole)
    arguments = "".join(event.partial_json for event in events if isinstance(event, InputJsonDelta))
    _same(loads(arguments), call.input)
    assert max(len(encode(event)) for event in events) < MAX_FRAME_BYTES


@pytest.mark.parametrize("way", ["sse", "socket"])
async def test_no_frame_is_above_a_mebibyte(way: str, tmp_path: Path) -> None:
    async with served(tmp_path, _long_answer) as server:
        session = await server.session()
        async with server.client.post(f"/sessions/{session}/blobs", data=BytesIO(PICTURE)) as answer:
            blob = (await answer.json())["blob"]
        content = [{"type": "text", "text": "Look."}, {"type": "image", "blob": blob}]
        async with server.client.post(f"/sessions/{session}/messages", json={"content": content}) as answer:
            assert answer.status == 202, await answer.text()
        frames: list[dict[str, Any]] = []
        if way == "sse":
            async with server.client.get(f"/sessions/{session}/events") as answer:
                async for received in sse_frames(answer):
                    assert len(received.data.encode()) <= MAX_FRAME_BYTES
                    frames.append(received.json)
                    if received.event == "exchange_response":
                        break
        else:
            async with server.client.ws_connect(f"/sessions/{session}/ws", max_msg_size=MAX_FRAME_BYTES) as socket:
                async for message in socket:
                    frames.append(loads(message.data))
                    if frames[-1]["type"] == "exchange_response":
                        break
        large = {frame["type"]: frame for frame in frames if "blobs" in frame}
        assert {"user_message", "assistant_message"} <= set(large)
        (named,) = large["user_message"]["blobs"]
        async with server.client.get(f"/sessions/{session}/blobs/{named['blob']}") as answer:
            _same(base64.b64decode(await answer.read()), PICTURE)


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_the_client_has_the_whole_content(kind: str, tmp_path: Path) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "sessions.db", durable=False)
    async with serving(context_on(store, {"scripted": _long_answer}), TOKEN) as server:
        log: list[Event] = []
        async with heald_server.connect(server.url, TOKEN) as agent:
            agent.subscribe(log.append)
            picture = Image(media_type="image/png", data=base64.b64encode(PICTURE).decode())
            result = await agent.run(heald.user_message("Look.", picture))
        _same(result.text, LONG)
    (asked,) = (event.data for event in log if isinstance(event.data, UserMessage))
    (answered,) = (event.data for event in log if isinstance(event.data, AssistantMessage))
    _same(asked.message.content[1], picture)
    _same(answered.message.text, LONG)


async def test_a_large_snapshot_is_a_blob(tmp_path: Path) -> None:
    async with served(tmp_path, _long_answer) as server:
        session = await server.session()
        accepted = await server.send(session, "Hi.")
        await server.ended(session, accepted["exchange"])
        async with server.client.get(f"/sessions/{session}/events?after=garbage") as answer:
            reset = (await anext(sse_frames(answer))).json
        assert (reset["type"], reset["snapshot"]) == ("reset", None)
        (named,) = reset["blobs"]
        async with server.client.get(f"/sessions/{session}/blobs/{named['blob']}") as answer:
            snapshot = loads(await answer.read())
    _same(snapshot["messages"][1]["content"][0]["text"], LONG)
