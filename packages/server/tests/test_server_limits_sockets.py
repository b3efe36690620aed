"""W14: what a client may send over a socket, how much of it and how fast. Others do not notice."""

import asyncio
import statistics
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter, process_time

import heald
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from raw_bytes import BINARY, PING, PONG, TEXT, frame, raw, raw_socket, resident
from serving_parts import S, Served, served

MB = 1024 * 1024


@asynccontextmanager
async def others(server: Served):
    """Somebody else, who must be answered all the while."""
    waits: list[float] = []
    async with server.client.ws_connect("/ws") as socket:

        async def talk() -> None:
            while True:
                began = perf_counter()
                await socket.send_json({"type": "ping", "id": 1})
                assert (await socket.receive_json())["type"] == "pong"
                waits.append(perf_counter() - began)
                await asyncio.sleep(0.02)

        talking = asyncio.create_task(talk())
        yield waits
        await asyncio.sleep(0.1)
        assert not talking.done(), talking
        talking.cancel()
        await asyncio.wait([talking])
    assert len(waits) >= 3
    assert statistics.quantiles(waits, n=20)[-1] < 2.0, "others had to wait"


async def test_w14_a_frame_of_sixteen_megabytes(tmp_path: Path) -> None:
    async with served(tmp_path) as server, others(server):
        before = resident()
        for opcode in (TEXT, BINARY):
            for size in (16 * MB, 2**31, 2**62):
                async with raw_socket(server) as socket:
                    head = bytes([0x80 | opcode, 0xFF]) + size.to_bytes(8, "big") + bytes(4)
                    await socket.send(head)
                    assert await socket.close_code() == 1009, (opcode, size)
                async with raw_socket(server) as socket:  # and one that does not listen
                    await socket.send(head)
                    for _ in range(16):
                        if not await socket.send(bytes(MB)):
                            break
                    assert await socket.close_code() in (1009, None)
        assert resident() - before < 60 * MB


async def test_w14_a_message_that_only_its_route_finds_too_large(tmp_path: Path) -> None:
    async with served(tmp_path) as server, others(server):
        for opcode in (TEXT, BINARY):
            async with raw_socket(server) as socket:
                await socket.send(frame(opcode, b" " * (MB + 1), mask=bytes(4)))
                assert await socket.close_code() == 1009


async def test_w14_a_million_tiny_frames(tmp_path: Path) -> None:
    tiny = frame(TEXT, b"{}", mask=bytes(4)) * 10_000
    async with served(tmp_path) as server, others(server):
        before = resident()
        async with raw_socket(server) as socket:
            code = asyncio.create_task(socket.close_code(60))
            for _ in range(100):
                if not await socket.send(tiny):
                    break
            assert await code in (1008, None)
        assert resident() - before < 60 * MB


async def test_w14_fragments_without_end(tmp_path: Path) -> None:
    async with served(tmp_path) as server, others(server):
        before = resident()
        for payload, size in ((b"", 10_000), (b"x", 10_000), (b"x" * 1000, 100)):
            async with raw_socket(server) as socket:
                code = asyncio.create_task(socket.close_code(60))
                await socket.send(frame(TEXT, b'{"type": "', fin=False))
                piece = frame(0, payload, fin=False, mask=bytes(4)) * size
                ended = False
                while not ended and not code.done():
                    ended = not await socket.send(piece)
                said = await code
                if said is None:  # a reset may overtake the code while we are still sending
                    assert ended or not await socket.send(piece), payload
                else:
                    assert said in (1008, 1009), payload
        assert resident() - before < 60 * MB


async def test_w14_a_flood_of_pings_that_nobody_reads_the_answers_of(tmp_path: Path) -> None:
    pings = frame(PING, b"x" * 125, mask=bytes(4)) * 2000
    async with served(tmp_path) as server, others(server):
        before = resident()
        async with raw_socket(server) as socket:
            for _ in range(200):
                if not await socket.send(pings):
                    break
            assert await socket.close_code() in (1008, None)
        assert resident() - before < 60 * MB
        async with raw_socket(server) as socket:
            await socket.send(frame(PING, b"a") * 200)
            assert await socket.close_code() == 1008
        async with raw_socket(server) as socket:  # a few are a client's right
            await socket.send(frame(PING, b"a") * 5 + frame(PONG, b"b") * 5)
            await socket.send(frame(TEXT, b'{"type": "ping"}'))
            got = await socket.rest(1)
            assert got.count(b"\x8a\x01a") == 5
            assert b"pong" in got


async def test_w14_nothing_is_ever_inflated(tmp_path: Path) -> None:
    async with served(tmp_path) as server, others(server):
        offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
        async with raw_socket(server, more=offer) as socket:
            assert b"permessage-deflate" not in socket.head
            await socket.send(frame(TEXT, b"\x00" * 100, bits=0x40))  # says that it is compressed
            assert await socket.close_code() == 1002


async def test_w14_subscriptions_have_an_end(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(messages_per_second=100_000, sessions_per_minute=10_000))
    async with served(tmp_path, settings=settings) as server, others(server):
        sessions = [await server.session() for _ in range(70)]
        async with server.client.ws_connect("/ws") as socket:
            for number in range(10_000):
                await socket.send_json({"type": "subscribe", "session": sessions[number % 70]})
                if socket.closed:
                    break
            async for _ in socket:
                pass
            assert socket.close_code == 1008
        async with server.client.ws_connect("/ws") as socket:  # sessions that are not there are no way around it
            for number in range(2000):
                await socket.send_json({"type": "subscribe", "session": f"ses_{number}", "id": number})
            for number in range(2000):
                said = await socket.receive_json()
                assert said["error"]["code"] == "not_found"
                assert said["id"] == number


async def test_w14_as_many_a_second_as_are_allowed_and_no_more(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(messages_per_second=20))
    async with served(tmp_path, settings=settings) as server:
        async with server.client.ws_connect("/ws") as socket:
            for _ in range(20):
                await socket.send_json({"type": "ping"})
            for _ in range(20):
                assert (await socket.receive_json())["type"] == "pong"
        async with server.client.ws_connect("/ws") as socket:
            for _ in range(200):
                await socket.send_json({"type": "ping"})
            said = [message async for message in socket]
            assert 20 <= len(said) < 60
            assert socket.close_code == 1008


async def test_texts_that_are_none(tmp_path: Path) -> None:
    async with served(tmp_path) as server, others(server):
        for opcode, payload, code in (
            (TEXT, b"\xff\xfe", 1007),
            (TEXT, b'{"type": "ping", "id": "\xed\xa0\x80"}', 1007),
            (3, b"", 1002),
            (0, b"lost", 1002),
            (8, b"\x03", 1002),
            (8, b"\x00\x01", 1002),
            (PING, b"x" * 126, 1002),
        ):
            async with raw_socket(server) as socket:
                await socket.send(frame(opcode, payload))
                assert await socket.close_code() == code, (opcode, payload)
        async with raw_socket(server) as socket:
            await socket.send(b"\x81\x02{}")  # not masked
            assert await socket.close_code() == 1002


async def test_streams_have_an_end(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(streams=3))
    async with served(tmp_path, settings=settings) as server:
        session = await server.session()
        streams = [await server.client.get(f"/sessions/{session}/events") for _ in range(3)]
        assert [stream.status for stream in streams] == [200] * 3
        async with server.client.get(f"/sessions/{session}/events") as answer:
            assert answer.status == 429
            assert int(answer.headers["Retry-After"]) >= 1
        async with server.client.ws_connect(f"/sessions/{session}/ws") as socket:
            await socket.send_json({"resume": None})
            async for _ in socket:
                pass
            assert socket.close_code == 1013
        for stream in streams:
            stream.close()
        for _ in range(100):
            async with server.client.get(f"/sessions/{session}/events") as answer:
                if answer.status == 200:
                    break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("a stream that ended still counts")


async def test_bodies_have_an_end(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(body_bytes=10_000))
    async with served(tmp_path, settings=settings) as server:
        session = await server.session()
        for body in ({"text": "x" * 20_000}, {"text": "x" * 9000, "client_request_id": "y" * 1000}):
            async with server.client.post(f"/sessions/{session}/messages", json=body) as answer:
                assert answer.status in (400, 413), await answer.text()
        async with raw(server) as connection:  # in pieces that say nothing of their sum
            head = (
                "POST /sessions/import HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer a-token-of-the-tests\r\n"
            )
            head += "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
            await connection.send(head.format(server.context.settings.port).encode())
            for _ in range(2000):
                if not await connection.send(b"3e8\r\n" + b"x" * 1000 + b"\r\n"):
                    break
            assert b" 413 " in await connection.rest(5)
        assert await server.log(session) == []


async def test_w13_ranges_are_not_counted(tmp_path: Path) -> None:
    def writes() -> heald.testing.ScriptedModel:
        return S([[S.call("create_file", path="a.txt", content="abc")], "Done."])

    async with served(tmp_path, writes) as server:
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
        began = process_time()  # the server is in this process
        for path in (f"/sessions/{session}/files/a.txt", "/", "/health", f"/sessions/{session}/export"):
            async with server.client.get(path, headers={"Range": "bytes=" + "0-," * 5000 + "0-"}) as answer:
                assert answer.status in (200, 416)
        assert process_time() - began < 2
