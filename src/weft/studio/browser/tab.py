"""A tab: loads one page in a browser context of its own, answers its requests, and renders it within limits.

Every target that the page starts (frames of other origins, workers) is paused until its requests are intercepted.
"""

import asyncio
import base64
import contextlib
import time
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from weft.studio.browser.chromium import CommandFailed, DevToolsConnection, Params
from weft.studio.browser.page import MAX_PIXELS, ORIGIN, BrowserError, PageResponse, Rendering, TextBlock, Viewport

AnswerUrl = Callable[[str], Awaitable[PageResponse | None]]
T = TypeVar("T")

MAX_CONSOLE_LINES = 50
MAX_CONSOLE_LINE = 500
MAX_BODY = 50_000_000
_LEVELS = {"error": "error", "assert": "error", "warning": "warning"}
_MOBILE = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
)
_PRELOAD_SCRIPT = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name];
"""
MAX_HEIGHT = 20_000  # of a picture, in device pixels
_STRIP = 8_000
_MAX_TEXTS = 4_000
_MAX_RELOADS = 5
_LOAD_SECONDS = 10.0
_WAIT_STABLE = (files("weft.studio.browser") / "wait_stable.js").read_text("utf-8").partition("\nasync")[2]
_TEXTS = (files("weft.studio.browser") / "texts.js").read_text("utf-8").partition("\n(limit")[2]


class Tab:
    """One loaded page. If its process dies or a request cannot be answered, all waiting calls fail."""

    def __init__(self, connection: DevToolsConnection, ask: AnswerUrl | None) -> None:
        self.session = ""
        self.console: list[str] = []
        self.failed: list[str] = []
        self.requests = 0
        """How many requests it has made."""
        self.unanswered = 0
        """How many of them are being answered."""
        self._broken = asyncio.Event()
        self._fault: Exception | None = None
        self._connection = connection
        self._answer_url = ask
        self._context = ""
        self._target = ""
        self._frame = ""
        self._committed = False
        self._loaded = asyncio.Event()
        self._aborted = ""
        self._sessions: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, viewport: Viewport, *, mobile: bool, proxy: str = "") -> None:
        browser = self._connection
        apart: Params = {"disposeOnDetach": True}
        if proxy:
            apart |= {"proxyServer": proxy, "proxyBypassList": "<-loopback>"}
        self._context = (await browser.call("Target.createBrowserContext", apart))["browserContextId"]
        where = {"url": "about:blank", "browserContextId": self._context}
        size = {"width": viewport.width, "height": viewport.height}
        self._target = (await browser.call("Target.createTarget", where | size))["targetId"]
        attached = await browser.call("Target.attachToTarget", {"targetId": self._target, "flatten": True})
        self.session = attached["sessionId"]
        browser.subscribe(self.session, partial(self._on_event, self.session))
        metrics = size | {"deviceScaleFactor": viewport.scale, "mobile": mobile}
        reduced = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        await asyncio.gather(
            *(self.call(f"{domain}.enable") for domain in ("Page", "Runtime", "Log", "Inspector")),
            self._intercept(self.session),
            self.call("Emulation.setDeviceMetricsOverride", metrics),
            self.call("Emulation.setTouchEmulationEnabled", {"enabled": mobile}),
            self.call("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            self.call("Emulation.setEmulatedMedia", {"media": "screen", "features": reduced}),
            self.call("Page.addScriptToEvaluateOnNewDocument", {"source": _PRELOAD_SCRIPT}),
            self.call("Page.setDownloadBehavior", {"behavior": "deny"}),
        )
        if mobile:
            await self.call("Emulation.setUserAgentOverride", {"userAgent": _MOBILE})

    async def navigate(self, url: str, seconds: float | None) -> None:
        """Navigate to a page and wait until it has loaded, at most `seconds`."""
        answer = await self.call("Page.navigate", {"url": url})
        self._frame = answer.get("frameId", "")
        if answer.get("errorText"):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0 if self._aborted else 1):
                    await self._broken.wait()
            raise self._fault or BrowserError(self._aborted or "The page could not be loaded.", "load")
        try:
            async with asyncio.timeout(seconds):
                await self._until_broken(self._loaded.wait())
        except TimeoutError:
            if seconds is None:
                raise

    async def evaluate(self, function: str, *arguments: float) -> Any:
        """Run a JavaScript function in an isolated world of the page, and return its result."""
        world = await self.call("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "weft"})
        how: Params = {"functionDeclaration": function, "awaitPromise": True, "returnByValue": True}
        how |= {"executionContextId": world["executionContextId"], "arguments": [{"value": it} for it in arguments]}
        answer = await self.call("Runtime.callFunctionOn", how)
        if "exceptionDetails" in answer:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine")
        return answer["result"].get("value")

    async def call(self, method: str, params: Params | None = None) -> Params:
        """Run a DevTools command on the page. Raises the fault of a broken page."""
        return await self._until_broken(self._connection.call(method, params, self.session))

    async def _until_broken(self, work: Awaitable[T]) -> T:
        waiting = asyncio.ensure_future(work)
        end = asyncio.ensure_future(self._broken.wait())
        try:
            await asyncio.wait((waiting, end), return_when=asyncio.FIRST_COMPLETED)
            if self._fault is not None:
                raise self._fault
            return waiting.result()
        finally:
            waiting.cancel()
            end.cancel()

    def _fail(self, fault: Exception) -> None:
        self._fault = self._fault or fault
        self._broken.set()

    async def close(self) -> None:
        """Close the tab with its browser context."""
        for task in self._tasks:
            task.cancel()
        for session in (self.session, *self._sessions):
            self._connection.unsubscribe(session)
        if self._context and not self._connection.lost.is_set():
            await self._connection.call("Target.disposeBrowserContext", {"browserContextId": self._context})

    async def _intercept(self, session: str) -> None:
        call = self._connection.call
        how = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        await call("Target.setAutoAttach", how, session)
        if self._answer_url is not None:
            await call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session)

    def _on_event(self, session: str, method: str, params: Params) -> None:
        match method:
            case "Fetch.requestPaused":
                self._spawn(self._answer(session, params))
            case "Target.attachedToTarget":
                self._spawn(self._attach(params["sessionId"]))
            case "Page.frameNavigated" if params["frame"]["id"] == self._target:
                self._committed = params["frame"]["url"] != "about:blank"
                if params["frame"].get("unreachableUrl"):
                    url: str = params["frame"]["unreachableUrl"]
                    self._fail(BrowserError(f"The page {_display_url(url)} could not be loaded.", "load", url=url))
            case "Page.frameStoppedLoading" if params["frameId"] == self._target and self._committed:
                self._loaded.set()
            case "Page.loadEventFired" if self._committed:
                self._loaded.set()
            case "Page.javascriptDialogOpening":
                self._connection.post("Page.handleJavaScriptDialog", {"accept": False}, session)
            case "Runtime.consoleAPICalled" if params.get("type") in _LEVELS:
                self._record_console(_LEVELS[params["type"]], _console_text(params.get("args", [])))
            case "Runtime.exceptionThrown":
                self._record_console("error", _exception_text(params.get("exceptionDetails", {})))
            case "Log.entryAdded":
                entry = params.get("entry", {})
                if entry.get("level") in ("error", "warning") and entry.get("source") != "network":
                    self._record_console(entry["level"], entry.get("text", ""))
            case "Inspector.targetCrashed":
                self._fail(BrowserError("The page crashed; it may use too much memory.", "crashed"))
            case _:
                pass

    async def _attach(self, session: str) -> None:
        """Intercept the requests of a new target of the page, then let it run."""
        self._sessions.add(session)
        self._connection.subscribe(session, partial(self._on_event, session))
        try:
            with contextlib.suppress(CommandFailed):
                await self._intercept(session)
        finally:
            self._connection.post("Runtime.runIfWaitingForDebugger", session=session)

    async def _answer(self, session: str, params: Params) -> None:
        assert self._answer_url is not None
        request: str = params["requestId"]
        url: str = params["request"]["url"]
        kind: str = params.get("resourceType", "")
        self.requests += 1
        self.unanswered += 1
        try:
            found = await self._answer_url(url)
        except Exception as error:
            self._fail(error)
            return
        finally:
            self.unanswered -= 1
        if found is not None and len(found.body) > MAX_BODY:
            found = None
        if found is None or found.status >= 400:
            self._record_failed_request(url)
        if found is None:
            reason = "BlockedByClient"
            if kind == "Document":
                reason = "Aborted"
                self._aborted = self._aborted or f"The page {_display_url(url)} is not in the project; check its path."
            self._connection.post("Fetch.failRequest", {"requestId": request, "errorReason": reason}, session)
            return
        fields = {"Content-Type": found.type, "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
        headers = [{"name": name, "value": value} for name, value in fields.items()]
        body = base64.b64encode(found.body).decode()
        answer = {"requestId": request, "responseCode": found.status, "responseHeaders": headers, "body": body}
        self._connection.post("Fetch.fulfillRequest", answer, session)

    def _record_failed_request(self, url: str) -> None:
        shown = _display_url(url)
        if shown != "favicon.ico" and shown not in self.failed and len(self.failed) < MAX_CONSOLE_LINES:
            self.failed.append(shown)

    def _record_console(self, level: str, text: str) -> None:
        if text and len(self.console) < MAX_CONSOLE_LINES:
            self.console.append(f"{level}: {text}"[:MAX_CONSOLE_LINE])

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(_ignore_closed_page(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _ignore_closed_page(work: Awaitable[None]) -> None:
    """Suppress errors of requests whose page is closed."""
    with contextlib.suppress(CommandFailed, BrowserError):
        await work


def _display_url(url: str) -> str:
    if url.startswith(ORIGIN):
        return urlsplit(url).path.lstrip("/") or "index.html"
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"[:200]


def _console_text(arguments: list[Params]) -> str:
    words = [str(one.get("value", one.get("description", one.get("type", "")))) for one in arguments]
    return " ".join(words).strip()


def _exception_text(details: Params) -> str:
    exception: Params = details.get("exception") or {}
    text = str(exception.get("description") or exception.get("value") or details.get("text") or "")
    where = _display_url(details["url"]) if details.get("url") else ""
    line = text.partition("\n")[0]
    return f"{line} ({where}:{details.get('lineNumber', 0) + 1})" if where else line


class _Read(msgspec.Struct):
    title: str
    width: int
    height: int
    texts: list[tuple[str, float, float, float, float, tuple[int, int, int] | None]]
    cut: bool


class RenderRequest(msgspec.Struct, frozen=True):
    """A page to render."""

    url: str
    viewport: Viewport
    mobile: bool = False
    full_page: bool = True
    quiet_seconds: float = 0.1  # seconds without a change after which a page counts as finished
    max_wait: float = 3.0  # seconds to wait for that; then the page is rendered as it is
    require_load: bool = True  # whether all resources must have loaded
    probe: str = ""  # a JavaScript function to run at the end, in an isolated world


async def render_page(tab: Tab, wanted: RenderRequest) -> Rendering:
    started = time.monotonic()
    await tab.navigate(wanted.url, None if wanted.require_load else _LOAD_SECONDS)
    read = await _read_when_stable(tab, wanted)
    notes: list[str] = []
    viewport = wanted.viewport
    scale = viewport.scale
    width = viewport.width
    height = max(read.height, viewport.height) if wanted.full_page else viewport.height
    most = min(MAX_HEIGHT, int(MAX_PIXELS / (width * scale))) / scale
    if height > most:
        notes.append(f"The page is {height} px tall; the picture shows the first {int(most)} px.")
        height = int(most)
    if read.cut:
        notes.append(f"The page has a great deal of text; only the first {len(read.texts)} lines of it were read.")
    picture = await _screenshot(tab, width, height, viewport.height)
    probed = await tab.evaluate(wanted.probe) if wanted.probe else None
    texts = [
        TextBlock(text, x * scale, y * scale, w * scale, h * scale, colour)
        for text, x, y, w, h, colour in read.texts
        if x < width and y < height and x + w > 0 and y + h > 0
    ]
    return Rendering(
        picture=picture,
        size=(round(width * scale), round(height * scale)),
        console=tuple(tab.console),
        failed=tuple(tab.failed),
        overflow=max(0, read.width - width),
        texts=tuple(texts),
        title=read.title,
        notes=tuple(notes),
        duration_ms=round((time.monotonic() - started) * 1000),
        probed=probed,
    )


async def _read_when_stable(tab: Tab, wanted: RenderRequest) -> _Read:
    """Wait until the page is stable, and read it. A page that navigates meanwhile is followed a few times."""
    for _ in range(_MAX_RELOADS):
        try:
            await _wait_stable(tab, wanted)
            return msgspec.convert(await tab.evaluate("(limit" + _TEXTS, _MAX_TEXTS, 1500), _Read, strict=False)
        except CommandFailed:
            await asyncio.sleep(0.1)
        except msgspec.ValidationError:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None
    raise BrowserError("The page keeps loading itself anew; take out what reloads it.", "restless")


async def _wait_stable(tab: Tab, wanted: RenderRequest) -> None:
    """Wait until the page is stable and asks for nothing more, such as modules that its script loads one by one."""
    until = time.monotonic() + wanted.max_wait
    left = wanted.max_wait
    while True:
        requests = tab.requests
        await tab.evaluate("async" + _WAIT_STABLE, wanted.quiet_seconds * 1000, left * 1000)
        left = until - time.monotonic()
        if left <= 0 or (tab.requests == requests and not tab.unanswered):
            return


async def _screenshot(tab: Tab, width: int, height: int, shown: int) -> bytes:
    """Take a picture of the page; `shown` is the height of the viewport.

    Chromium shifts a page that is written from right to left if it is captured beyond a viewport that shows all of it.
    """
    strips: list[bytes] = []
    for top in range(0, height, _STRIP):
        clip = {"x": 0, "y": top, "width": width, "height": min(_STRIP, height - top), "scale": 1}
        wanted = {"format": "png", "captureBeyondViewport": height > shown, "optimizeForSpeed": True, "clip": clip}
        try:
            answer = await tab.call("Page.captureScreenshot", wanted)
        except CommandFailed:
            raise BrowserError("No picture could be taken of the page; try again.", "picture") from None
        strips.append(base64.b64decode(answer["data"]))
    return strips[0] if len(strips) == 1 else await asyncio.to_thread(_join_strips, strips)


def _join_strips(strips: list[bytes]) -> bytes:
    from io import BytesIO

    from PIL import Image

    parts = [Image.open(BytesIO(strip)).convert("RGB") for strip in strips]
    whole = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)))
    top = 0
    for part in parts:
        whole.paste(part, (0, top))
        top += part.height
    out = BytesIO()
    whole.save(out, "PNG", compress_level=1)
    return out.getvalue()
