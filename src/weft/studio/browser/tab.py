"""One tab in a context of its own: what it asks for is answered, what it complains about is kept.

Every target that the page starts (frames of other origins, workers) is held until its requests are intercepted too.
"""

import asyncio
import base64
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from weft.studio.browser.connection import Connection, Params, Refused
from weft.studio.browser.rendering import BrowserError, Viewport
from weft.studio.browser.serving import ORIGIN, Answer

Ask = Callable[[str], Awaitable[Answer | None]]
T = TypeVar("T")

MAX_COMPLAINTS = 50
MAX_COMPLAINT = 500
MAX_BODY = 50_000_000
_LEVELS = {"error": "error", "assert": "error", "warning": "warning"}
_MOBILE = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
)
_BEFORE_THE_PAGE = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name];
"""


class Tab:
    """A page being looked at. When its process dies, or its files cannot be served, whatever waits for it fails."""

    def __init__(self, connection: Connection, ask: Ask | None) -> None:
        self.session = ""
        self.console: list[str] = []
        self.failed: list[str] = []
        self._broken = asyncio.Event()
        self._fault: Exception | None = None
        self._connection = connection
        self._ask = ask
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
        browser.listen(self.session, self._hear)
        metrics = size | {"deviceScaleFactor": viewport.scale, "mobile": mobile}
        await asyncio.gather(
            self.call("Page.enable"),
            self.call("Runtime.enable"),
            self.call("Log.enable"),
            self.call("Inspector.enable"),
            self._intercept(self.session),
            self.call("Emulation.setDeviceMetricsOverride", metrics),
            self.call("Emulation.setTouchEmulationEnabled", {"enabled": mobile}),
            self.call("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            self.call(
                "Emulation.setEmulatedMedia",
                {"media": "screen", "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]},
            ),
            self.call("Page.addScriptToEvaluateOnNewDocument", {"source": _BEFORE_THE_PAGE}),
            self.call("Page.setDownloadBehavior", {"behavior": "deny"}),
        )
        if mobile:
            await self.call("Emulation.setUserAgentOverride", {"userAgent": _MOBILE})

    async def go(self, url: str, seconds: float | None) -> None:
        """Go to a page and wait until it has loaded, or for so many seconds."""
        answer = await self.call("Page.navigate", {"url": url})
        self._frame = answer.get("frameId", "")
        if answer.get("errorText"):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0 if self._aborted else 1):
                    await self._broken.wait()
            raise self._fault or BrowserError(self._aborted or "The page could not be loaded.", "load")
        try:
            async with asyncio.timeout(seconds):
                await self._unless_it_breaks(self._loaded.wait())
        except TimeoutError:
            if seconds is None:
                raise

    async def run(self, function: str, *arguments: float) -> Any:
        """Run a function of ours in a world that the page cannot reach."""
        world = await self.call("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "weft"})
        answer = await self.call(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": world["executionContextId"],
                "arguments": [{"value": value} for value in arguments],
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in answer:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine")
        return answer["result"].get("value")

    async def call(self, method: str, params: Params | None = None) -> Params:
        """Run a command on the page. A page whose process died says so."""
        return await self._unless_it_breaks(self._connection.call(method, params, self.session))

    async def _unless_it_breaks(self, work: Awaitable[T]) -> T:
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

    def _break(self, fault: Exception) -> None:
        self._fault = self._fault or fault
        self._broken.set()

    async def close(self) -> None:
        """Close the tab and throw away all that its page kept."""
        for task in self._tasks:
            task.cancel()
        for session in (self.session, *self._sessions):
            self._connection.forget(session)
        if self._context and not self._connection.lost.is_set():
            await self._connection.call("Target.disposeBrowserContext", {"browserContextId": self._context})

    async def _intercept(self, session: str) -> None:
        call = self._connection.call
        await call(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True},
            session,
        )
        if self._ask is not None:
            await call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session)

    def _hear(self, method: str, params: Params) -> None:
        self._hear_from(self.session, method, params)

    def _hear_from(self, session: str, method: str, params: Params) -> None:
        match method:
            case "Fetch.requestPaused":
                self._spawn(self._answer(session, params))
            case "Target.attachedToTarget":
                self._spawn(self._adopt(params["sessionId"]))
            case "Page.frameNavigated" if params["frame"]["id"] == self._target:
                self._committed = params["frame"]["url"] != "about:blank"
                if params["frame"].get("unreachableUrl"):
                    there: str = params["frame"]["unreachableUrl"]
                    self._break(BrowserError(f"The page {_shown(there)} could not be loaded.", "load", url=there))
            case "Page.frameStoppedLoading" if params["frameId"] == self._target and self._committed:
                self._loaded.set()
            case "Page.loadEventFired" if self._committed:
                self._loaded.set()
            case "Page.javascriptDialogOpening":
                self._connection.post("Page.handleJavaScriptDialog", {"accept": False}, session)
            case "Runtime.consoleAPICalled" if params.get("type") in _LEVELS:
                self._complain(_LEVELS[params["type"]], _said(params.get("args", [])))
            case "Runtime.exceptionThrown":
                self._complain("error", _thrown(params.get("exceptionDetails", {})))
            case "Log.entryAdded":
                entry = params.get("entry", {})
                if entry.get("level") in ("error", "warning") and entry.get("source") != "network":
                    self._complain(entry["level"], entry.get("text", ""))
            case "Inspector.targetCrashed":
                self._break(BrowserError("The page crashed, as one does that uses too much memory.", "crashed"))
            case _:
                pass

    async def _adopt(self, session: str) -> None:
        """Intercept what a new target of the page asks for, then let it run."""
        self._sessions.add(session)
        self._connection.listen(session, lambda method, params: self._hear_from(session, method, params))
        try:
            with contextlib.suppress(Refused):
                await self._intercept(session)
        finally:
            self._connection.post("Runtime.runIfWaitingForDebugger", session=session)

    async def _answer(self, session: str, params: Params) -> None:
        assert self._ask is not None
        request: str = params["requestId"]
        url: str = params["request"]["url"]
        kind: str = params.get("resourceType", "")
        try:
            found = await self._ask(url)
        except Exception as error:
            self._break(error)
            return
        if found is not None and len(found.body) > MAX_BODY:
            found = None
        if found is None or found.status >= 400:
            self._miss(url)
        if found is None and kind == "Document":
            self._aborted = self._aborted or f"The page {_shown(url)} is not in the project; check its path."
        if found is None:
            reason = "Aborted" if kind == "Document" else "BlockedByClient"
            self._connection.post("Fetch.failRequest", {"requestId": request, "errorReason": reason}, session)
            return
        headers = [
            {"name": "Content-Type", "value": found.type},
            {"name": "Access-Control-Allow-Origin", "value": "*"},
            {"name": "Cache-Control", "value": "no-store"},
        ]
        body = base64.b64encode(found.body).decode()
        answer = {"requestId": request, "responseCode": found.status, "responseHeaders": headers, "body": body}
        self._connection.post("Fetch.fulfillRequest", answer, session)

    def _miss(self, url: str) -> None:
        shown = _shown(url)
        if shown != "favicon.ico" and shown not in self.failed and len(self.failed) < MAX_COMPLAINTS:
            self.failed.append(shown)

    def _complain(self, level: str, text: str) -> None:
        if text and len(self.console) < MAX_COMPLAINTS:
            self.console.append(f"{level}: {text}"[:MAX_COMPLAINT])

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _quietly(work: Awaitable[None]) -> None:
    """A request of a page that is gone needs no answer."""
    with contextlib.suppress(Refused, BrowserError):
        await work


def _shown(url: str) -> str:
    if url.startswith(ORIGIN):
        return urlsplit(url).path.lstrip("/") or "index.html"
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"[:200]


def _said(arguments: list[Params]) -> str:
    words = [str(one.get("value", one.get("description", one.get("type", "")))) for one in arguments]
    return " ".join(words).strip()


def _thrown(details: Params) -> str:
    exception: Params = details.get("exception") or {}
    text = str(exception.get("description") or exception.get("value") or details.get("text") or "")
    where = _shown(details["url"]) if details.get("url") else ""
    line = text.partition("\n")[0]
    return f"{line} ({where}:{details.get('lineNumber', 0) + 1})" if where else line
