"""Random conversations in every dialect: what is begun is ended, what was said is said once, no byte grows squared."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from itertools import groupby
from random import Random
from typing import Any

import pytest
from dialect_grammar import CHECKS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_support import (
    Conversation,
    answered,
    arguments,
    asked,
    begun,
    ended,
    log_of,
    objects,
    spoken,
    weight,
)
from example_counts import IS_LONG, scaled
from heald.core.envelope import Event
from heald.core.events import (
    ExchangeRequest,
    FileChanged,
    FilePreview,
    InputJsonDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolExecuting,
    ToolUseContentBlockStart,
)
from heald.core.json import JsonObject
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_server.dialects.frame import Frame
from heald_server.dialects.registry import load_dialects, open_dialect
from heald_server.protocols.ag_ui.dialect import AGUIDialect

CONVERSATIONS = 250 if IS_LONG else 60


def _conversations() -> list[list[Event]]:
    async def hold() -> list[list[Event]]:
        return [await Conversation(Random(seed)).events() for seed in range(CONVERSATIONS)]

    return asyncio.run(hold())


@pytest.fixture(scope="module")
def logs() -> list[list[Event]]:
    return _conversations()


def texts(events: list[Event], *, all_of_them: bool = False) -> list[str]:
    """The text of each message that was kept, or that the user saw before a cancel; or of all."""
    pieces: list[str] = []
    said = ""
    for payload in (event.data for event in events):
        match payload:
            case MessageStart():
                said = ""
            case TextDelta(text=text):
                said += text
            case MessageStop():
                pieces.append(said)
            case MessageDiscarded(error=error) if all_of_them or error.code == "cancelled":
                pieces.append(said)
            case _:
                pass
    return [text for text in pieces if text]


def exchanges(events: list[Event]) -> list[list[Event]]:
    cut: list[list[Event]] = []
    for event in events:
        if isinstance(event.data, ExchangeRequest):
            cut.append([])
        if cut:
            cut[-1].append(event)
    return cut


# --- the text, as a client of each dialect puts it together --------------------------------------------------------


def _apply_resets(deltas: list[tuple[str, int | None]]) -> str:
    said = ""
    for text, reset in deltas:
        said = said + text if reset is None else said[:-reset]
    return said


def read_loop(frames: list[Frame]) -> str:
    return _apply_resets([(item["delta"], item.get("reset")) for item in objects(frames) if "delta" in item])


def read_normalized(frames: list[Frame]) -> str:
    return _apply_resets([(item["text"], item.get("reset")) for item in objects(frames) if item["type"] == "text"])


def read_ai_sdk(frames: list[Frame]) -> str:
    steps: list[list[str]] = []
    for chunk in objects(frames):
        match chunk["type"]:
            case "start-step":
                steps.append([])
            case "text-delta":
                steps[-1].append(chunk["delta"])
            case "data-discarded":
                steps.pop()
                steps.append([])
            case _:
                pass
    return "".join(piece for step in steps for piece in step)


def read_ag_ui(frames: list[Frame]) -> str:
    parts: dict[str, str] = {}
    for event in objects(frames):
        match event["type"]:
            case "TEXT_MESSAGE_START":
                parts[event["messageId"]] = ""
            case "TEXT_MESSAGE_CONTENT":
                parts[event["messageId"]] += event["delta"]
            case "CUSTOM" if event["name"] == "message_discarded":
                for name in event["value"]["messageIds"]:
                    parts.pop(name, None)
            case _:
                pass
    return "".join(parts.values())


def read_agentx(frames: list[Frame]) -> str:
    pieces: list[str] = []
    for event in objects(frames):
        match event["type"]:
            case "message_start":
                pieces.append("")
            case "text_delta":
                pieces[-1] += event["data"]["text"]
            case "message_discarded" if event["data"]["error"]["code"] != "cancelled":
                pieces.pop()
            case _:
                pass
    return "".join(pieces)


def read_responses(frames: list[Frame]) -> str:
    final = [event["response"] for event in objects(frames) if str(event["type"]).split(".")[-1] in _TERMINAL]
    parts = [part for response in final for item in response["output"] for part in item.get("content", [])]
    return "".join(part["text"] for part in parts)


_TERMINAL = ("completed", "incomplete", "failed")

READERS: dict[str, Callable[[list[Frame]], str]] = {
    "loop": read_loop,
    "normalized": read_normalized,
    "ai-sdk": read_ai_sdk,
    "ag-ui": read_ag_ui,
    "agentx": read_agentx,
    "responses": read_responses,
}


def test_the_conversations_hold_everything(logs: list[list[Event]]) -> None:
    seen = {event.type for events in logs for event in events}
    assert {
        "message_discarded",
        "retry_scheduled",
        "cancel_requested",
        "error_occurred",
        "approval_requested",
        "file_preview_reset",
        "tool_output_delta",
        "file_changed",
    } <= seen


@pytest.mark.parametrize("name", CHECKS)
def test_what_is_begun_is_ended(name: str, logs: list[list[Event]]) -> None:
    for events in logs:
        CHECKS[name](spoken(open_dialect(name), events))


@pytest.mark.parametrize("name", CHECKS)
def test_wherever_the_log_begins_or_ends(name: str, logs: list[list[Event]]) -> None:
    random = Random(7)
    for events in logs:
        cut = random.randrange(1, len(events))
        CHECKS[name](spoken(open_dialect(name), events[:cut]))
        later = spoken(open_dialect(name), events[cut:])
        if any(isinstance(event.data, ExchangeRequest) for event in events[cut:]):
            CHECKS[name](later)


@pytest.mark.parametrize("name", READERS)
def test_the_text_is_that_of_the_messages_that_were_kept(name: str, logs: list[list[Event]]) -> None:
    for events in logs:
        assert READERS[name](spoken(open_dialect(name), events)) == "".join(texts(events))


def test_openai_puts_messages_into_paragraphs(logs: list[list[Event]]) -> None:
    for exchange in (part for events in logs for part in exchanges(events)):
        chunks = [chunk for chunk in objects(spoken(open_dialect("openai"), exchange)) if chunk.get("choices")]
        said = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        assert said == "\n\n".join(texts(exchange, all_of_them=True))


def test_studio_gives_each_message_its_own_ids(logs: list[list[Event]]) -> None:
    for events in logs:
        said = [item for item in objects(spoken(open_dialect("studio"), events)) if item["type"] == "assistant"]
        by_message = groupby(said, key=lambda item: str(item["eventId"]).rpartition(".")[0])
        told = ["".join(item["value"] for item in group) for _, group in by_message]
        assert told == texts(events, all_of_them=True)


def test_studio_ends_with_the_page_as_it_is(logs: list[list[Event]]) -> None:
    pages = 0
    for events in logs:
        codes = [item["value"] for item in objects(spoken(open_dialect("studio"), events)) if item["type"] == "setCode"]
        files = {event.data.path: event.data.hash for event in events if isinstance(event.data, FileChanged)}
        if codes and codes[-1]:
            pages += 1
            assert sha256(codes[-1].encode()).hexdigest() in files.values()
    assert pages > CONVERSATIONS // 25


@pytest.mark.parametrize("name", ["loop", "normalized", "ai-sdk", "openai", "responses", "ag-ui", "agentx"])
def test_a_client_that_resumes_misses_nothing(name: str, logs: list[list[Event]]) -> None:
    """A new dialect, fed the exchange from its start, goes on exactly where the old one was."""
    for events in logs:
        dialect, files = open_dialect(name), dict[str, FileChanged]()
        for exchange in exchanges(events):
            told = [(event.seq, frame) for event in exchange for frame in dialect.feed(event)]
            fresh = AGUIDialect(files=list(files.values())) if name == "ag-ui" else open_dialect(name)
            assert [(event.seq, frame) for event in exchange for frame in fresh.feed(event)] == told
            files |= {event.data.path: event.data for event in exchange if isinstance(event.data, FileChanged)}


@settings(
    max_examples=scaled(80), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(st.randoms(use_true_random=False))
def test_conversations_made_small(random: Random) -> None:
    events = asyncio.run(Conversation(random).events())
    for name, check in CHECKS.items():
        frames = spoken(open_dialect(name), events)
        check(frames)
        if name in READERS:
            assert READERS[name](frames) == "".join(texts(events))


# --- what it costs -------------------------------------------------------------------------------------------------


def _file_of(size: int, piece: int = 8) -> list[Event]:
    content = "abcdefgh" * (size // 8)
    start, _, stop = arguments("call_1", "create_file", "")
    pieces = [content[at : at + piece] for at in range(0, size, piece)]
    growing: list[Payload] = []
    for number, text in enumerate(pieces):
        growing += (InputJsonDelta(1, "msg_1.1", text), FilePreview("call_1", "index.html", number * piece, text))
    call = ToolCall(id="call_1", name="create_file", input={"path": "index.html", "content": content})
    change = FileChanged("index.html", 1, sha256(content.encode()).hexdigest(), None, "call_1", size)
    result = ToolResult(id="call_1", status="ok", content="Created.", name="create_file")
    return log_of(asked(), begun(), start, growing, stop, ended(), call, change, result, answered())


@pytest.mark.parametrize("name", load_dialects())
def test_a_file_costs_bytes_in_proportion_to_its_length(name: str) -> None:
    def cost(size: int) -> int:
        dialect = open_dialect(name)
        return sum(len(dialect.sse(frame)) for frame in spoken(dialect, _file_of(size)))

    small, large = cost(16_000), cost(128_000)
    assert large <= 9 * small


@pytest.mark.parametrize("name", load_dialects())
def test_nothing_is_kept_of_the_text(name: str) -> None:
    dialect = open_dialect(name)
    piece = "x" * 1000
    open_blocks = [
        TextContentBlockStart(0, "b0"),
        ThinkingContentBlockStart(1, "b1"),
        ToolUseContentBlockStart(2, "b2", "call_1", "look"),
    ]
    deltas: list[Payload] = [TextDelta(0, "b0", piece), ThinkingDelta(1, "b1", piece), InputJsonDelta(2, "b2", piece)]
    spoken(dialect, log_of(asked(), begun(), [*open_blocks], deltas * 200), close=False)
    assert weight(dialect) < 5_000


@pytest.mark.parametrize("name", load_dialects())
def test_nothing_is_kept_of_the_arguments_once_a_call_is_over(name: str) -> None:
    dialect = open_dialect(name)
    call = ToolCall(id="call_1", name="look", input={"content": "x" * 100_000})
    started = log_of(asked(), begun(), ended(), call, ToolExecuting("call_1", "look", 1))
    spoken(dialect, started, close=False)
    if name == "ai-sdk":
        assert weight(dialect) < 5_000
    spoken(dialect, log_of(ToolResult(id="call_1", status="ok", content="x" * 100_000), first=20), close=False)
    assert weight(dialect) < 5_000


def test_every_frame_is_json_that_a_client_can_read(logs: list[list[Event]]) -> None:
    def plain(value: Any) -> bool:
        match value:
            case dict():
                return all(isinstance(key, str) and plain(item) for key, item in value.items())  # pyright: ignore[reportUnknownVariableType]
            case list():
                return all(plain(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value is None or isinstance(value, str | int | float | bool)

    for name in CHECKS:
        told: list[JsonObject] = [item for events in logs[:40] for item in objects(spoken(open_dialect(name), events))]
        assert all(map(plain, told))
