"""Many events in one message, and the end of a long log first: for who asks for it, and nothing is lost by it."""

import asyncio
import random
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from heald.agent.model_chain import ModelLike
from heald.core.json import encode, loads
from heald_server.protocols.native.dialect import NativeDialect
from heald_server.streams.dialect_encoder import DialectEncoder
from heald_server.streams.event_hub import BATCH_BYTES, BATCH_EVENTS, EncodedEvent
from heald_server.streams.event_stream import LONG_LOG, TAIL_EVENTS
from heald_server.streams.log_tail import read_tail
from serving_parts import S, Served, served

SILENCE = 60.0
Message = dict[str, Any]


def _talkative() -> ModelLike:
    """Long answers in small pieces, and short ones after them."""
    return S(["word " * 5000, "Short.", "Short again.", "word " * 300], piece=5)


async def _send_texts(server: Served, session: str, *texts: str) -> None:
    for text in texts:
        accepted = await server.send(session, text)
        await server.ended(session, accepted["exchange"])


async def _messages(socket: aiohttp.ClientWebSocketResponse) -> AsyncGenerator[tuple[str, Message]]:
    """What comes, as it was written and as it reads."""
    while True:
        async with asyncio.timeout(SILENCE):
            message = await socket.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            return
        yield message.data, loads(message.data)


def _events(message: Message) -> list[Message]:
    if message["type"] == "events":
        return message["events"]
    return [message] if "seq" in message and "layer" in message else []


async def _receive_until(server: Served, session: str, upto: int, **options: Any) -> list[tuple[str, Message]]:
    """All messages from a subscription on until an event has come."""
    heard: list[tuple[str, Message]] = []
    async with server.client.ws_connect("/ws", max_msg_size=0) as socket:
        await socket.send_json({"type": "subscribe", "session": session, **options})
        async for text, message in _messages(socket):
            heard.append((text, message))
            if any(event["seq"] >= upto for event in _events(message)):
                return heard
    raise AssertionError("the socket was closed first")


async def test_a_log_in_batches_is_the_same_log(tmp_path: Path) -> None:
    async with served(tmp_path, _talkative) as server:
        session = await server.session()
        await _send_texts(server, session, "Go on.")
        log = [loads(encode(event)) for event in await server.log(session)]
        batched = await _receive_until(server, session, len(log), batch=True)
        single = await _receive_until(server, session, len(log))
        assert [event for _, message in batched for event in _events(message)] == log
        assert [event for _, message in single for event in _events(message)] == log
        assert len(single) > len(log) > 20 * len(batched)
        assert all(message["type"] != "events" for _, message in single)
        for text, message in batched:
            assert len(_events(message)) <= BATCH_EVENTS
            assert len(text) <= BATCH_BYTES + 100


async def test_a_live_exchange_in_batches_is_the_log_that_is_stored(tmp_path: Path) -> None:
    """On an idle server each delta is sent at once; where the model is faster than that, they come in batches."""
    async with served(tmp_path, lambda: S(["word " * 2000], piece=3)) as server:
        session = await server.session()
        heard: list[Message] = []
        async with server.client.ws_connect("/ws") as socket:
            await socket.send_json({"type": "subscribe", "session": session, "batch": True})
            await server.send(session, "Go on.")
            count = 0
            async for _, message in _messages(socket):
                heard += _events(message)
                count += 1
                if heard and heard[-1]["type"] == "exchange_response":
                    break
        assert heard == [loads(encode(event)) for event in await server.log(session)]
        assert count < len(heard)


@pytest.mark.parametrize("seed", range(6))
async def test_a_client_that_disconnects_between_batches_misses_nothing(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    async with served(tmp_path, lambda: S(["word " * 120], piece=2, pause=0.001)) as server:
        session = await server.session()
        accepted = await server.send(session, "Go on.")
        had: list[Message] = []
        while not had or had[-1]["type"] != "exchange_response":
            async with server.client.ws_connect("/ws") as socket:
                cursor = had[-1]["seq"] if had else 0
                await socket.send_json({"type": "subscribe", "session": session, "resume": cursor, "batch": True})
                left = chance.randint(1, 6)
                async for _, message in _messages(socket):
                    had += _events(message)
                    left -= 1
                    if not left or (had and had[-1]["type"] == "exchange_response"):
                        break
        assert had == [loads(encode(event)) for event in await server.log(session)]
        assert had[-1]["exchange"] == accepted["exchange"]


async def test_the_end_of_a_long_log_comes_first_and_a_second_time_in_its_place(tmp_path: Path) -> None:
    async with served(tmp_path, _talkative) as server:
        session = await server.session()
        await _send_texts(server, session, "One.", "Two.", "Three.")
        log = [loads(encode(event)) for event in await server.log(session)]
        assert len(log) > LONG_LOG
        heard = [message for _, message in await _receive_until(server, session, len(log), batch=True, end=True)]
        assert [message["type"] for message in heard[:3]] == ["subscribed", "end", "events"]
        end = heard[1]["events"]
        assert heard[1]["session"] == session
        assert end == log[-len(end) :]
        assert [end[0]["type"], end[0]["data"]["message"]["content"][0]["text"]] == ["exchange_request", "Two."]
        assert [event for message in heard for event in _events(message)] == log


async def test_no_end_is_reported_where_all_comes_as_quickly(tmp_path: Path) -> None:
    async with served(tmp_path, _talkative) as server:
        session = await server.session()
        await _send_texts(server, session, "One.")
        first = len(await server.log(session))
        assert not await read_tail(server.store, session, 0, first), "one long exchange has no beginning near its end"
        await _send_texts(server, session, "Two.")
        last = len(await server.log(session))
        for options in ({"end": True, "resume": last - LONG_LOG + 1}, {"end": True, "resume": last - 1}, {}):
            heard = await _receive_until(server, session, last, **options)
            assert all(message["type"] != "end" for _, message in heard), options
        short = await server.session()
        await _send_texts(server, short, "Two.")
        assert not await read_tail(server.store, short, 0, len(await server.log(short)))


async def test_the_end_is_never_large(tmp_path: Path) -> None:
    answers = ["word " * 5000, *["x" * (BATCH_BYTES // 3)] * 4]
    async with served(tmp_path, lambda: S(list(answers), piece=5000)) as server:
        session = await server.session()
        await _send_texts(server, session, *(f"Request {number}." for number in range(5)))
        last = len(await server.log(session))
        end = await read_tail(server.store, session, last - LONG_LOG, last)
        assert 0 < len(end) < TAIL_EVENTS
        assert sum(map(len, end)) <= BATCH_BYTES
        assert loads(end[0])["type"] == "exchange_request"
        assert loads(end[-1])["seq"] == last


async def test_other_dialects_know_no_batches_and_no_end(tmp_path: Path) -> None:
    async with served(tmp_path, _talkative) as server:
        session = await server.session()
        await _send_texts(server, session, "One.", "Two.")
        told: list[list[str]] = []
        for options in ({}, {"batch": True, "end": True}):
            texts: list[str] = []
            async with server.client.ws_connect(f"/sessions/{session}/ws?dialect=normalized", max_msg_size=0) as socket:
                await socket.send_json({"type": "subscribe", "resume": 0, **options})
                async for text, message in _messages(socket):
                    texts.append(text)
                    if message["type"] == "end" and "events" not in message:
                        break
            told.append(texts)
        assert told[0] == told[1]


async def test_one_event_alone_is_no_batch(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        session = await server.session()
        await _send_texts(server, session, "Hi.")
        entries = [EncodedEvent(event, encode(event)) for event in await server.log(session)]
        voice = DialectEncoder(NativeDialect(session), batch=True)
        assert voice.texts([]) == []
        assert voice.texts(entries[:1]) == [entries[0].text]
        assert loads(voice.texts(entries)[0]) == {"type": "events", "events": [loads(entry.json) for entry in entries]}
