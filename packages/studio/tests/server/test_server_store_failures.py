"""A store that fails in the middle of an exchange: every reader is notified, and the exchange ends by itself."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.core.json import loads
from heald.sessions.resumption import AfterCrash
from heald.sessions.sqlite import SqliteStore
from heald_check.checker import check_log
from heald_server.dialects.texts import NOT_STORED
from heald_server.settings import ServerSettings
from heald_studio.studio import Studio
from locking import locked
from serving_parts import S, Served, context_on, serving

DIALECTS = ("studio", "loop", "normalized", "ai-sdk", "ag-ui", "openai", "agentx")
REASON = "Another process kept the sessions locked while the exchange ran; what was done is kept. Ask again to go on."


def _talks() -> heald.testing.ScriptedModel:
    return S(["word " * 2000, *["Better now."] * 50], piece=5, pause=0.002)


@asynccontextmanager
async def on(database: Path, after_crash: AfterCrash = "continue") -> AsyncGenerator[Served]:
    store = SqliteStore(database, patience=0.3)
    settings = ServerSettings(port=0, after_crash=after_crash)
    async with serving(context_on(store, {"scripted": _talks}, settings=settings)) as server:
        yield server


async def _until_end(answer: aiohttp.ClientResponse) -> str:
    return (await answer.content.read()).decode()


async def _receive_all(socket: aiohttp.ClientWebSocketResponse) -> tuple[list[Any], int | None]:
    frames = [loads(message.data) async for message in socket if message.data != "[DONE]"]
    return frames, socket.close_code


async def test_streams_of_every_dialect_are_reported_and_end(tmp_path: Path) -> None:
    async with on(tmp_path / "s.db") as server:
        session = await server.session()
        streams = {
            name: await server.client.get(f"/sessions/{session}/events?dialect={name}")
            for name in ("native", *DIALECTS)
        }
        sockets = {
            name: await server.client.ws_connect(f"/sessions/{session}/ws?dialect={name}&after=0")
            for name in ("native", *DIALECTS)
        }
        await server.send(session)
        await streams["native"].content.readuntil(b"event: text_delta")
        async with locked(tmp_path / "s.db"):
            async with asyncio.timeout(120):
                texts = {name: await _until_end(stream) for name, stream in streams.items()}
                received = {name: await _receive_all(socket) for name, socket in sockets.items()}
        assert texts["native"].rstrip().splitlines()[-2] == "event: goodbye"
        assert '"reason":"store"' in texts["native"].rstrip().splitlines()[-1]
        assert received["native"][0][-1]["reason"] == "store"
        for name in DIALECTS:
            assert NOT_STORED in texts[name], name
            assert any(NOT_STORED in str(frame) for frame in received[name][0]), name
        assert {code for _, code in received.values()} == {1011}


async def test_a_request_that_streams_its_answer_is_reported(tmp_path: Path) -> None:
    asked = {"messages": [{"role": "user", "content": "Go on."}], "stream": True}
    async with on(tmp_path / "s.db") as server:
        streams = {
            "loop": await server.client.post("/api/chat", json=asked),
            "native": await server.client.post("/api/chat?dialect=native", json=asked),
            "openai": await server.client.post("/v1/chat/completions", json=asked),
            "ag-ui": await server.client.post("/agui", json=asked | {"threadId": "t", "runId": "r"}),
        }
        plain = asyncio.create_task(_posted(server, "/v1/chat/completions", asked | {"stream": False, "store": True}))
        for stream in streams.values():
            await stream.content.readuntil(b"word")
        await asyncio.sleep(0.2)
        async with locked(tmp_path / "s.db"):
            async with asyncio.timeout(120):
                texts = {name: await _until_end(stream) for name, stream in streams.items()}
                status, body_text = await plain
        assert "goodbye" in texts.pop("native")
        assert all(NOT_STORED in text for text in texts.values()), texts
        assert texts["openai"].endswith("data: [DONE]\n\n")
        assert (status, loads(body_text)["error"]["code"]) == (503, "unavailable")


async def _posted(server: Served, path: str, body: dict[str, Any]) -> tuple[int, str]:
    async with server.client.post(path, json=body) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(("dialect", "after_crash"), [("native", "close"), ("loop", "close"), ("native", "continue")])
async def test_the_exchange_gets_its_end_without_anybody_asking(
    tmp_path: Path, dialect: str, after_crash: AfterCrash
) -> None:
    async with on(tmp_path / "s.db", after_crash) as server:
        session = await server.session()
        stream = await server.client.get(f"/sessions/{session}/events")
        accepted = await server.send(session)
        queued = await server.send(session, "And then?")
        await stream.content.readuntil(b"event: text_delta")
        async with locked(tmp_path / "s.db"), asyncio.timeout(120):
            frames = await _until_end(stream)
            late = await server.client.get(f"/sessions/{session}/events?dialect={dialect}")
            stream_text = await _until_end(
                late
            )  # a client that connects while the store is broken does not wait either
            assert ("goodbye" if dialect == "native" else NOT_STORED) in stream_text
        async with asyncio.timeout(60):
            response = await server.ended(session, accepted["exchange"])
            assert isinstance(response.data, ExchangeResponse)
            if after_crash == "continue":
                assert response.data.status == "completed"
            else:
                assert response.data.status == "failed"
                assert response.data.error is not None
                assert response.data.error.message == REASON
            later = await server.ended(session, queued["exchange"])
            assert isinstance(later.data, ExchangeResponse)
            assert later.data.status == "completed"
        log = await server.log(session)
        assert not check_log(log)
        seen = [int(line[4:]) for line in frames.splitlines() if line.startswith("id: ")]
        assert seen == list(range(seen[0], seen[0] + len(seen)))
        assert log[-1].seq > seen[-1]


async def test_a_stream_that_resumes_afterwards_has_no_gap(tmp_path: Path) -> None:
    async with on(tmp_path / "s.db") as server:
        session = await server.session()
        stream = await server.client.get(f"/sessions/{session}/events")
        accepted = await server.send(session)
        await stream.content.readuntil(b"event: text_delta")
        async with locked(tmp_path / "s.db"), asyncio.timeout(120):
            goodbye = loads((await _until_end(stream)).rstrip().splitlines()[-1].removeprefix("data: "))
        seen = goodbye["resume"]
        numbers: list[int] = []
        async with (
            asyncio.timeout(60),
            server.client.get(f"/sessions/{session}/events", headers={"Last-Event-ID": str(seen)}) as resumed,
        ):
            async for line in resumed.content:
                if line.startswith(b"id: "):
                    numbers.append(int(line[4:]))
                if b'"exchange_response"' in line:
                    break
        log = await server.log(session)
        assert numbers == [event.seq for event in log if event.seq > seen]
        assert log[-1].exchange == accepted["exchange"]


async def test_variants_that_cannot_be_stored_are_reported_and_end(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db", patience=0.3)
    context = context_on(store, {"scripted": _talks})
    context.protocol_options["studio"] = {"scores": False}
    async with serving(context) as server:
        studio: Studio = context.protocol_state["studio"]
        socket = await server.client.ws_connect("/generate-code")
        await socket.send_json({"prompt": {"text": "A page"}, "generatedCodeConfig": "html_css", "numVariants": 2})
        frames: list[Any] = []
        async with asyncio.timeout(60):
            while len({frame["variantIndex"] for frame in frames if frame["type"] == "assistant"}) < 2:
                frames.append(loads((await socket.receive()).data))
            async with locked(tmp_path / "s.db"):
                received, code = await _receive_all(socket)
                failed = [frame for frame in received if frame["type"] == "variantError"]
                assert {frame["variantIndex"] for frame in failed} == {0, 1}
                assert {frame["value"] for frame in failed} == {NOT_STORED}
                assert code == 1011
                (project,) = (await studio.list("")).projects
                assert (await studio.get("", project.id)).id == project.id  # who only looks waits for nobody
            state, states = project, studio.watch("", project.id)
            async with aclosing(states):  # a reader of the project is notified without another request
                async for state in states:
                    if all(variant.status == "failed" for variant in state.versions[0].variants):
                        break
            for variant in state.versions[0].variants:
                assert variant.error is not None
                assert variant.exchange is not None
                await server.ended(variant.session, variant.exchange)
        for variant in state.versions[0].variants:
            assert not check_log(await server.log(variant.session))
