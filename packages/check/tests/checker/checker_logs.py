"""Small logs as the engine writes them, and ways to spoil them."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from heald.core.envelope import Event, new_event
from heald.core.errors import ErrorInfo
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ConversationEnd,
    ConversationInterrupted,
    ConversationQueued,
    ConversationResponding,
    ConversationStart,
    ConversationThinking,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    ExchangeStatus,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    InputJsonDelta,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    RetryScheduled,
    SessionResumed,
    TextContentBlockStart,
    TextContentBlockStop,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingContentBlockStop,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
    ToolOutputDelta,
    ToolPlanned,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
    ToolUseMessage,
    UserMessage,
)
from heald.core.json import encode_text
from heald.core.messages import (
    Block,
    InvalidCall,
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ToolStatus,
    user_message,
)
from heald.core.payload import Payload
from heald.core.turn import StopReason, Usage
from heald_check import check_log

OVERLOADED = ErrorInfo(code="overloaded", message="The model is overloaded; try again.", retryable=True)


class Entry(msgspec.Struct):
    """An event before it is numbered."""

    data: Payload
    exchange: str | None
    epoch: int = 1
    session: str = ""


class Log:
    """Writes a right log; every method that writes gives the log back."""

    def __init__(self, session: str = "ses_1") -> None:
        self.session = session
        self.entries: list[Entry] = []
        self.exchange: str | None = None
        self.epoch = 1
        self.usage = Usage()
        self.turns = 0
        self.messages = 0
        self.exchanges = 0
        self.stop: StopReason = "end_turn"
        self.files: dict[str, tuple[int, str | None]] = {}

    def add(self, *payloads: Payload) -> "Log":
        self.entries += (Entry(payload, self.exchange, self.epoch, self.session) for payload in payloads)
        return self

    def open(self, request: str | None = None, cause: str | None = None) -> "Log":
        self.exchanges += 1
        self.exchange = f"exc_{self.session}_{self.exchanges}"
        self.usage, self.turns, self.stop = Usage(), 0, "end_turn"
        message = user_message("Make it so.")
        return self.add(
            ExchangeRequest(message, client_request_id=request, cause=cause), UserMessage(message), ConversationStart()
        )

    def close(self, status: ExchangeStatus = "completed", limit: str | None = None) -> "Log":
        error = OVERLOADED if status == "failed" else None
        if error is not None:
            self.add(ErrorOccurred(error), ErrorMessage(error))
        self.add(ConversationEnd() if status == "completed" else ConversationInterrupted(status))
        self.add(ExchangeResponse(status, self.stop, 12.5, self.turns, self.usage, 0.0, error=error, limit=limit))
        self.exchange = None
        return self

    def start(self, attempt: int = 1) -> "Log":
        self.messages += 1
        return self.add(MessageStart(self.message, "scripted/model", attempt))

    @property
    def message(self) -> str:
        return f"msg_{self.session}_{self.messages}"

    def turn(
        self,
        *parts: str | Reasoning | ToolCall,
        attempt: int = 1,
        stop: StopReason | None = None,
        previews: dict[str, tuple[str, str]] | None = None,
    ) -> "Log":
        """A whole message of texts, thoughts and calls; `previews` are path and text of a call."""
        self.add(ConversationThinking()).start(attempt)
        content: list[Block] = []
        for index, part in enumerate(parts):
            content.append(self.block(index, part, previews or {}))
        calls = [block for block in content if isinstance(block, ToolCall)]
        self.stop = stop or ("tool_use" if calls else "end_turn")
        usage = Usage(input=10, output=len(parts))
        self.usage += usage
        self.turns += 1
        self.add(ConversationResponding(), MessageDelta(self.message, self.stop, usage), MessageStop(self.message))
        self.add(AssistantMessage(Message(role="assistant", content=content, id=self.message)))
        for call in calls:
            self.add(call, ToolUseMessage(call), ToolPlanned(call.id, call.name))
        return self

    def block(self, index: int, part: str | Reasoning | ToolCall, previews: dict[str, tuple[str, str]]) -> Block:
        block = f"{self.message}.{index}"
        match part:
            case str():
                self.add(TextContentBlockStart(index, block))
                self.add(*(TextDelta(index, block, piece) for piece in pieces(part)))
                self.add(TextContentBlockStop(index, block))
                return Text(part)
            case Reasoning(text=text):
                self.add(ThinkingContentBlockStart(index, block))
                self.add(*(ThinkingDelta(index, block, piece) for piece in pieces(text)))
                self.add(ThinkingContentBlockStop(index, block))
                return part
            case ToolCall():
                raw = part.invalid.raw if part.invalid is not None else encode_text(part.input)
                self.add(ToolUseContentBlockStart(index, block, part.id, part.name))
                self.add(*(InputJsonDelta(index, block, piece) for piece in pieces(raw)))
                if part.id in previews:
                    self.preview(part.id, *previews[part.id])
                self.add(ToolUseContentBlockStop(index, block, part.id))
                return part

    def preview(self, call: str, path: str, text: str) -> "Log":
        offset = 0
        for piece in pieces(text):
            self.add(FilePreview(call, path, offset, piece))
            offset += len(piece)
        return self

    def discard(self, attempt: int = 1, *, retry: bool = True, said: str = "Half an ans") -> "Log":
        """An attempt that fails."""
        self.start(attempt)
        block = f"{self.message}.0"
        self.add(TextContentBlockStart(0, block), TextDelta(0, block, said))
        self.drop_message()
        if retry:
            self.add(RetryScheduled(self.message, attempt + 1, 0.5, OVERLOADED))
        return self

    def drop_message(self) -> "Log":
        usage = Usage(input=7)
        self.usage += usage
        return self.add(MessageDiscarded(self.message, OVERLOADED, usage))

    def run(
        self,
        call: ToolCall,
        *,
        attempt: int = 1,
        resources: Sequence[str] = (),
        output: str = "",
        idempotent: bool = False,
    ) -> "Log":
        """A call starts."""
        self.add(ToolExecuting(call.id, call.name, attempt, list(resources), idempotent=idempotent))
        return self.add(*(ToolOutputDelta(call.id, piece) for piece in pieces(output)))

    def write(self, call: ToolCall, path: str, text: str | None) -> "Log":
        revision, prev_hash = self.files.get(path, (0, None))
        digest = None if text is None else sha256(text.encode()).hexdigest()
        self.files[path] = (revision + 1, digest)
        size = len((text or "").encode())
        return self.add(FileChanged(path, revision + 1, digest, prev_hash, call.id, size))

    def result(self, call: ToolCall, status: ToolStatus = "ok", content: str = "done", **more: Any) -> "Log":
        if status == "ok":
            self.add(ToolCompleted(call.id, call.name, 3.0))
        else:
            self.add(ToolFailed(call.id, call.name, status, 3.0))
        return self.add(ToolResult(id=call.id, status=status, content=content, name=call.name, **more))

    def approve(self, call: ToolCall, allowed: bool = True) -> "Log":
        self.add(ApprovalRequested(f"appr_{call.id}", call.id, call.name, "digest", "It wants to."))
        return self.add(ApprovalResolved(f"appr_{call.id}", call.id, "allowed" if allowed else "denied"))

    def resume(self) -> "Log":
        """Another writer takes over after a crash."""
        self.epoch += 1
        self.entries.append(Entry(SessionResumed(len(self.entries)), None, self.epoch, self.session))
        return self

    def queued(self) -> "Log":
        self.entries.append(Entry(ConversationQueued(1), None, self.epoch, self.session))
        return self

    def find(self, kind: type[Payload], nth: int = 0) -> int:
        return [i for i, entry in enumerate(self.entries) if isinstance(entry.data, kind)][nth]

    def change(self, kind: type[Payload], nth: int = 0, /, **fields: Any) -> "Log":
        entry = self.entries[self.find(kind, nth)]
        entry.data = msgspec.structs.replace(entry.data, **fields)
        return self

    def cut(self, kind: type[Payload], nth: int = 0) -> "Log":
        del self.entries[self.find(kind, nth)]
        return self

    def double(self, kind: type[Payload], nth: int = 0) -> "Log":
        at = self.find(kind, nth)
        self.entries.insert(at, msgspec.structs.replace(self.entries[at]))
        return self

    def move(self, kind: type[Payload], nth: int = 0, *, before: type[Payload], before_nth: int = 0) -> "Log":
        target = self.entries[self.find(before, before_nth)]
        entry = self.entries.pop(self.find(kind, nth))
        at = next(i for i, other in enumerate(self.entries) if other is target)
        self.entries.insert(at, entry)
        return self

    def insert(self, payload: Payload, *, before: type[Payload], nth: int = 0) -> "Log":
        at = self.find(before, nth)
        exchange = self.entries[at].exchange
        self.entries.insert(at, Entry(payload, exchange, self.entries[at].epoch, self.session))
        return self

    def events(self) -> list[Event]:
        """The events, numbered anew."""
        return [
            new_event(
                seq=seq,
                id=f"evt_{entry.session}_{seq}",
                session=entry.session,
                exchange=entry.exchange,
                type=entry.data.type,
                layer=entry.data.layer,
                time=1_800_000_000.0 + seq / 64,
                epoch=entry.epoch,
                data=entry.data,
            )
            for seq, entry in enumerate(self.entries, 1)
        ]


def pieces(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def call(call_id: str = "call_1", name: str = "create_file", **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, input=arguments)


def broken_call(call_id: str = "call_bad", raw: str = '{"path": "a.ht') -> ToolCall:
    return ToolCall(id=call_id, name="create_file", input={}, invalid=InvalidCall("malformed", "It is no JSON.", raw))


def violation_ids(log: Log, **options: Any) -> set[str]:
    """The ids of what is broken."""
    return {violation.invariant for violation in check_log(log.events(), **options)}


def event_at(log: Log, kind: type[Payload], nth: int = 0, /, **fields: Any) -> list[Event]:
    """The log's events with other fields in the envelope of one."""
    events = log.events()
    at = log.find(kind, nth)
    events[at] = msgspec.structs.replace(events[at], **fields)
    return events


def plain() -> Log:
    return Log().open("req_1").turn(Reasoning("Let me think."), "Hello, ", "world.").close()


PAGE = "<h1>Heald</h1>\n"
NEW_PAGE = "<h1>Heald!</h1>\n"


def tools() -> Log:
    """Two turns with calls side by side, a file written twice, a failure, and a last word."""
    first, second = call("call_1", path="index.html", content=PAGE), call("call_2", "run_command", command="make")
    third = call("call_3", path="index.html", content=NEW_PAGE)
    log = Log().queued().open("req_1")
    log.turn("I write it.", first, second, previews={"call_1": ("index.html", PAGE)})
    log.run(first, resources=["file:index.html"]).run(second, output="make: nothing to do")
    log.write(first, "index.html", PAGE).result(first)
    log.result(second, "error", "exit code 2")
    log.turn(third, previews={"call_3": ("index.html", NEW_PAGE)})
    log.run(third, resources=["file:index.html"]).write(third, "index.html", NEW_PAGE).result(third)
    return log.turn("Done.").close()


def one_call(status: ToolStatus = "ok", *, attempt_output: str = "") -> Log:
    """A call that runs and ends so."""
    asked = call(path="a.txt")
    log = Log().open().turn(asked).run(asked, output=attempt_output).result(asked, status)
    return log.turn("Done.").close()


def approved(allowed: bool = True) -> Log:
    asked = call(path="a.txt")
    log = Log().open().turn(asked).approve(asked, allowed)
    if allowed:
        log.run(asked).result(asked)
    else:
        log.result(asked, "denied", "Not allowed.")
    return log.turn("Done.").close()


def invalid() -> Log:
    asked = broken_call()
    return Log().open().turn(asked).result(asked, "invalid_input", "It is no JSON.").turn("Sorry.").close()


def cut_off() -> Log:
    """The output limit falls into a call whose file was already shown."""
    asked = broken_call()
    log = Log().open().turn("I write", asked, stop="max_tokens", previews={asked.id: ("a.html", "<h1>")})
    log.add(FilePreviewReset(asked.id, "a.html"))
    return log.result(asked, "invalid_input", "Cut off.").turn("Shorter.").close()


def retried() -> Log:
    return Log().open().discard(1).discard(2).turn("Whole.", attempt=3).turn("Again.").close()


def failed() -> Log:
    return Log().open().discard(1).discard(2, retry=False).close("failed")


def cancelled() -> Log:
    """A call runs, another waits, when the user has enough."""
    first, second = call("call_1", path="a"), call("call_2", path="a")
    log = Log().open().turn(first, second).run(first).add(CancelRequested("enough"))
    log.result(first, "cancelled", "Cancelled.").result(second, "cancelled", "Cancelled.")
    return log.close("cancelled")


def limited() -> Log:
    return Log().open().turn("One.").close("limit", "turns")


def resumed() -> Log:
    """The writer dies while one call runs, one runs that may run again, and one waits."""
    first, second, third = (call(f"call_{n}", "fetch", url="x") for n in (1, 2, 3))
    log = Log().open().turn(first, second, third).run(first, output="half")
    log.run(second, output="so far", idempotent=True)
    log.resume().result(first, "interrupted", "The process died.")
    log.run(second, attempt=2, idempotent=True).result(second).run(third).result(third)
    return log.turn("Done.").close()


def resumed_message() -> Log:
    """The writer dies in the middle of a message."""
    log = Log().open().start()
    log.add(TextContentBlockStart(0, f"{log.message}.0"), TextDelta(0, f"{log.message}.0", "Half"))
    return log.resume().drop_message().turn("Whole.").close()


def own_call() -> Log:
    """The engine writes the last page itself."""
    asked = call("final_1", path="index.html", content=PAGE)
    log = Log().open().turn("```html\n" + PAGE + "```")
    log.add(asked, ToolUseMessage(asked), ToolPlanned(asked.id, asked.name)).run(asked)
    return log.write(asked, "index.html", PAGE).result(asked).close()


def several() -> Log:
    log = Log().open("req_1").turn("One.").close().open("req_2").discard(1).turn("Two.", attempt=2).close()
    return log.open().discard(1, retry=False).close("failed").open().turn("Three.").close()


RIGHT = {
    log.__name__: log
    for log in (
        *(plain, tools, one_call, approved, invalid, cut_off, retried, failed, cancelled, limited),
        *(resumed, resumed_message, own_call, several),
    )
}
