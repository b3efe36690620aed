"""Signing in to an MCP server by OAuth: a request does the browser's part; tokens are kept, renewed, never shown."""

import asyncio
import base64
import hashlib
import logging
import secrets
import stat
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import web
from mcp_calls import by_name, run
from test_mcp_http import free_port

from heald.tools.mcp import McpServer, McpServers
from heald.tools.mcp.sign_in import SignIn
from heald.tools.mcp.token_store import TokenStore


class Protected:
    """A server with one tool that asks for a token, and the server that issues tokens."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.url = f"{self.base}/mcp"
        self.tokens: list[str] = []
        self.grants: list[str] = []
        self.refuses = False
        self._codes: dict[str, str] = {}
        self._refresh = ""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/mcp", self._mcp)
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self._resource)
        app.router.add_get("/.well-known/oauth-authorization-server", self._metadata)
        app.router.add_post("/register", self._register)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        return app

    async def _mcp(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens[-1:]:
            place = f"{self.base}/.well-known/oauth-protected-resource/mcp"
            return web.Response(status=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{place}"'})
        message: Any = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        tool = {"name": "hello", "inputSchema": {"type": "object"}}
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "p", "version": "1"},
            },
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [{"type": "text", "text": "hello"}]},
        }
        if message["method"] not in results:
            error = {"code": -32601, "message": "No"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]})

    async def _resource(self, request: web.Request) -> web.Response:
        return web.json_response({"resource": self.url, "authorization_servers": [self.base]})

    async def _metadata(self, request: web.Request) -> web.Response:
        places = {
            f"{name}_endpoint": f"{self.base}/{path}"
            for name, path in (("authorization", "authorize"), ("token", "token"), ("registration", "register"))
        }
        more = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
        return web.json_response({"issuer": self.base, **places, **more})

    async def _register(self, request: web.Request) -> web.Response:
        return web.json_response({**(await request.json()), "client_id": "client-1"}, status=201)

    async def _authorize(self, request: web.Request) -> web.Response:
        query = request.query
        code = secrets.token_hex(8)
        self._codes[code] = query["code_challenge"]
        answer = {"error": "access_denied"} if self.refuses else {"code": code}
        raise web.HTTPFound(f"{query['redirect_uri']}?{urlencode(answer | {'state': query['state']})}")

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.grants.append(str(form["grant_type"]))
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == self._codes.pop(str(form["code"]))
        else:
            assert form["refresh_token"] == self._refresh
        self.tokens.append(f"canary-{secrets.token_hex(8)}")
        self._refresh = f"canary-refresh-{secrets.token_hex(8)}"
        answer = {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 3600}
        return web.json_response(answer | {"refresh_token": self._refresh})


@asynccontextmanager
async def protected() -> AsyncGenerator[Protected]:
    port = free_port()
    server = Protected(port)
    runner = web.AppRunner(server.app())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield server
    finally:
        await runner.cleanup()


async def browse(server: str, address: str) -> None:
    """Do what a browser does with the page."""

    def fetch() -> None:
        try:
            urllib.request.urlopen(address, timeout=10).read()
        except OSError:
            return

    asyncio.get_running_loop().run_in_executor(None, fetch)


def signing_in(folder: Path, open_page: Any = browse) -> SignIn:
    return SignIn(open_page, store=lambda url: TokenStore(url, folder))


def file_modes(folder: Path) -> list[int]:
    return [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()]


@pytest.fixture(autouse=True)
def without_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


async def test_sign_in_once_then_use_and_renew_the_tokens(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with protected() as server:
        config = McpServer(name="web", url=server.url)
        async with McpServers([config], sign_in=signing_in(tmp_path)) as servers:
            assert servers.failures == {}
            assert (await run(by_name(servers)["web__hello"])).content == "hello"
        assert server.grants == ["authorization_code"]
        assert file_modes(tmp_path) == [0o600]

        async with McpServers([config], sign_in=signing_in(tmp_path, None)) as servers:
            assert servers.failures == {}
        assert server.grants == ["authorization_code"]

        store = TokenStore(server.url, tmp_path)
        stored = store.read()
        store.write(type(stored)(stored.tokens, 1.0, stored.client, stored.metadata, stored.resource))  # it has ended
        async with McpServers([config], sign_in=signing_in(tmp_path, None)) as servers:
            assert servers.failures == {}
            assert (await run(by_name(servers)["web__hello"])).content == "hello"
        assert server.grants == ["authorization_code", "refresh_token"]
        assert not any(token in caplog.text for token in server.tokens)
        assert "canary" not in caplog.text
        assert store.delete()
        assert store.read().tokens is None


async def test_without_a_person_the_command_is_named(tmp_path: Path) -> None:
    async with protected() as server:
        async with McpServers([McpServer(name="web", url=server.url)], sign_in=signing_in(tmp_path, None)) as servers:
            assert "run `heald mcp login web`" in str(servers.failures["web"])
        assert server.grants == []


async def test_a_refused_sign_in_is_a_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with protected() as server:
        server.refuses = True
        async with McpServers([McpServer(name="web", url=server.url)], sign_in=signing_in(tmp_path)) as servers:
            assert "could not be signed in to" in str(servers.failures["web"])
    assert "Traceback" not in caplog.text


async def test_configured_headers_need_no_sign_in(tmp_path: Path) -> None:
    async with protected() as server:
        server.tokens.append("mine")
        config = McpServer(name="web", url=server.url, headers={"authorization": "Bearer mine"})
        async with McpServers([config], sign_in=signing_in(tmp_path, None)) as servers:
            assert servers.failures == {}
