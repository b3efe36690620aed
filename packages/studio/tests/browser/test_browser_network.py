"""A page reaches nothing but what its project serves: a sink on this machine is never called."""

import asyncio
import contextlib

import pytest
from browser_support import listening

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import ORIGIN, BrowserError, PageResponse, serve_files
from needed_programs import needs_chromium

pytestmark = needs_chromium

ATTEMPTS = """<!doctype html><title>out</title>
<link rel="dns-prefetch" href="//HOST"><link rel="preconnect" href="http://HOST"><link rel="prefetch" href="http://HOST/a">
<link rel="stylesheet" href="http://HOST/a.css"><style>@import "http://HOST/b.css"; body{background:url(http://HOST/c.png)}
@font-face{font-family:f;src:url(http://HOST/f.woff2)} p{font-family:f}</style>
<p ping="http://HOST/ping">text</p><img src="http://HOST/d.png"><img srcset="http://HOST/e.png 2x">
<iframe src="http://HOST/frame"></iframe><iframe sandbox="allow-scripts" srcdoc="<script>fetch('http://HOST/g')</script>"></iframe>
<object data="http://HOST/o"></object><video src="http://HOST/v.mp4"></video>
<form id=f action="http://HOST/form" method=post></form>
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["http://HOST/spec"]}],"prerender":[{"source":"list","urls":["http://HOST/p"]}]}</script>
<script>
const H = "HOST", quiet = (f) => { try { const p = f(); if (p && p.catch) p.catch(() => {}); } catch {} };
quiet(() => fetch("http://" + H + "/fetch"));
quiet(() => fetch("http://" + H + "/opaque", {mode: "no-cors", keepalive: true}));
quiet(() => { const x = new XMLHttpRequest(); x.open("GET", "http://" + H + "/xhr"); x.send(); });
quiet(() => new WebSocket("ws://" + H + "/ws"));
quiet(() => new WebSocket("wss://" + H + "/wss"));
quiet(() => new EventSource("http://" + H + "/events"));
quiet(() => navigator.sendBeacon("http://" + H + "/beacon", "x"));
quiet(() => navigator.serviceWorker.register("sw.js"));
quiet(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://HOST/worker'); new WebSocket('ws://HOST/worker')"]))));
quiet(() => new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://HOST/shared')"]))));
quiet(() => import("http://" + H + "/module.js"));
quiet(() => window.open("http://" + H + "/window"));
quiet(() => new WebTransport("https://" + H + "/transport"));
quiet(() => {
  const c = new (window.RTCPeerConnection || document.querySelector("iframe").contentWindow.RTCPeerConnection)(
    {iceServers: [{urls: "stun:" + H}, {urls: "turn:" + H + "?transport=tcp", username: "u", credential: "c"}]});
  c.createDataChannel("d"); c.createOffer().then((o) => c.setLocalDescription(o));
});
setTimeout(() => quiet(() => document.getElementById("f").submit()), 50);
setTimeout(() => quiet(() => { location.href = "http://" + H + "/top"; }), 150);
</script><meta http-equiv="refresh" content="0;url=http://HOST/refresh">"""


async def test_no_exit_is_open(browser: Browser) -> None:
    async with listening() as sink:
        asked: list[str] = []
        page = ATTEMPTS.replace("HOST", f"127.0.0.1:{sink.port}")

        def serve(url: str) -> PageResponse | None:
            asked.append(url)
            body = {"index.html": page, "sw.js": f"fetch('http://127.0.0.1:{sink.port}/sw')"}
            return (
                PageResponse(200, "text/html" if url.endswith("html") else "text/javascript", text.encode())
                if (text := body.get(url.removeprefix(ORIGIN), ""))
                else None
            )

        rendering = await browser.render(serve, quiet_seconds=1.0)
        assert rendering.size[0] == 1280
        assert sink.count == 0, sink.requests
        assert any(f"127.0.0.1:{sink.port}/fetch" in url for url in asked), "requests were intercepted, not lost"


@pytest.mark.parametrize("host", ["localhost", "[::1]", "0.0.0.0", "127.1", "2130706433"])
async def test_other_names_of_this_machine_lead_nowhere(browser: Browser, host: str) -> None:
    async with listening() as sink:
        page = ATTEMPTS.replace("HOST", f"{host}:{sink.port}")
        with contextlib.suppress(BrowserError):  # a form sent to 0.0.0.0 leaves the page for one that cannot be loaded
            await browser.render(serve_files({"index.html": page}), quiet_seconds=0.3)
        assert sink.count == 0, sink.requests


async def test_the_sink_counts(browser: Browser) -> None:
    """What proves the others: the sink does count a caller."""
    async with listening() as sink:
        reader, writer = await asyncio.open_connection("127.0.0.1", sink.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.read()
        writer.close()
        assert sink.count == 1


async def test_files_of_the_machine_cannot_be_read(browser: Browser) -> None:
    page = """<body><iframe src="file:///etc/hostname"></iframe><script>
    fetch("file:///etc/hostname").then((r) => r.text()).then((t) => document.body.append("READ " + t)).catch(() => {});
    setTimeout(() => { location = "file:///etc/hostname" }, 20);</script><p>still here</p>"""
    rendering = await browser.render(serve_files({"index.html": page}), quiet_seconds=0.3)
    assert [text.text for text in rendering.texts] == ["still here"]


async def test_one_page_keeps_nothing_for_the_next(browser: Browser) -> None:
    leave = "<body><script>localStorage.a = 1; document.cookie = 'a=1'; document.body.append('left')</script>"
    look = "<body><script>document.body.append('found ' + localStorage.length + document.cookie)</script>"
    await browser.render(serve_files({"index.html": leave}))
    rendering = await browser.render(serve_files({"index.html": look}))
    assert [text.text for text in rendering.texts] == ["found 0"]
