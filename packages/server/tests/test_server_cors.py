"""Pages of other origins that are allowed: preflights, headers that they may read, and sockets with a token alone."""

from pathlib import Path

import aiohttp
import pytest

from heald_server.settings import ServerSettings
from serving_parts import TOKEN, served

ORIGIN = "https://page.example.org"
SETTINGS = ServerSettings(port=0, origins=(ORIGIN,))


async def test_a_preflight_allows_the_headers_that_clients_add(tmp_path: Path) -> None:
    requested = "authorization,content-type,x-stainless-lang,x-stainless-retry-count,openai-beta, b\u00e4d,x"
    ask = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": requested}
    async with served(tmp_path, settings=SETTINGS) as server, aiohttp.ClientSession() as browser:
        async with browser.options(f"{server.url}/v1/chat/completions", headers=ask) as answer:
            allowed = {name.strip().lower() for name in answer.headers["Access-Control-Allow-Headers"].split(",")}
            assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
        async with browser.options(f"{server.url}/v1/models", headers=ask | {"Origin": "https://evil.org"}) as answer:
            assert answer.status == 403
            assert "Access-Control-Allow-Headers" not in answer.headers
    assert {"authorization", "last-event-id", "x-stainless-lang", "x-stainless-retry-count", "openai-beta"} <= allowed
    assert not any("\u00e4" in name for name in allowed)


async def test_a_page_may_read_the_names_of_its_session(tmp_path: Path) -> None:
    async with served(tmp_path, settings=SETTINGS) as server:
        body = {"messages": [{"role": "user", "content": "Hello"}]}
        async with server.client.post("/api/chat", json=body, headers={"Origin": ORIGIN}) as answer:
            exposed = answer.headers["Access-Control-Expose-Headers"]
            assert answer.headers["X-Heald-Session"]
        async with server.client.post("/api/chat", json=body) as answer:
            assert "Access-Control-Expose-Headers" not in answer.headers
    assert {"X-Heald-Session", "X-Heald-Exchange", "Retry-After"} <= {name.strip() for name in exposed.split(",")}


@pytest.mark.parametrize("path", ["/ws", "/api/chat/ws"])
async def test_a_socket_may_offer_its_token_alone(path: str, tmp_path: Path) -> None:
    async with served(tmp_path) as server, aiohttp.ClientSession() as browser:
        token = f"heald.bearer.{TOKEN}"
        async with browser.ws_connect(f"{server.url}{path}", protocols=[token]) as socket:
            assert socket.protocol == token
        async with browser.ws_connect(f"{server.url}{path}", protocols=["heald", token]) as socket:
            assert socket.protocol == "heald"
