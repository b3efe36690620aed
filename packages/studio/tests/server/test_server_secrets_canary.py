"""K01 to K05: keys stay on the server. A canary stands for each, and is looked for wherever anything comes out."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path

import aiohttp
import pytest

import heald
from heald.core.json import encode_text
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import Cut, Reply, Reset, ScriptedServer
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.http.json_logs import configure_logging
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, Served, serving
from walked_routes import WAYS, ask

CANARY = "sk-CANARY-5b1f0c77-never-to-be-seen"
BASES = {"chat": "/v1", "responses": "/v1", "messages": "/v1", "gemini": "/v1beta"}


@asynccontextmanager
async def keyed(folder: Path, base_url: str, wire: str) -> AsyncGenerator[tuple[Served, StringIO]]:
    """A server whose one model has the canary as its key, with logs as loud as they go."""
    log = StringIO()
    logger = logging.getLogger("heald")
    before = logger.handlers, logger.level, logger.propagate
    configure_logging("debug", [TOKEN], log)
    model = heald.Model("m", wire=wire, base_url=base_url, api_key=CANARY, provider="test")
    context = ServerContext(
        Sessions(SqliteStore(folder / "s.db", durable=False)),
        KnownModels("test/m", {"test/m": model}),
        settings=ServerSettings(port=0),
        tokens=AccessTokens({TOKEN: ""}),
        defaults=SessionSettings(permissions="auto", tools=["files"]),
    )
    try:
        async with serving(context) as server:
            yield server, log
    finally:
        logger.handlers, logger.level, logger.propagate = before


FAULTS: dict[str, Reply] = {
    "401": Reply.json({"error": {"message": f"Incorrect API key provided: {CANARY}.", "type": "auth"}}, 401),
    "400": Reply.json({"error": {"message": f"Bad request with key {CANARY}"}}, 400),
    "403 html": Reply([f"<html>{CANARY}</html>".encode()], status=403, content_type="text/html", framing="length"),
    "a redirect": Reply(status=307, headers={"Location": f"http://127.0.0.1:9/?key={CANARY}"}, framing="length"),
    "half an answer": Reply([b"data: {", Cut()]),
    "garbage": Reply([b"data: " + CANARY.encode() + b"\n\n"]),
}


PAIRS = [
    *(("401", wire) for wire in BASES),
    *(("400", "chat"), ("403 html", "responses"), ("a redirect", "messages")),
    *((fault, wire) for fault in ("half an answer", "garbage") for wire in ("chat", "gemini")),
]
"""Every fault, and every wire. An answer that is not a stream is read in the same way on all of them."""


@pytest.mark.parametrize(("fault", "wire"), PAIRS)
async def test_k01_a_key_is_nowhere_when_the_provider_fails(
    fault: str, wire: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reply = FAULTS[fault]
    seen: list[bytes] = []
    async with (
        ScriptedServer(lambda _: reply) as provider,
        keyed(tmp_path, provider.url + BASES[wire], wire) as (server, log),
    ):
        session = await server.session()
        async with server.client.ws_connect(f"/sessions/{session}/ws") as socket:
            listening = asyncio.create_task(_until_end(socket))
            sse = await server.client.get(f"/sessions/{session}/events")
            accepted = await server.send(session)
            await asyncio.wait([listening], timeout=0.5)
            await _cancel(server, session)  # some faults are tried again for a while
            await server.ended(session, accepted["exchange"])
            seen += await listening
            seen.append(await sse.content.readany())
            sse.close()
        body = {"model": "heald", "messages": [{"role": "user", "content": "Hi."}]}
        if fault in ("401", "400", "403 html"):  # the others are tried again for a while
            for path in ("/v1/chat/completions", "/api/chat", "/agui"):
                async with server.client.post(path, json=body | {"threadId": "t", "runId": "r"}) as answer:
                    seen.append(await answer.read())
        for path in ("/health", "/providers", "/models", "/tools", "/studio", "/openapi.json", f"/sessions/{session}"):
            async with server.client.get(path) as answer:
                seen += [await answer.read(), str(dict(answer.headers)).encode()]
        for path in ("export", "log", "messages", "pending", "files"):
            async with server.client.get(f"/sessions/{session}/{path}") as answer:
                seen.append(await answer.read())
        seen += _kept(tmp_path)
        assert provider.requests, "the provider was never asked"
        assert all(CANARY not in request.path for request in provider.requests)
    seen += _kept(tmp_path)
    seen += [log.getvalue().encode(), caplog.text.encode()]
    assert sum(map(len, seen)) > 10_000
    for piece in seen:
        at = piece.find(CANARY.encode())
        assert at < 0, piece[max(0, at - 200) : at + 60]
        assert TOKEN.encode() not in piece


async def _cancel(server: Served, session: str) -> None:
    async with server.client.post(f"/sessions/{session}/cancel") as answer:
        assert answer.status == 200


def _kept(folder: Path) -> list[bytes]:
    """The database, with all that SQLite keeps beside it."""
    return [file.read_bytes() for file in folder.iterdir() if file.is_file()]


async def _until_end(socket: aiohttp.ClientWebSocketResponse) -> list[bytes]:
    chunks: list[bytes] = []
    async for message in socket:
        chunks.append(message.data.encode())
        if '"exchange_response"' in message.data:
            break
    return chunks


async def test_k01_a_key_is_nowhere_when_nobody_answers(tmp_path: Path) -> None:
    async with keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, log):
        session = await server.session()
        accepted = await server.send(session)
        await asyncio.sleep(0.3)
        await _cancel(server, session)
        await server.ended(session, accepted["exchange"])
        log_text = encode_text(await server.log(session))
    assert CANARY not in log_text + log.getvalue()
    assert all(CANARY.encode() not in data for data in _kept(tmp_path))


async def test_k02_a_gemini_key_is_no_part_of_an_address(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: FAULTS["401"]) as provider:
        async with keyed(tmp_path, provider.url + "/v1beta", "gemini") as (server, _):
            session = await server.session()
            await server.ended(session, (await server.send(session))["exchange"])
        request = provider.requests[0]
        assert "key=" not in request.path
        assert request.headers["x-goog-api-key"] == CANARY


async def test_k01_a_key_does_not_follow_a_redirect(tmp_path: Path) -> None:
    async with ScriptedServer(lambda _: Reply([Reset()])) as elsewhere:
        away = Reply(status=307, headers={"Location": f"{elsewhere.url}/v1/chat/completions"}, framing="length")
        async with (
            ScriptedServer(lambda _: away) as provider,
            keyed(tmp_path, provider.url + "/v1", "chat") as (server, _),
        ):
            session = await server.session()
            accepted = await server.send(session)
            await asyncio.sleep(0.5)
            await _cancel(server, session)
            await server.ended(session, accepted["exchange"])
        assert elsewhere.requests == []


async def test_k04_keys_can_be_seen_to_be_set_and_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, _):
        async with server.client.get("/providers") as answer:
            providers = {provider["name"]: provider for provider in (await answer.json())["providers"]}
        assert providers["anthropic"]["key_set"] is True
        assert providers["openai"]["key_set"] is False
        assert set(providers["anthropic"]) == {
            *("name", "key_set", "variables", "origin", "address", "is_local", "is_running"),
        }
        for way in WAYS:
            if way.method == "GET" and "{" not in way.template:
                assert CANARY.encode() not in (await ask(server, way, token=TOKEN)).body


async def test_k05_nothing_is_sent_to_strangers(tmp_path: Path) -> None:
    async with keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, _):
        stranger = {"Authorization": ""}
        async with server.client.get("/health", headers=stranger) as answer:
            assert await answer.json() == {"status": "ok"}
        for path in ("/openapi.json", "/docs", "/redoc", "/debug", "/metrics", "/models", "/assets/", "/.git/config"):
            async with server.client.get(path, headers=stranger) as answer:
                assert answer.status in (401, 404), path
                assert "Server" not in answer.headers
                body_text = await answer.text()
                assert "Traceback" not in body_text
                assert "/src/" not in body_text


async def test_x13_no_client_states_where_a_key_goes(tmp_path: Path) -> None:
    """There is no field for an address, and no name of a model that is one."""
    async with (
        ScriptedServer(lambda _: Reply([Reset()])) as sink,
        keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, _),
    ):
        for field in ("base_url", "api_key", "endpoint", "wire", "headers", "provider", "key_envs"):
            async with server.client.post("/sessions", json={field: sink.url}) as answer:
                assert answer.status == 400, field
        names = [sink.url, f"{sink.url}/m", f"openai@{sink.url}/m", f"http/{sink.url}", "test/m@" + sink.url, "../m/x"]
        names += ["x" * 201, "", "nothing"]
        for name in names:
            async with server.client.post("/sessions", json={"model": name}) as answer:
                if answer.status == 201:
                    assert name == ""
                else:
                    assert answer.status == 400, (name, await answer.text())
            body = {"model": name, "messages": [{"role": "user", "content": "Hi."}]}
            if name:
                async with server.client.post("/v1/chat/completions", json=body) as answer:
                    assert answer.status in (400, 404), (name, await answer.text())
        body = {"base_url": sink.url, "api_key": "x", "messages": [{"role": "user", "content": "Hi."}], "stream": True}
        async with server.client.post("/v1/chat/completions", json=body) as answer:
            assert answer.status == 400
        assert sink.requests == []


async def test_x01_pictures_and_pages_of_our_own_machine_are_not_fetched(tmp_path: Path) -> None:
    async with (
        ScriptedServer(lambda _: Reply([b"x"])) as sink,
        keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, _),
    ):
        port = sink.url.rpartition(":")[2]
        hosts = [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0.0.0.0",
            "[::ffff:127.0.0.1]",
        ]
        for host in hosts:
            for prompt in ({"images": [{"url": f"http://{host}:{port}/"}]}, {"url": f"http://{host}:{port}/"}):
                async with server.client.post("/projects", json={"prompt": prompt, "stack": "html_css"}) as answer:
                    assert answer.status == 400, (prompt, await answer.text())
        for url in ("file:///etc/passwd", "http://169.254.169.254/latest/", "gopher://x/", "data:text/html,x", "//x"):
            for prompt in ({"images": [{"url": url}]}, {"url": url}):
                async with server.client.post("/projects", json={"prompt": prompt, "stack": "html_css"}) as answer:
                    assert answer.status == 400, (prompt, await answer.text())
                    assert "root:" not in await answer.text()
        assert sink.requests == []


async def test_w19_logs_hold_no_token_and_no_address_of_a_preview(tmp_path: Path) -> None:
    async with keyed(tmp_path, "http://127.0.0.1:9/v1", "chat") as (server, log):
        async with server.client.post("/projects", json={"prompt": {"text": "A page."}, "stack": "html_css"}) as answer:
            preview: str = (await answer.json())["versions"][0]["variants"][0]["preview"]
        async with server.client.get(preview) as answer:
            await answer.read()
        async with server.client.get(f"/sessions?search={TOKEN}") as answer:
            await answer.read()
        headers = {"Sec-WebSocket-Protocol": f"heald, heald.bearer.{TOKEN}", "Authorization": ""}
        async with server.client.get("/login?next=//evil.test", headers=headers, allow_redirects=False) as answer:
            assert answer.status == 405
        async with server.client.post("/login", json={"token": TOKEN}, headers={"Origin": server.url}) as answer:
            assert answer.status == 200
            assert "Location" not in answer.headers
    log_text = log.getvalue()
    assert "/projects" in log_text
    assert TOKEN not in log_text
    assert preview.split("/")[2] not in log_text
