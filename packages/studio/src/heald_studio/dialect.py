"""studio: the WebSocket messages of a page on which several models build the same design.

    {"type": "variantCount", "value": "2", "variantIndex": 0}
    {"type": "assistant", "value": "Let me see. ", "eventId": "blk_1", "variantIndex": 0}       and thinking
    {"type": "toolStart", "data": {"name": "create_file", "input": {…}}, "eventId": "call_1", "variantIndex": 0}
    {"type": "setCode", "value": "<html>…", "variantIndex": 0}
    {"type": "toolResult", "data": {"name": "create_file", "output": "…", "ok": true}, "eventId": "call_1", …}
    {"type": "variantComplete", "value": "", "variantIndex": 0}                                 or variantError

`toolStart` of `create_file` comes with the first byte of its arguments, and once more, with the same `eventId`, when
they contain the whole path. A variant that a limit cut off ends with `variantError`: its page is kept, not complete.

Each variant has a dialect of its own, with its index. Values that belong together have one `eventId`, and a new attempt
has new ones: the text of a dropped attempt stays, its code is replaced by the code from before.

`setCode` always holds the whole page. It is throttled: it is sent when the page has grown by an eighth and by 40
characters, at most 20 times a second, so the bytes sent stay below ten times the file instead of its square. The last
one of a call is the content of the file.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import ClassVar

from heald.core.envelope import Event
from heald.core.events import (
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
from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolResult
from heald_server.dialects.calls import ClientCall
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.dialects.frame import Frame
from heald_server.dialects.texts import CANCELLED, DROPPED, MAX_TOOL_ERROR, error_text, result_text, shortened
from heald_studio.page_draft import PageDraft, PathReader

_WRITERS = ("create_file", "write_file")
_PAGES = (".html", ".htm")
_PREVIEW = 200

ReadFile = Callable[[FileChanged], str | None]


class StudioDialect(ExchangeDialect):
    """One variant of a design.

    `variants` is sent at the start unless it is None. The page is the first file that is written, or the first that is
    HTML; `page` and `code` are an existing one, and `client_code` is the code that the client has of it. `read` returns
    the text of a change without a preview, such as one by a command.
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
        client_code: str | None = None,
        read: ReadFile | None = None,
    ) -> None:
        super().__init__(session)
        self._variant = variant
        self._variants = variants
        self._read = read
        self._page = page
        self._code = code  # the content of the page's file
        self._client_code = code if client_code is None else client_code
        self._drafts: dict[str, PageDraft] = {}  # by call
        self._readers: dict[ClientCall, PathReader] = {}  # until the path is known

    def refused(self, message: str) -> Frame:
        """The frame for a request that failed as a whole."""
        return Frame({"type": "error", "value": message, "variantIndex": self._variant})

    def _on_event(self, event: Event) -> None:
        match event.data:
            case TextDelta(block=block, text=text):
                self._send("assistant", text, event_id=block)
            case ThinkingDelta(block=block, text=text):
                self._send("thinking", text, event_id=block)
            case InputJsonDelta(block=block, partial_json=arguments):
                self._read_path(block, arguments)
            case FilePreview():
                self._preview(event.data, event.time)
            case ExchangeRequest():
                self._begin()
            case ToolUseContentBlockStart(block=block, id=id, name=name):
                call = self._calls.begin(id, name, block)
                if name == "create_file":
                    self._readers[call] = PathReader()
            case ToolCall():
                self._called(event.data)
            case FilePreviewReset(id=id):
                self._reset_preview(id)
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
        self._emit(message | {"variantIndex": self._variant})

    def _begin(self) -> None:
        self._drafts, self._readers = {}, {}
        if self._variants is not None:
            self._send("variantCount", str(self._variants))

    # --- calls ---------------------------------------------------------------------------------------------------

    def _read_path(self, block: str, arguments: str) -> None:
        """Announce a file at the first byte of its arguments, and once more when its path is known."""
        call = self._calls.in_block(block)
        if call is None or call not in self._readers:
            return
        path = self._readers[call].feed(arguments)
        if path is not None:
            self._complete(call, path)
        elif not call.ready:
            self._start(call, {})

    def _complete(self, call: ClientCall, path: str) -> None:
        if self._readers.pop(call, None) is not None:
            self._start(call, {"path": path})

    def _start(self, call: ClientCall, arguments: JsonObject) -> None:
        """Announce a call, or replace the input of an announced one."""
        call.ready = True
        self._send("toolStart", "", data={"name": call.name, "input": arguments}, event_id=call.id)

    def _called(self, call: ToolCall) -> None:
        client_call = self._calls.get(call.id) or self._calls.begin(call.id, call.name)
        client_call.input = call.input.get("content")
        if not client_call.ready or self._readers.pop(client_call, None) is not None:
            self._start(client_call, {name: _preview_of(value) for name, value in call.input.items()})

    def _result(self, result: ToolResult) -> None:
        draft = self._drafts.pop(result.id, None)
        if draft is not None and result.status == "ok":
            self._keep(draft.text)
        call = self._calls.end(result.id)
        if call is not None:
            output = result.summary or shortened(result_text(result), MAX_TOOL_ERROR)
            self._finish(call, output, ok=not result.is_error)

    def _finish(self, call: ClientCall, output: str, *, ok: bool) -> None:
        data = {"name": call.name, "output": output, "ok": ok}
        self._send("toolResult", "", data=data, event_id=call.id)

    def _drop(self, why: str) -> None:
        for call in self._calls.drop():
            if call.ready:
                self._finish(call, why, ok=False)
        self._drafts.clear()
        self._readers.clear()
        self._show(self._code)

    # --- the page ------------------------------------------------------------------------------------------------

    def _preview(self, preview: FilePreview, time: float) -> None:
        call = self._calls.get(preview.id)
        if call is not None:
            self._complete(call, preview.path)
        if not self._is_page(preview.path):
            return
        draft = self._drafts.get(preview.id)
        if draft is None or preview.offset == 0:
            draft = self._drafts[preview.id] = PageDraft(preview.path)
        draft.add(preview.text)
        if call is not None and call.name in _WRITERS and draft.due(time):  # an edit is shown once it is complete
            self._show(draft.text)

    def _reset_preview(self, call: str) -> None:
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
        if code != self._client_code:
            self._client_code = code
            self._emit({"type": "setCode", "value": code, "variantIndex": self._variant})

    # --- the end -------------------------------------------------------------------------------------------------

    def _end(self, response: ExchangeResponse) -> None:
        self._drop(self._abort_reason)
        if response.status == "limit":
            self._fail(f"The design is not complete. {response.note or ''}".rstrip())
            return
        if response.note is not None:
            self._send("status", response.note)
        if response.status == "failed":
            self._fail(error_text(response.error))
        elif response.status == "cancelled":
            self._fail(CANCELLED)
        else:
            self._emit({"type": "variantComplete", "value": "", "variantIndex": self._variant})

    def _fail(self, why: str) -> None:
        self._send("variantError", why)
        if self._variants == 1:  # no other variant can succeed
            self._send("error", why)

    def _abort(self) -> None:
        self._drop(self._abort_reason)
        self._fail(self._abort_reason)


def _preview_of(value: object) -> object:
    """An argument for display: long texts are shortened."""
    return shortened(value, _PREVIEW) if isinstance(value, str) else value


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
