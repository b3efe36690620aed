"""Cursors that cannot be served get an answer that says so, and one that can be worked with."""

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from stream_readers import ENDS, Copy, receive_until, sse_frames

from heald.core.json import loads
from heald_server.dialects.registry import load_dialects
from heald_server.streams import websocket
from serving_parts import S, Served, served

BAD: dict[str, str] = {
    "999999": "future",
    "9" * 18: "future",
    "9" * 19: "garbage",
    "-1": "garbage",
    "1.5": "garbage",
    "0x10": "garbage",
    "twelve": "garbage",
    "1 OR 1=1": "garbage",
    "x" * 5000: "garbage",
    "ses_somebody_else-1-3": "other_session",
    "evt_1-1-1": "garbage",
}
OTHERS = [name for name in load_dialects() if name != "native"]


@pytest.fixture
def patient_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets wait long for the first message: on a busy machine a cursor that is sent at once arrives late."""
    monkeypatch.setattr(websocket, "_FIRST_MESSAGE_SECONDS", 60.0)


async def _answered(server: Served) -> str:
    session = await server.session(title="Talk")
    accepted = await server.send(session, "Hi.")
    await server.ended(session, accepted["exchange"])
    return session


async def _reset_over_sse(server: Served, session: str, cursor: str) -> dict[str, Any]:
    async with server.client.get(f"/sessions/{session}/events", headers={"Last-Event-ID": cursor}) as answer:
        assert answer.status == 200
        told = await anext(sse_frames(answer))
        assert (told.event, told.cursor) == ("reset", None)
        return told.json


async def test_a_bad_cursor_resets_a_native_client_and_the_stream_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["Hello.", "Again."])) as server:
        session = await _answered(server)
        log = await server.log(session)
        for cursor, reason in BAD.items():
            reset = await _reset_over_sse(server, session, cursor)
            assert (reset["reason"], reset["seq"], reset["session"]) == (reason, log[-1].seq, session), cursor
            snapshot = reset["snapshot"]
            assert [message["role"] for message in snapshot["messages"]] == ["user", "assistant"]
            assert (snapshot["title"], snapshot["exchange"]) == ("Talk", None)
        async with server.client.get(f"/sessions/{session}/events?after=garbage") as answer:
            frames = sse_frames(answer)
            reset = await anext(frames)
            accepted = await server.send(session, "More.")
            later = [await anext(frames)]
            while later[-1].json["type"] != "exchange_response":
                later.append(await anext(frames))
        assert [told.cursor for told in later] == list(range(reset.json["seq"] + 1, later[-1].json["seq"] + 1))
        assert later[-1].json["exchange"] == accepted["exchange"]


@pytest.mark.usefixtures("patient_sockets")
async def test_a_bad_cursor_resets_a_native_socket(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await _answered(server)
        for cursor, reason in BAD.items():
            async with server.client.ws_connect(f"/sessions/{session}/ws") as socket:
                await socket.send_json({"type": "subscribe", "resume": cursor[:200]})
                heard = await receive_until(socket, "reset")
                assert [message["type"] for message in heard] == ["subscribed", "reset"]
                assert heard[-1]["reason"] == reason
                assert len(heard[-1]["snapshot"]["messages"]) == 2
        for cursor in (10**6, -3, True, 1.5, [1], {"seq": 1}):
            async with server.client.ws_connect("/ws") as socket:
                await socket.send_json({"type": "subscribe", "session": session, "resume": cursor, "id": 1})
                first = await socket.receive_json()
                second = await socket.receive_json() if first["type"] == "subscribed" else first
                assert second["type"] in ("reset", "error"), cursor


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.usefixtures("patient_sockets")
async def test_a_bad_cursor_is_refused_in_other_dialects(dialect: str, tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await _answered(server)
        for cursor in BAD:
            path = f"/sessions/{session}/events?dialect={dialect}"
            async with server.client.get(path, headers={"Last-Event-ID": cursor}) as answer:
                assert answer.status == 409, cursor
                assert (await answer.json())["error"]["code"] == "invalid_cursor"
            async with server.client.ws_connect(f"/sessions/{session}/ws?dialect={dialect}") as socket:
                await socket.send_json({"resume": cursor[:200]})
                message = await socket.receive(timeout=30)
                assert (message.type, socket.close_code) == (aiohttp.WSMsgType.CLOSE, 4409), cursor


async def test_an_unknown_dialect_is_refused_with_its_reason(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await _answered(server)
        async with server.client.get(f"/sessions/{session}/events?dialect=morse") as answer:
            assert (answer.status, "no dialect named 'morse'" in await answer.text()) == (400, True)
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await server.client.ws_connect(f"/sessions/{session}/ws?dialect=morse")
        assert refused.value.status == 400


async def test_good_cursors_in_all_their_forms(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["Hello.", "Again."])) as server:
        session = await _answered(server)
        log = await server.log(session)
        for cursor in ("3", log[2].id, f"{session}-77-3"):
            async with server.client.get(f"/sessions/{session}/events", headers={"Last-Event-ID": cursor}) as answer:
                assert (await anext(sse_frames(answer))).json["seq"] == 4
            async with server.client.ws_connect(f"/sessions/{session}/ws?after={cursor}") as socket:
                heard = [await socket.receive_json() for _ in range(2)]
                assert [heard[0]["type"], heard[1]["seq"]] == ["subscribed", 4]
        async with server.client.ws_connect(f"/sessions/{session}/ws?after=now") as socket:
            assert (await socket.receive_json())["type"] == "subscribed"
            await server.send(session, "More.")
            assert (await socket.receive_json())["seq"] == log[-1].seq + 1


async def test_a_cursor_of_a_log_that_was_rewound_still_goes_on(tmp_path: Path) -> None:
    """Rewinding adds to the log and takes nothing away, so no cursor grows too old."""
    async with served(tmp_path, lambda: S(["One.", "Two.", "Three."])) as server:
        session = await _answered(server)
        copy = Copy(server.client, session)
        assert await copy.read(ENDS["native"])
        accepted = await server.send(session, "More.")
        await server.ended(session, accepted["exchange"])
        async with server.client.post(f"/sessions/{session}/rewind", json={"seq": copy.cursor}) as answer:
            assert answer.status == 200, await answer.text()
        accepted = await server.send(session, "Otherwise.")
        await server.ended(session, accepted["exchange"])
        log = await server.log(session)
        assert await copy.read(lambda told: told.cursor == log[-1].seq)
        assert [told.json["id"] for told in copy.frames] == [event.id for event in log]


async def test_a_late_resume_on_an_open_socket_goes_back(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await _answered(server)
        end = (await server.log(session))[-1].seq
        async with server.client.ws_connect(f"/sessions/{session}/ws") as socket:
            await asyncio.sleep(0.5)
            seen = [await socket.receive_json() for _ in range(end + 1)]
            assert [message["seq"] for message in seen[1:]] == list(range(1, end + 1))
            await socket.send_json({"resume": end - 2})
            again = [loads((await socket.receive()).data) for _ in range(3)]
            assert again[0]["type"] == "subscribed"
            assert [message["seq"] for message in again[1:]] == [end - 1, end]
