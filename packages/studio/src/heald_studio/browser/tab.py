"""A tab: loads one page in a browser context of its own, and answers its requests within limits.

Every target that the page starts (frames of other origins, workers) is paused until its requests are intercepted.
"""

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from heald_studio.browser.devtools import CommandFailed, DevToolsConnection, Params
from heald_studio.browser.page import ORIGIN, BrowserError, PageResponse, Viewport

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
LOAD_SECONDS = 10.0


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
        self._loaded.clear()
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

    async def evaluate(self, function: str, *arguments: object) -> Any:
        """Run a JavaScript function in an isolated world of the page, and return its result."""
        world = await self.call("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "heald"})
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
            response = await self._answer_url(url)
        except Exception as error:
            self._fail(error)
            return
        finally:
            self.unanswered -= 1
        if response is not None and len(response.body) > MAX_BODY:
            response = None
        if response is None or response.status >= 400:
            self._record_failed_request(url)
        if response is None:
            reason = "BlockedByClient"
            if kind == "Document":
                reason = "Aborted"
                self._aborted = self._aborted or f"The page {_display_url(url)} is not in the project; check its path."
            self._connection.post("Fetch.failRequest", {"requestId": request, "errorReason": reason}, session)
            return
        fields = {"Content-Type": response.type, "Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
        headers = [{"name": name, "value": value} for name, value in fields.items()]
        body = base64.b64encode(response.body).decode()
        answer = {"requestId": request, "responseCode": response.status, "responseHeaders": headers, "body": body}
        self._connection.post("Fetch.fulfillRequest", answer, session)

    def _record_failed_request(self, url: str) -> None:
        address = _display_url(url)
        if address != "favicon.ico" and address not in self.failed and len(self.failed) < MAX_CONSOLE_LINES:
            self.failed.append(address)

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
    words = [
        str(argument.get("value", argument.get("description", argument.get("type", "")))) for argument in arguments
    ]
    return " ".join(words).strip()


def _exception_text(details: Params) -> str:
    exception: Params = details.get("exception") or {}
    text = str(exception.get("description") or exception.get("value") or details.get("text") or "")
    where = _display_url(details["url"]) if details.get("url") else ""
    line = text.partition("\n")[0]
    return f"{line} ({where}:{details.get('lineNumber', 0) + 1})" if where else line
