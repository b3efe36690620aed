"""M05 and TLS faults through the whole server: what a client is told, what is asked of the provider, what leaks."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.core.json import JsonObject, loads
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import Reply, ScriptedServer
from heald_check.checker import check_log
from serving_parts import Served, context_on, serving

CANARY = "sk-CANARY-8e21c4-never-to-be-seen"

SPENT: dict[str, tuple[int, JsonObject]] = {
    "messages": (
        429,
        {
            "type": "error",
            "error": {
                "type": "rate_limit_error",
                "message": "Your organization has reached its enforced spend limit.",
                "details": {"error_code": "enforced_spend_limit_reached"},
            },
        },
    ),
    "chat": (429, {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}),
    "responses": (
        429,
        {"error": {"message": "No credit.", "type": "insufficient_quota", "code": "insufficient_quota"}},
    ),
}


@asynccontextmanager
async def asking(folder: Path, base_url: str, wire: str) -> AsyncGenerator[Served]:
    def model() -> heald.Model:
        return heald.Model("m", wire=wire, base_url=base_url, api_key=CANARY, provider="test")

    async with serving(context_on(SqliteStore(folder / "s.db", durable=False), {"m": model})) as server:
        yield server


async def _failed(server: Served) -> ExchangeResponse:
    """An exchange that fails; its log keeps the invariants and no key."""
    session = await server.session()
    async with asyncio.timeout(60):
        response = (await server.ended(session, (await server.send(session))["exchange"])).data
    assert isinstance(response, ExchangeResponse)
    assert response.status == "failed"
    assert not check_log(await server.log(session), secrets=[CANARY])
    return response


@pytest.mark.parametrize("wire", list(SPENT))
async def test_m05_out_of_money_is_asked_once(tmp_path: Path, wire: str) -> None:
    status, body = SPENT[wire]
    refusal = Reply.json(body, status, {"retry-after": "0"})
    async with (
        ScriptedServer(lambda _: refusal) as provider,
        asking(tmp_path, f"{provider.url}/v1", wire) as server,
    ):
        response = await _failed(server)
        assert response.error is not None
        assert (response.error.code, response.error.retryable) == ("quota_exhausted", False)
        assert len(provider.requests) == 1
        for path in ("/v1/chat/completions", "/api/chat"):
            before = len(provider.requests)
            asked = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
            async with server.client.post(path, json=asked) as answer:
                said = await answer.text()
            assert len(provider.requests) == before + 1, path
            assert CANARY not in said
        assert loads((await _plain(server))[1])["error"]["type"] == "insufficient_quota"


async def _plain(server: Served) -> tuple[int, str]:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    async with server.client.post("/v1/chat/completions", json=asked) as answer:
        return answer.status, await answer.text()


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def served_by_nobody(tmp_path: Path) -> ssl.SSLContext:
    """TLS with a certificate that nobody has signed."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    made = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([*make.split(), *made], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


@asynccontextmanager
async def listening(tls: ssl.SSLContext | None, answer: bytes) -> AsyncGenerator[tuple[int, list[bytes]]]:
    """Something at a port, and what it was sent."""
    heard: list[bytes] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heard.append(await reader.read(65536))
            writer.write(answer)
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1], heard


async def test_a_certificate_that_nobody_signed(tmp_path: Path, served_by_nobody: ssl.SSLContext) -> None:
    async with (
        listening(served_by_nobody, b"") as (port, heard),
        asking(tmp_path, f"https://localhost:{port}/v1", "chat") as server,
    ):
        response = await _failed(server)
        status, said = await _plain(server)
    assert response.error is not None
    assert "certificate" in response.error.message
    assert "Traceback" not in response.error.message
    assert str(tmp_path) not in response.error.message
    assert (status, "certificate" in said, CANARY in said) == (502, True, False)
    assert not any(CANARY.encode() in sent for sent in heard)  # it got nothing before it was known


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"])
async def test_a_server_that_speaks_no_tls(tmp_path: Path, answer: bytes) -> None:
    async with (
        listening(None, answer) as (port, heard),
        asking(tmp_path, f"https://localhost:{port}/v1", "chat") as server,
    ):
        session = await server.session()
        accepted = await server.send(session)
        async with asyncio.timeout(120):
            await _sent(heard)
            async with server.client.post(f"/sessions/{session}/cancel") as cancelled:
                assert cancelled.status == 200
            response = (await server.ended(session, accepted["exchange"])).data
        assert isinstance(response, ExchangeResponse)
        assert response.status in ("cancelled", "failed")
        assert not check_log(await server.log(session), secrets=[CANARY])
    assert not any(CANARY.encode() in sent for sent in heard)


async def test_a_stream_over_http_reports_it_in_every_dialect(tmp_path: Path, served_by_nobody: ssl.SSLContext) -> None:
    async with (
        listening(served_by_nobody, b"") as (port, _),
        asking(tmp_path, f"https://localhost:{port}/v1", "chat") as server,
    ):
        session = await server.session()
        streams = [await _stream(server, session, name) for name in ("loop", "normalized", "studio", "openai")]
        await server.send(session)
        for stream in streams:
            async with asyncio.timeout(60):
                await stream.content.readuntil(b"certificate")
            stream.close()


async def _sent(heard: list[bytes]) -> None:
    for _ in range(6000):
        if heard:
            return
        await asyncio.sleep(0.01)


async def _stream(server: Served, session: str, dialect: str) -> aiohttp.ClientResponse:
    return await server.client.get(f"/sessions/{session}/events?dialect={dialect}")
