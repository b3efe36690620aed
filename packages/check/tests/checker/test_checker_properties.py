"""Any log that the builder can write is right; most ways to spoil it are found."""

import time

import msgspec
from checker_logs import Entry, Log, broken_call, call, violation_ids
from hypothesis import given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.core.envelope import decode_event
from heald.core.events import (
    ApprovalRequested,
    ApprovalResolved,
    AssistantMessage,
    CancelRequested,
    ErrorMessage,
    ErrorOccurred,
    ExchangeRequest,
    ExchangeResponse,
    FileChanged,
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
    ToolPlanned,
    ToolUseContentBlockStart,
    ToolUseContentBlockStop,
)
from heald.core.json import encode
from heald.core.messages import Reasoning, ToolCall, ToolResult
from heald_check import LogChecker, check_log

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
files = st.sampled_from(["index.html", "src/app.css"])

_STRUCTURE = (
    *(ExchangeRequest, ExchangeResponse, MessageStart, MessageDelta, MessageStop, MessageDiscarded, AssistantMessage),
    *(TextContentBlockStart, ThinkingContentBlockStart, ToolUseContentBlockStart),
    *(TextContentBlockStop, ThinkingContentBlockStop, ToolUseContentBlockStop),
    *(RetryScheduled, ToolCall, ToolResult, ToolCompleted, ToolFailed, ErrorOccurred, ErrorMessage),
    *(ApprovalRequested, ApprovalResolved),
)

NEEDED = _STRUCTURE
"""Without any of these a log is wrong."""

ONCE = (*_STRUCTURE, ToolPlanned, ToolExecuting, FileChanged, SessionResumed)
"""A log in which any of these stands twice is wrong."""


class Story:
    """Writes a random log."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.log = Log()
        self.calls = 0

    def generate(self) -> Log:
        for _ in range(self.draw(st.integers(1, 3))):
            self.exchange()
        return self.log

    def exchange(self) -> None:
        self.log.open()
        for _ in range(self.draw(st.integers(0, 2))):
            attempt = self.attempts()
            if not self.turn(attempt):
                self.log.close("cancelled")
                return
        match self.draw(st.sampled_from(["completed", "failed", "limit"])):
            case "completed":
                self.log.turn(self.draw(texts), attempt=self.attempts()).close()
            case "failed":
                self.log.discard(self.attempts(), retry=False).close("failed")
            case _:
                self.log.close("limit", "turns")

    def attempts(self) -> int:
        """Attempts that fail; gives back the number of the next."""
        lost = self.draw(st.integers(0, 2))
        for attempt in range(lost):
            self.log.discard(attempt + 1)
        return lost + 1

    def turn(self, attempt: int) -> bool:
        """Whether the exchange goes on after it."""
        calls = [self.call() for _ in range(self.draw(st.integers(1, 3)))]
        thought, said = Reasoning(self.draw(texts)), self.draw(texts)
        previews = {
            c.id: (c.input["path"], c.input["content"]) for c in calls if c.invalid is None and c.input["content"]
        }
        self.log.turn(thought, said, *calls, attempt=attempt, previews=previews)
        cancelled = False
        for asked in calls:
            if cancelled:
                self.fails(asked, "cancelled")
            else:
                cancelled = self.runs(asked)
        return not cancelled

    def call(self) -> ToolCall:
        self.calls += 1
        if self.draw(st.integers(0, 4)) == 0:
            return broken_call(f"call_{self.calls}", self.draw(texts))
        return call(f"call_{self.calls}", path=self.draw(files), content=self.draw(texts))

    def fails(self, asked: ToolCall, status: str) -> None:
        if asked.invalid is None and asked.input["content"]:
            self.log.add(FilePreviewReset(asked.id, asked.input["path"]))
        self.log.result(asked, status)  # pyright: ignore[reportArgumentType]

    def runs(self, asked: ToolCall) -> bool:
        """Whether the exchange was cancelled meanwhile."""
        log, draw = self.log, self.draw
        if asked.invalid is not None:
            self.fails(asked, "invalid_input")
            return False
        fate = draw(
            st.sampled_from(["ok", "ok", "ok", "error", "timeout", "denied", "unknown_tool", "crash", "cancel"])
        )
        if fate == "unknown_tool":
            self.fails(asked, fate)
            return False
        if fate == "denied" or draw(st.booleans()):
            log.approve(asked, fate != "denied")
        if fate == "denied":
            self.fails(asked, fate)
            return False
        log.run(asked, resources=[f"file:{asked.input['path']}"], output=draw(texts), idempotent=True)
        if fate == "crash":
            log.resume()
            if draw(st.booleans()):
                self.fails(asked, "interrupted")
                return False
            log.run(asked, attempt=2, resources=["file:"], idempotent=True)
        if fate == "cancel":
            log.add(CancelRequested())
            self.fails(asked, "cancelled")
            return True
        if fate in ("error", "timeout"):
            self.fails(asked, fate)
            return False
        log.write(asked, asked.input["path"], asked.input["content"]).result(asked)
        return False


@st.composite
def logs(draw: st.DrawFn) -> Log:
    return Story(draw).generate()


@given(logs())
def test_right_logs_are_right(log: Log) -> None:
    events = log.events()
    assert check_log(events) == []
    assert check_log([decode_event(encode(event)) for event in events]) == []


@given(logs(), st.data())
def test_so_are_their_beginnings(log: Log, data: st.DataObject) -> None:
    events = log.events()
    assert check_log(events[: data.draw(st.integers(0, len(events)))], complete=False) == []


def _one_of(log: Log, kinds: tuple[type, ...], data: st.DataObject) -> int:
    return data.draw(st.sampled_from([at for at, entry in enumerate(log.entries) if isinstance(entry.data, kinds)]))


@given(logs(), st.data())
def test_what_is_missing_is_found(log: Log, data: st.DataObject) -> None:
    del log.entries[_one_of(log, NEEDED, data)]
    assert violation_ids(log)


@given(logs(), st.data())
def test_what_is_doubled_is_found(log: Log, data: st.DataObject) -> None:
    at = _one_of(log, ONCE, data)
    log.entries.insert(at, msgspec.structs.replace(log.entries[at]))
    assert violation_ids(log)


@given(logs(), st.data())
def test_text_that_is_missing_or_doubled_is_found(log: Log, data: st.DataObject) -> None:
    """Of messages that were kept: nothing holds the text of a discarded one."""
    places = [at for at in range(len(log.entries)) if _is_kept_text(log.entries, at)]
    if not places:
        return
    at = data.draw(st.sampled_from(places))
    log.entries[at : at + 1] = data.draw(st.sampled_from([[], [log.entries[at]] * 2]))
    assert violation_ids(log) & {"I23", "I24", "I25"}


def _is_kept_text(entries: list[Entry], at: int) -> bool:
    match entries[at].data:
        case TextDelta(block=block, text=text) | ThinkingDelta(block=block, text=text) if text:
            pass
        case _:
            return False
    stopped = {entry.data.message_id for entry in entries if isinstance(entry.data, MessageStop)}
    return block.rpartition(".")[0] in stopped


@given(logs(), st.data())
def test_what_is_swapped_is_found(log: Log, data: st.DataObject) -> None:
    """The beginning and the end of an exchange, a message, a block, a call."""
    first, second = data.draw(
        st.sampled_from(
            [
                (ExchangeRequest, ExchangeResponse),
                (MessageStart, MessageStop),
                (MessageStop, AssistantMessage),
                (TextContentBlockStart, TextContentBlockStop),
                (ToolUseContentBlockStart, ToolUseContentBlockStop),
                (ToolCall, ToolResult),
                (ToolExecuting, ToolCompleted),
                (ToolCompleted, ToolResult),
                (ToolFailed, ToolResult),
            ]
        )
    )
    starts = [at for at, entry in enumerate(log.entries) if isinstance(entry.data, first)]
    if not starts:
        return
    start = data.draw(st.sampled_from(starts))
    end = next((at for at in range(start, len(log.entries)) if isinstance(log.entries[at].data, second)), None)
    if end is None:
        return
    log.entries[start], log.entries[end] = log.entries[end], log.entries[start]
    assert violation_ids(log)


@settings(max_examples=scaled(60))
@given(logs(), st.data())
def test_no_log_breaks_the_checker(log: Log, data: st.DataObject) -> None:
    events = log.events()
    for event in data.draw(st.permutations(events)):
        check_log([event])
    check_log(data.draw(st.permutations(events)), secrets=["x"], host_paths=["/x"])


def _long_log(turns: int, deltas: int) -> Log:
    log = Log()
    log.open()
    for turn in range(turns):
        asked = call(f"call_{turn}", path="a.txt", content="x" * 40)
        log.turn("word" * deltas, asked, previews={asked.id: ("a.txt", "x" * 40)})
        log.approve(asked).run(asked, resources=[f"file:src/{turn}"], output="line" * 8)
        log.write(asked, "a.txt", "x" * 40).result(asked)
    return log.turn("Done.").close()


def test_a_hundred_thousand_events_in_seconds() -> None:
    events = _long_log(1000, 50).events()
    assert len(events) > 100_000
    before = time.process_time()
    assert check_log(events, secrets=["sk-CANARY"], host_paths=["/home/me"]) == []
    assert time.process_time() - before < 30


def test_cost_is_linear_in_one_message() -> None:
    """Many deltas, many blocks and many open calls at once cost as much as few."""
    calls = [call(f"call_{n}", "read_file", path=f"{n}.txt") for n in range(4000)]
    log = Log().open().turn("word" * 20_000, *calls)
    for asked in calls:
        log.run(asked, resources=[f"file:src/{asked.id}"])
    for asked in calls:
        log.result(asked)
    checker = LogChecker(secrets=["sk-CANARY"])
    before = time.process_time()
    assert [violation for event in log.turn("Done.").close().events() for violation in checker.feed(event)] == []
    assert checker.close() == []
    assert time.process_time() - before < 30
    assert any(isinstance(entry.data, InputJsonDelta) for entry in log.entries)
