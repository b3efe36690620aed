"""Behind a proxy: the page is known under another name, and works there; a page that is only allowed gets no cookie."""

from pathlib import Path

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from heald.sessions.memory import MemoryStore
from heald_server.context import ServerContext
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, S, context_on, served, serving

NAME = "heald.example.org"
ORIGIN = f"https://{NAME}"
BROWSER = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}


async def _logged_in(client: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> dict[str, str]:
    async with client.post(f"{url}/login", json={"token": TOKEN}, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        said = answer.headers["Set-Cookie"]
    assert "; Secure" in said
    return headers | {"Cookie": said.partition(";")[0]}


async def test_the_page_works_under_the_proxys_name(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, origins=(ORIGIN,))
    async with served(tmp_path, settings=settings) as server, aiohttp.ClientSession() as browser:
        headers = await _logged_in(browser, server.url, BROWSER | {"Host": NAME})
        async with browser.post(f"{server.url}/sessions", json={}, headers=headers) as answer:
            assert answer.status == 201, await answer.text()
        async with browser.ws_connect(f"{server.url}/ws", headers=headers) as socket:
            assert not socket.closed


@pytest.mark.parametrize("host", [None, "heald.example.org:8443", "other.example.org"])
async def test_an_allowed_page_of_another_name_gets_nothing_for_a_cookie(tmp_path: Path, host: str | None) -> None:
    settings = ServerSettings(port=0, origins=(ORIGIN, "https://heald.example.org:8443", "https://other.example.org"))
    async with served(tmp_path, settings=settings) as server, aiohttp.ClientSession() as browser:
        headers = await _logged_in(browser, server.url, BROWSER | {"Host": NAME})
        headers = {name: value for name, value in headers.items() if name != "Host"} | ({"Host": host} if host else {})
        async with browser.post(f"{server.url}/sessions", json={}, headers=headers) as answer:
            assert answer.status == 401, await answer.text()
        with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
            await browser.ws_connect(f"{server.url}/ws", headers=headers)


@pytest.mark.parametrize(("host", "scheme"), [(NAME, "https"), ("plain.example.org", "http"), (None, "http")])
async def test_routes_know_the_address_that_browsers_see(host: str | None, scheme: str) -> None:
    """The policy of previews and the cookie name it."""

    def url_routes(_: ServerContext) -> list[Route]:
        async def show_url(request: Request) -> PlainTextResponse:
            return PlainTextResponse(str(request.url))

        return [Route("/told", show_url)]

    settings = ServerSettings(port=0, origins=(ORIGIN, "http://plain.example.org"))
    context = context_on(MemoryStore(), {"scripted": lambda: S(["Hello."])}, settings=settings)
    headers = {"Host": host} if host else {}
    async with (
        serving(context, extensions=[url_routes]) as server,
        server.client.get("/told", headers=headers) as answer,
    ):
        assert await answer.text() == f"{scheme}://{host or server.url.removeprefix('http://')}/told"
