"""EventSource of a real Chromium: native server-sent events with the cookie of the page."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from heald.core.envelope import decode_event
from heald.sessions.settings import SessionSettings
from heald_server.settings import ServerSettings
from scripted_agents import PIXEL, launch, model, slow, weather
from serving_parts import TOKEN, Served, served

_PAGE = """
    window.seen = [];
    window.opened = 0;
    window.follow = (path, names) => {
      const source = new EventSource(path);
      source.onopen = () => { window.opened += 1; };
      for (const name of names) {
        source.addEventListener(name, (event) => seen.push([name, event.lastEventId, event.data]));
      }
      window.source = source;
    };
    window.send = async (path, body) => {
      const answer = await fetch(path, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
      });
      return answer.json();
    };
"""
_NAMES = ["text_delta", "tool_result", "approval_requested", "error_occurred", "exchange_response", "goodbye"]


class Relay:
    """A TCP proxy in front of a server. `cut` breaks its connections, as a network does."""

    def __init__(self) -> None:
        self.port = 0
        self.to: tuple[str, int] = ("", 0)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> "Relay":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self.to)
        both = {writer, far_writer}
        self._writers |= both
        try:
            await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))
        finally:
            self._writers -= both


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


@asynccontextmanager
async def _logged_in(chrome: Browser, server: Served, url: str = "") -> AsyncGenerator[Page]:
    """A page of the server that has logged in: the cookie is all that EventSource can send."""
    async with await chrome.new_page() as page:
        await page.route("**/blank", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        await page.goto(f"{url or server.url}/blank")
        await page.evaluate(f"() => {{ {_PAGE} }}")
        await page.evaluate("token => send('/login', { token })", TOKEN)
        yield page


async def _wait(page: Page, condition: str, argument: Any = None) -> None:
    await page.wait_for_function(condition, arg=argument, timeout=30_000)


async def _ask(page: Page, session: str, **body: Any) -> None:
    await page.evaluate("([path, body]) => send(path, body)", [f"/sessions/{session}/messages", body])


async def _ended(page: Page, count: int) -> None:
    await _wait(page, "count => seen.filter(([name]) => name === 'exchange_response').length >= count", count)


async def _events(page: Page) -> list[Any]:
    return [decode_event(data).data for _, _, data in await page.evaluate("seen")]


async def _text(page: Page) -> str:
    return "".join(event.text for event in await _events(page) if event.type == "text_delta")


async def test_turns_tools_a_picture_and_an_error(tmp_path: Path, chrome: Browser) -> None:
    async with served(tmp_path, model, tools={"weather": weather}) as server, _logged_in(chrome, server) as page:
        session = await server.session()
        await page.evaluate("([path, names]) => follow(path, names)", [f"/sessions/{session}/events", _NAMES])
        await _ask(page, session, text="The weather?")
        await _ended(page, 1)
        assert await _text(page) == "Let me see.Done: ok Oslo: 3 °C, snow"
        image = {"type": "image", "media_type": "image/png", "data": PIXEL}
        await _ask(page, session, content=[{"type": "text", "text": "What is seen?"}, image])
        await _ended(page, 2)
        assert (await _text(page)).endswith("I see text and image/png: What is seen?")
        await _ask(page, session, text="Please fail")
        await _ended(page, 3)
        assert (await _events(page))[-1].error.message == "The model is out of order."


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_an_approval(decision: str, tmp_path: Path, chrome: Browser) -> None:
    defaults = SessionSettings(permissions="ask", tools=["launch"])
    async with (
        served(tmp_path, model, tools={"launch": launch}, defaults=defaults) as server,
        _logged_in(chrome, server) as page,
    ):
        session = await server.session()
        await page.evaluate("([path, names]) => follow(path, names)", [f"/sessions/{session}/events", _NAMES])
        await _ask(page, session, text="Please launch")
        await _wait(page, "() => seen.some(([name]) => name === 'approval_requested')")
        (asked,) = [event for event in await _events(page) if event.type == "approval_requested"]
        path = f"/sessions/{session}/approvals/{asked.approval}"
        await page.evaluate("([path, body]) => send(path, body)", [path, {"decision": decision}])
        await _ended(page, 1)
        (result,) = [event for event in await _events(page) if event.type == "tool_result"]
        assert result.status == ("ok" if decision == "approve" else "denied")


async def test_a_cut_connection_resumes_with_the_last_event_id(tmp_path: Path, chrome: Browser) -> None:
    """The browser reconnects by itself, and sends the id of the last event that it had."""
    async with Relay() as relay:
        settings = ServerSettings(port=0, origins=(relay.url,))
        async with served(tmp_path, slow, settings=settings) as server:
            relay.to = ("127.0.0.1", int(server.url.rpartition(":")[2]))
            async with _logged_in(chrome, server, relay.url) as page:
                session = await server.session()
                await page.evaluate("([path, names]) => follow(path, names)", [f"/sessions/{session}/events", _NAMES])
                await _ask(page, session, text="A long one")
                for times in range(1, 3):
                    await _wait(page, "count => seen.length >= count", 30 * times)
                    relay.cut()
                    await _wait(page, "times => opened > times", times)
                await _ended(page, 1)
                assert await _text(page) == "Word after word. " * 200
                ids = [int(name) for _, name, _ in await page.evaluate("seen")]
                assert ids == sorted(set(ids))


async def test_closing_the_source_and_cancelling(tmp_path: Path, chrome: Browser) -> None:
    async with served(tmp_path, slow) as server, _logged_in(chrome, server) as page:
        session = await server.session()
        await page.evaluate("([path, names]) => follow(path, names)", [f"/sessions/{session}/events", _NAMES])
        await _ask(page, session, text="A long one")
        await _wait(page, "() => seen.length > 5")
        await page.evaluate("path => send(path, {})", f"/sessions/{session}/cancel")
        await _ended(page, 1)
        assert (await _events(page))[-1].status == "cancelled"


async def test_a_stranger_gets_no_events(tmp_path: Path, chrome: Browser) -> None:
    async with served(tmp_path, model) as server, _logged_in(chrome, server) as page:
        session = await server.session()
        await page.context.clear_cookies()
        await page.evaluate("path => { follow(path, []); }", f"/sessions/{session}/events")
        await _wait(page, "() => source.readyState === EventSource.CLOSED")
        assert await page.evaluate("opened") == 0
