"""Connections that are opened before a request: used by it, limited in number, and never a request by themselves."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from http1_bench import PieceServer, chunked, post
from provider_bench import until
from provider_sockets import RawServer, certificate

import heald
from heald.http1.errors import NetworkError
from heald.http1.pool import ConnectionPool
from heald.http1.request import Origin
from heald.http1.tls import tls_context
from heald.providers.early_connection import connect_early
from heald.providers.transport import Transport

ANSWER = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunked(b"hi")


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


class TlsServer(RawServer):
    """Counts requests too, and answers each of them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(self._answer, certificate(folder, "localhost")[1])
        self.requests = 0

    @property
    def address(self) -> str:
        return f"https://localhost:{self.port}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            self.requests += 1
            writer.write(ANSWER)


async def test_the_next_request_uses_the_connection(trusted: Path) -> None:
    async with TlsServer(trusted) as server:
        model = heald.Model("m", base_url=server.address, api_key="k")
        connect_early(model)
        await until(lambda: server.connections == 1)
        connect_early(model)
        await (await Transport.for_running_loop()).connect_early(model.url)
        assert (server.connections, server.requests) == (1, 0)
        await _get(model.url)
        assert (server.connections, server.requests) == (1, 1)


async def test_a_request_waits_for_a_connection_that_is_being_opened(trusted: Path) -> None:
    async with TlsServer(trusted) as server:
        model = heald.Model("m", base_url=server.address, api_key="k")
        tls_context()  # the first one is made in a thread
        connect_early(model)
        await asyncio.sleep(0)  # it has begun, and cannot be open yet
        await _get(model.url)
        assert (server.connections, server.requests) == (1, 1)


async def test_an_agent_connects_to_its_model(trusted: Path) -> None:
    async with TlsServer(trusted) as server:
        agent = heald.Agent(heald.Model("m", base_url=server.address, api_key="k"))
        agent.connect_early()
        await until(lambda: server.connections == 1)
        assert server.requests == 0


async def test_an_endpoint_without_tls_is_left_alone() -> None:
    async with PieceServer([ANSWER], close=False) as server:
        connect_early(heald.Model("m", base_url=server.url, api_key="k"))
        connect_early("nobody/knows-this")
        await post(server.url)
        assert server.connections == 1


async def test_an_endpoint_that_cannot_be_reached_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ConnectionPool()
    origin = Origin("https", "127.0.0.1", 9)
    attempts = 0

    async def refuse(*_: object) -> None:
        nonlocal attempts
        attempts += 1
        raise NetworkError("refused")

    monkeypatch.setattr(pool, "_connect", refuse)
    with pytest.raises(NetworkError):
        await pool.open_early(origin, tls=None)
    await pool.open_early(origin, tls=None)
    assert attempts == 1


async def test_a_failed_attempt_does_not_fail_the_request(trusted: Path) -> None:
    async with TlsServer(trusted) as server:
        model = heald.Model("m", base_url=server.address, api_key="k")
        tls_context()
        transport = await Transport.for_running_loop()
        opening = asyncio.get_running_loop().create_task(transport.connect_early(model.url))
        await asyncio.sleep(0)
        opening.cancel()
        await _get(model.url)
        assert server.requests == 1


async def _get(url: str) -> None:
    transport = await Transport.for_running_loop()
    response = await transport.get(url, headers={}, connect_timeout=5)
    assert await response.read_chunk() == b"hi"
    response.release()
