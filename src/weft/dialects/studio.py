"""studio: the WebSocket messages of a page that shows several models building the same design.

    {"type": "variantCount", "value": "2", "variantIndex": 0}
    {"type": "assistant", "value": "Let me see. ", "eventId": "blk_1", "variantIndex": 0}       and thinking
    {"type": "toolStart", "data": {"name": "create_file", "input": {…}}, "eventId": "call_1", "variantIndex": 0}
    {"type": "setCode", "value": "<html>…", "variantIndex": 0}
    {"type": "toolResult", "data": {"name": "create_file", "output": "…", "ok": true}, "eventId": "call_1", …}
    {"type": "variantComplete", "value": "", "variantIndex": 0}                                 or variantError

There is one dialect a variant, each with its index. Values that belong together have one `eventId`, and a new attempt
has new ones: what a dropped attempt said stays, what it drew is drawn over with the code from before.

`setCode` is always the whole page. It is throttled: see `draft`. The last one of a call is what the file holds.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import ClassVar

from weft.core.envelope import Event
from weft.core.events import (
    ConversationStart,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    InputJsonDelta,
    MessageDiscarded,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
)
from weft.core.json import JsonObject
from weft.core.tools import ToolCall, ToolResult
from weft.dialects.calls import Calls, OpenCall
from weft.dialects.dialect import ExchangeDialect
from weft.dialects.draft import Draft
from weft.dialects.frame import Frame
from weft.dialects.sentences import (
    CANCELLED,
    DROPPED,
    MAX_TOOL_ERROR,
    error_text,
    result_text,
    shortened,
)

_WRITERS = ("create_file", "write_file")
_PAGES = (".html", ".htm")
_PREVIEW = 200

ReadFile = Callable[[FileChanged], str | None]


class StudioDialect(ExchangeDialect):
    """One variant of a design.

    `variants` is said at the start; None leaves that to somebody else. The page is the first file that is written, or
    the first that is HTML; `page` and `code` are the one that is there before. `read` gives the text of a change that
    no preview showed, such as one by a command: whoever has the files knows it.
    """

    name: ClassVar[str] = "studio"

    def __init__(
        self,
        session: str | None = None,
        *,
        variant: int = 0,
        variants: int | None = 1,
        page: str | None = None,
        code: str = "",
        read: ReadFile | None = None,
    ) -> None:
        super().__init__(session)
        self._variant = variant
        self._variants = variants
        self._read = read
        self._page = page
        self._code = self._shown = code  # what the page's file holds, what the client was sent
        self._calls = Calls()
        self._drafts: dict[str, Draft] = {}  # by call

    def refused(self, message: str) -> Frame:
        """The request as a whole came to nothing."""
        return Frame({"type": "error", "value": message, "variantIndex": self._variant})

    def _hear(self, event: Event) -> None:
        match event.data:
            case TextDelta(block=block, text=text):
                self._send("assistant", text, event_id=block)
            case ThinkingDelta(block=block, text=text):
                self._send("thinking", text, event_id=block)
            case InputJsonDelta(block=block):
                call = self._calls.of_block(block)
                if call is not None and not call.ready and call.name == "create_file":
                    self._start(call, {})
            case FilePreview():
                self._preview(event.data, event.time)
            case ExchangeRequest():
                self._begin()
            case ToolUseContentBlockStart(block=block, id=id, name=name):
                self._calls.begin(id, name, block)
            case ToolCall():
                self._called(event.data)
            case FilePreviewReset(id=id):
                self._take_back(id)
            case FileChanged():
                self._changed(event.data)
            case ToolResult():
                self._result(event.data)
            case MessageDiscarded(error=error):
                self._drop(CANCELLED if error.code == "cancelled" else DROPPED)
            case ConversationStart():
                self._send("status", "Generating code…")
            case RetryScheduled(attempt=attempt):
                self._send("status", f"Trying again (attempt {attempt})…")
            case ToolExecuting(summary=summary):
                self._send("status", summary)
            case ExchangeResponse() as response:
                self._end(response)
            case _:
                pass

    def _send(self, kind: str, value: str, *, data: JsonObject | None = None, event_id: str | None = None) -> None:
        if not value and data is None:
            return
        message: JsonObject = {"type": kind}
        if data is None:
            message["value"] = value
        else:
            message["data"] = data
        if event_id is not None:
            message["eventId"] = event_id
        self._say(message | {"variantIndex": self._variant})

    def _begin(self) -> None:
        self._calls, self._drafts = Calls(), {}
        if self._variants is not None:
            self._send("variantCount", str(self._variants))

    # --- calls ---------------------------------------------------------------------------------------------------

    def _start(self, call: OpenCall, shown: JsonObject) -> None:
        """Once a call; `ready` says that it was."""
        if not call.ready:
            call.ready = True
            self._send("toolStart", "", data={"name": call.name, "input": shown}, event_id=call.id)

    def _called(self, call: ToolCall) -> None:
        shown = self._calls.get(call.id) or self._calls.begin(call.id, call.name)
        shown.input = call.input.get("content")
        self._start(shown, {name: _preview_of(value) for name, value in call.input.items()})

    def _result(self, result: ToolResult) -> None:
        draft = self._drafts.pop(result.id, None)
        if draft is not None and result.status == "ok":
            self._keep(draft.text)
        call = self._calls.end(result.id)
        if call is not None:
            output = result.summary or shortened(result_text(result), MAX_TOOL_ERROR)
            self._finish(call, output, ok=not result.is_error)

    def _finish(self, call: OpenCall, output: str, *, ok: bool) -> None:
        data = {"name": call.name, "output": output, "ok": ok}
        self._send("toolResult", "", data=data, event_id=call.id)

    def _drop(self, why: str) -> None:
        for call in self._calls.drop():
            if call.ready:
                self._finish(call, why, ok=False)
        self._drafts.clear()
        self._show(self._code)

    # --- the page ------------------------------------------------------------------------------------------------

    def _preview(self, preview: FilePreview, time: float) -> None:
        if not self._is_page(preview.path):
            return
        call = self._calls.get(preview.id)
        draft = self._drafts.get(preview.id)
        if draft is None or preview.offset == 0:
            draft = self._drafts[preview.id] = Draft(preview.path)
        draft.add(preview.text)
        if call is not None and call.name in _WRITERS and draft.due(time):  # an edit shows the file once it is whole
            self._show(draft.text)

    def _take_back(self, call: str) -> None:
        if self._drafts.pop(call, None) is not None:
            self._show(self._code)

    def _changed(self, change: FileChanged) -> None:
        if change.cause in self._drafts or not self._is_page(change.path):
            return
        call = self._calls.get(change.cause)
        written = call.input if call is not None else None
        if isinstance(written, str) and _digest(written) == change.hash:
            self._keep(written)
        elif change.hash is None:
            self._keep("")
        elif self._read is not None and (text := self._read(change)) is not None:
            self._keep(text)

    def _is_page(self, path: str) -> bool:
        if self._page is None or (path.endswith(_PAGES) and not self._page.endswith(_PAGES)):
            self._page = path
        return path == self._page

    def _keep(self, code: str) -> None:
        self._code = code
        self._show(code)

    def _show(self, code: str) -> None:
        if code != self._shown:
            self._shown = code
            self._say({"type": "setCode", "value": code, "variantIndex": self._variant})

    # --- the end -------------------------------------------------------------------------------------------------

    def _end(self, response: ExchangeResponse) -> None:
        self._drop(self._cut)
        if response.note is not None:
            self._send("status", response.note)
        if response.status == "failed":
            self._fail(error_text(response.error))
        elif response.status == "cancelled":
            self._fail(CANCELLED)
        else:
            self._say({"type": "variantComplete", "value": "", "variantIndex": self._variant})

    def _fail(self, why: str) -> None:
        self._send("variantError", why)
        if self._variants == 1:  # all that there were have failed
            self._send("error", why)

    def _abandon(self) -> None:
        self._drop(self._cut)
        self._fail(self._cut)


def _preview_of(value: object) -> object:
    """An argument as a page shows it: long texts by their beginning."""
    return shortened(value, _PREVIEW) if isinstance(value, str) else value


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
