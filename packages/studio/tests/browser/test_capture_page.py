"""Pages on the web: every way to an address that is not public is closed, and the public ones work."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from io import BytesIO

import pytest
from browser_support import Sink, listening
from PIL import Image

from heald.tools.web.fetcher import WebFetcher
from heald_studio.browser.capture import capture, capture_both
from heald_studio.browser.page import BrowserError, Rendering
from needed_programs import needs_chromium

Reply = Callable[[str], bytes]


def ok(body: str, kind: str = "text/html") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


class Site:
    """A small web server; `asked` is what it was asked for."""

    def __init__(self, reply: Reply) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self._reply = reply

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def rules(self) -> WebFetcher:
        return WebFetcher(allow=[f"127.0.0.1:{self.port}", f"shop.test:{self.port}"], resolve=self.resolve)

    async def resolve(self, host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, IndexError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            self.asked.append(path)
            self.heads.append(head)
            answer = self._reply(path)
            while answer == b"endless":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + b"endless " * 9_000)
                await writer.drain()
            if answer == b"never":
                await asyncio.sleep(60)
            writer.write(answer)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def site(reply: Reply) -> AsyncGenerator[Site]:
    made = Site(reply)
    server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in made.tasks:
            task.cancel()
        await asyncio.gather(*made.tasks, return_exceptions=True)


def words(rendering: Rendering) -> list[str]:
    return [text.text for text in rendering.texts]


@needs_chromium
async def test_a_page_on_desktop_and_phone() -> None:
    page = """<!doctype html><meta name=viewport content="width=device-width"><style>body{margin:0;background:#0a0}
    @media (max-width:500px){body{background:#00a}}</style><link rel=stylesheet href=/s.css><p>welcome"""

    def reply(path: str) -> bytes:
        return ok("p{color:#fff}", "text/css") if path == "/s.css" else ok(page)

    async with site(reply) as made:
        both = await capture_both(made.url + "/shop?q=1", outgoing=made.rules)
        with Image.open(BytesIO(both.desktop.picture)) as desktop, Image.open(BytesIO(both.mobile.picture)) as phone:
            assert desktop.size[0] == 1280
            assert phone.size[0] == 375
            assert desktop.convert("RGB").getpixel((5, 300)) == (0, 0xAA, 0)
            assert phone.convert("RGB").getpixel((5, 300)) == (0, 0, 0xAA)
        assert words(both.desktop) == ["welcome"]
        assert both.desktop.texts[0].colour == (255, 255, 255)
        assert made.asked.count("/shop?q=1") == 2
        assert not any(b"proxy" in head.lower() for head in made.heads)


@needs_chromium
async def test_a_name_is_resolved_by_us_and_the_host_is_reported() -> None:
    async with site(lambda _: ok("<p>named")) as made:
        rendering = await capture(f"http://shop.test:{made.port}/", outgoing=made.rules)
        assert words(rendering) == ["named"]
        assert f"Host: shop.test:{made.port}".encode() in made.heads[0]


ELSEWHERE: dict[str, Callable[[str], bytes]] = {
    "302": lambda there: f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode(),
    "307": lambda there: f"HTTP/1.1 307 Temporary\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode(),
    "meta refresh": lambda there: ok(f"<meta http-equiv=refresh content='0;url={there}'><p>x"),
    "script": lambda there: ok(f"<p>x<script>location = '{there}'</script>"),
}


@needs_chromium
@pytest.mark.parametrize("how", ELSEWHERE.values(), ids=ELSEWHERE.keys())
async def test_a_page_that_leads_to_this_machine(how: Callable[[str], bytes]) -> None:
    async with listening() as sink, site(lambda _: how(f"http://127.0.0.1:{sink.port}/secret")) as made:
        with pytest.raises(BrowserError) as caught:
            await capture(made.url, outgoing=made.rules)
        assert caught.value.kind == "url_not_allowed"
        assert "not on the public internet" in str(caught.value)
        assert sink.count == 0


PARTS = """<p>shown</p><img src="http://HOST/a.png"><link rel=stylesheet href="http://HOST/a.css"><iframe src="http://HOST/f">
</iframe><link rel=preconnect href="http://HOST"><link rel=dns-prefetch href="//HOST"><script src="http://HOST/a.js"></script><script>
fetch("http://HOST/fetch", {mode: "no-cors"}).catch(() => {}); new WebSocket("ws://HOST/ws"); new EventSource("http://HOST/es");
navigator.sendBeacon("http://HOST/beacon"); new Worker(URL.createObjectURL(new Blob(["fetch('http://HOST/w',{mode:'no-cors'})"])));
try { const c = new RTCPeerConnection({iceServers: [{urls: "stun:HOST"}]}); c.createDataChannel("d");
c.createOffer().then((o) => c.setLocalDescription(o)) } catch {}</script>"""


@needs_chromium
async def test_parts_of_a_page_on_this_machine_are_not_fetched() -> None:
    async def probe(sink: Sink, host: str) -> None:
        async with site(lambda _: ok(PARTS.replace("HOST", f"{host}:{sink.port}"))) as made:
            rendering = await capture(made.url, outgoing=WebFetcher(allow=[f"127.0.0.1:{made.port}"]))
            assert "shown" in words(rendering)
            assert sink.count == 0, sink.requests

    async with listening() as sink:
        await probe(sink, "127.0.0.1")
        await probe(sink, "localhost")


@needs_chromium
async def test_what_is_allowed_does_pass() -> None:
    """The proof that the sink of the other tests would have been reached: the same parts, allowed."""
    async with listening() as sink, site(lambda _: ok(PARTS.replace("HOST", f"127.0.0.1:{sink.port}"))) as made:
        allowed = WebFetcher(allow=[f"127.0.0.1:{made.port}", f"127.0.0.1:{sink.port}"])
        await capture(made.url, outgoing=allowed)
        paths = {request.split(" ")[1] for request in sink.requests if " " in request}
        assert paths >= {"/a.png", "/fetch", "/ws", "/es", "/w"}
        assert sink.datagrams == 0


@needs_chromium
async def test_a_name_that_changes_its_answer_gains_nothing() -> None:
    async with listening() as sink:
        answers = iter([["93.184.216.34"], *([["127.0.0.1"]] * 50)])

        async def resolve(host: str, port: int) -> list[str]:
            return next(answers)

        with pytest.raises(BrowserError) as caught:
            await capture(f"http://changing.test:{sink.port}/", outgoing=WebFetcher(resolve=resolve))
        assert caught.value.kind == "url_not_allowed"
        assert sink.count == 0


NOT_PUBLIC = [
    "http://127.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://[::1]:PORT/",
    "http://0.0.0.0:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://017700000001:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://127。0。0。1:PORT/",
    "http://①②⑦.0.0.1:PORT/",
    "http://user@127.0.0.1:PORT/",
    "file:///etc/passwd",
    "chrome://version",
    "javascript:alert(1)",
    "about:blank",
    "127.0.0.1:PORT",
]


@pytest.mark.parametrize("url", NOT_PUBLIC)
async def test_addresses_that_may_not_be_looked_at(url: str) -> None:
    async with listening() as sink:
        with pytest.raises(BrowserError) as caught:
            await capture(url.replace("PORT", str(sink.port)))
        assert caught.value.kind == "url_not_allowed"
        assert str(caught.value).endswith(".")
        assert sink.count == 0


@needs_chromium
async def test_a_page_without_end() -> None:
    async with site(lambda _: b"endless") as made:
        started = time.monotonic()
        with pytest.raises(BrowserError) as caught:
            await capture(made.url, outgoing=made.rules, max_bytes=2_000_000)
        assert caught.value.kind == "too_large"
        assert "2 MB" in str(caught.value)
        assert time.monotonic() - started < 30


@needs_chromium
async def test_a_server_that_never_answers() -> None:
    async with site(lambda _: b"never") as made:
        with pytest.raises(BrowserError, match="not finished after 2 s"):
            await capture(made.url, outgoing=made.rules, seconds=2)


@needs_chromium
async def test_a_server_that_is_not_there() -> None:
    async with site(lambda _: b"") as made:
        rules = made.rules
    with pytest.raises(BrowserError, match="could not be loaded"):
        await capture(made.url, outgoing=rules)
