"""studio: the messages of a page that shows variants."""

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from dialect_support import (
    BUSY,
    CANCELLED,
    S,
    answered,
    arguments,
    asked,
    begun,
    dropped,
    ended,
    log_of,
    objects,
    played,
    spoken,
    text,
)
from heald.core.events import (
    ConversationStart,
    FileChanged,
    FilePreview,
    FilePreviewReset,
    InputJsonDelta,
    RetryScheduled,
    ToolUseContentBlockStart,
)
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald_studio.dialect import StudioDialect
from heald_studio.page_draft import PageDraft
from heald_studio.page_text import PageText

PAGE = "<html><body>Hello</body></html>\n"


def messages(*payloads: Payload | list[Payload], dialect: StudioDialect | None = None, step: float = 0.1) -> list[Any]:
    return objects(spoken(dialect or StudioDialect(), log_of(*payloads, step=step)))


def codes(sent_messages: list[Any]) -> list[str]:
    return [message["value"] for message in sent_messages if message["type"] == "setCode"]


def written(path: str, content: str, call: str = "call_1") -> list[Payload]:
    digest = sha256(content.encode()).hexdigest()
    return [
        ToolCall(id=call, name="create_file", input={"path": path, "content": content}),
        FileChanged(path, 1, digest, None, call, len(content)),
        ToolResult(id=call, status="ok", content=f"Created {path}.", name="create_file", summary="new, 1 line"),
    ]


def previews(path: str, content: str, size: int, call: str = "call_1") -> list[Payload]:
    return [FilePreview(call, path, at, content[at : at + size]) for at in range(0, len(content), size)]


def test_the_documented_sequence() -> None:
    content = PAGE * 2
    start, *deltas, stop = arguments("call_1", "create_file", '{"path":"ind', 'ex.html"', ',"content":"…"}')
    sent_messages = messages(
        asked(),
        ConversationStart(),
        begun(),
        text("Let me see."),
        [start, *deltas],
        previews("index.html", content, 50),
        stop,
        ended("msg_1", "tool_use"),
        written("index.html", content),
        answered(),
        dialect=StudioDialect(variant=1, variants=2),
    )
    variant = {"variantIndex": 1}
    assert sent_messages == [
        {"type": "variantCount", "value": "2", **variant},
        {"type": "status", "value": "Generating code…", **variant},
        {"type": "assistant", "value": "Let me see.", "eventId": "msg_1.0", **variant},
        {"type": "toolStart", "data": {"name": "create_file", "input": {}}, "eventId": "call_1", **variant},
        {
            "type": "toolStart",
            "data": {"name": "create_file", "input": {"path": "index.html"}},
            "eventId": "call_1",
            **variant,
        },
        {"type": "setCode", "value": content[:50], **variant},
        {"type": "setCode", "value": content, **variant},
        {
            "type": "toolResult",
            "data": {"name": "create_file", "output": "new, 1 line", "ok": True},
            "eventId": "call_1",
            **variant,
        },
        {"type": "variantComplete", "value": "", **variant},
    ]


@pytest.mark.parametrize(
    ("pieces", "inputs"),
    [
        (['{"path":"a.html","content":"', "x", 'y"}'], [{"path": "a.html"}]),
        (['{"pa', 'th"', ': "a', ".html", '", "content": "x"}'], [{}, {"path": "a.html"}]),
        (['{"path":"a\\', 'u00e9.html"', "}"], [{}, {"path": "aé.html"}]),
        (['{"content":"', "x", '","path":"index.html"}'], [{}, {"path": "index.html", "content": PAGE}]),
        (['{"deep":{"path":"b.html"}', "}"], [{}, {"path": "index.html", "content": PAGE}]),
    ],
)
def test_a_file_is_announced_at_once_and_completed_when_its_path_is_whole(
    pieces: list[str], inputs: list[dict[str, str]]
) -> None:
    streamed = arguments("call_1", "create_file", *pieces)
    sent_messages = messages(
        asked(), begun(), streamed, ended("msg_1", "tool_use"), written("index.html", PAGE), answered()
    )
    kinds = [message["type"] for message in sent_messages]
    starts = [message for message in sent_messages if message["type"] == "toolStart"]
    assert [start["data"] for start in starts] == [{"name": "create_file", "input": announced} for announced in inputs]
    assert {start["eventId"] for start in starts} == {"call_1"}
    assert kinds.index("toolResult") > max(place for place, kind in enumerate(kinds) if kind == "toolStart")


def test_a_path_after_the_content_is_known_from_the_preview() -> None:
    streamed = arguments("call_1", "create_file", '{"content":"x"', ',"path":"a.css"')[:-1]
    sent_messages = messages(asked(), begun(), streamed, previews("a.css", "x", 1))
    assert [message["data"]["input"] for message in sent_messages if message["type"] == "toolStart"] == [
        {},
        {"path": "a.css"},
    ]


def test_the_paths_of_two_files_that_arrive_together_are_not_mixed_up() -> None:
    first: list[Payload] = [
        ToolUseContentBlockStart(0, "b1", "c1", "create_file"),
        ToolUseContentBlockStart(1, "b2", "c2", "create_file"),
    ]
    pieces = [("b1", '{"path":"a'), ("b2", '{"path":"b.html",'), ("b1", '.html"')]
    deltas: list[Payload] = [InputJsonDelta(0, block, piece) for block, piece in pieces]
    sent_messages = messages(asked(), begun(), first, deltas)
    starts = [
        (message["eventId"], message["data"]["input"]) for message in sent_messages if message["type"] == "toolStart"
    ]
    assert starts == [("c1", {}), ("c2", {"path": "b.html"}), ("c1", {"path": "a.html"})]


def test_a_design_that_a_limit_cut_off_is_not_complete() -> None:
    note = "The exchange reached its budget of 20 turns."
    cut = answered("limit")
    sent_messages = messages(
        asked(), written("index.html", PAGE), msgspec.structs.replace(cut, limit="turns", note=note)
    )
    assert codes(sent_messages) == [PAGE]
    assert sent_messages[-2] == {
        "type": "variantError",
        "value": f"The design is not complete. {note}",
        "variantIndex": 0,
    }
    assert "variantComplete" not in {message["type"] for message in sent_messages}


def test_other_tools_start_when_they_are_called() -> None:
    call = ToolCall(id="call_1", name="look", input={"place": "x" * 1000, "deep": 2})
    streamed = arguments("call_1", "look", '{"place":', '"…"}')
    sent_messages = messages(asked(), begun(), streamed, ended(), call, answered())
    starts = [message for message in sent_messages if message["type"] == "toolStart"]
    assert len(starts) == 1
    assert starts[0]["data"]["input"] == {"place": "x" * 199 + "…", "deep": 2}


def test_a_page_that_was_written_without_a_stream() -> None:
    assert codes(messages(asked(), written("index.html", PAGE), answered())) == [PAGE]


async def test_a_page_that_the_model_wrote_as_text() -> None:
    events = await played(f"Here it is:\n```html\n{PAGE}```", tools=["files"], strategies=[PageText])
    assert codes(objects(spoken(StudioDialect(), events))) == [PAGE]


async def test_an_edit_shows_the_page_once_it_is_whole() -> None:
    page = PAGE * 40
    events = await played(
        [S.call("create_file", path="index.html", content=page + "one")],
        [S.call("edit_file", path="index.html", edits=[{"old_text": "one", "new_text": "two"}])],
        "Done.",
        tools=["files"],
    )
    sent = codes(objects(spoken(StudioDialect(), events)))
    assert sent[-1] == page + "two"
    assert sent[-2] == page + "one"


def test_a_dropped_attempt_is_drawn_over() -> None:
    dialect = StudioDialect(page="index.html", code="<p>before</p>")
    partial = [begun(), *arguments("call_1", "create_file", "{")[:2], *previews("index.html", PAGE * 3, 60)]
    second_attempt = [begun("msg_2", 2), *text("Hello.", block="msg_2.0"), *ended("msg_2"), answered()]
    retry = RetryScheduled("msg_1", 2, 0.5, BUSY)
    sent_messages = messages(
        asked(), partial, dropped(), FilePreviewReset("call_1", "index.html"), retry, second_attempt, dialect=dialect
    )
    assert codes(sent_messages) == [(PAGE * 3)[:60], "<p>before</p>"]
    result = next(message for message in sent_messages if message["type"] == "toolResult")
    assert (result["eventId"], result["data"]["ok"]) == ("call_1", False)
    assert "Trying again (attempt 2)…" in [message.get("value") for message in sent_messages]


def test_a_failed_call_is_drawn_over() -> None:
    failed = [
        ToolUseContentBlockStart(1, "msg_1.1", "call_1", "create_file"),
        InputJsonDelta(1, "msg_1.1", "{"),
        *previews("index.html", PAGE * 2, 50),
        FilePreviewReset("call_1", "index.html"),
        ToolResult(id="call_1", status="error", content="No space left.", name="create_file"),
    ]
    sent_messages = messages(asked(), begun(), [*failed], answered())
    assert codes(sent_messages) == [(PAGE * 2)[:50], ""]
    assert [message["type"] for message in sent_messages[-3:]] == ["setCode", "toolResult", "variantComplete"]


def test_the_page_is_the_first_file_or_the_first_that_is_html() -> None:
    sent_messages = messages(
        asked(),
        written("style.css", "p {}", "call_1"),
        written("index.html", PAGE, "call_2"),
        written("other.html", "<p>", "call_3"),
        written("more.css", "a {}", "call_4"),
        answered(),
    )
    assert codes(sent_messages) == ["p {}", PAGE]


def test_changes_that_nobody_showed_are_read() -> None:
    change = FileChanged("index.html", 2, "h2", "h1", "call_1", 5)
    shell = [ToolCall(id="call_1", name="run_command", input={"command": "sed"}), change]
    assert codes(messages(asked(), [*shell], answered())) == []
    dialect = StudioDialect(read=lambda change: f"revision {change.revision}")
    assert codes(messages(asked(), [*shell], answered(), dialect=dialect)) == ["revision 2"]


def test_how_it_ends_otherwise() -> None:
    def last(*payloads: Payload, **options: Any) -> list[tuple[str, str]]:
        sent_messages = messages(asked(), *payloads, dialect=StudioDialect(**options))
        return [(message["type"], message["value"]) for message in sent_messages[1:]]

    why = "The provider is overloaded."
    assert last(answered("failed", "error", BUSY)) == [("variantError", why), ("error", why)]
    assert last(answered("failed", "error", BUSY), variants=2) == [("variantError", why)]
    assert last(begun(), dropped(error=CANCELLED), answered("cancelled"), variants=2) == [
        ("variantError", "The request was cancelled.")
    ]
    assert last(answered("limit")) == [(kind, "The design is not complete.") for kind in ("variantError", "error")]
    assert last(begun(), variants=2)[0][0] == "variantError"
    assert messages(asked(), answered(), dialect=StudioDialect(variants=None))[0]["type"] == "variantComplete"


def test_a_request_that_came_to_nothing() -> None:
    frame = StudioDialect(variant=3).refused("No picture was given.")
    assert frame.data == {"type": "error", "value": "No picture was given.", "variantIndex": 3}


@pytest.mark.parametrize("size", [1_000, 30_000, 200_000])
@pytest.mark.parametrize("piece", [3, 700])
def test_set_code_costs_at_most_ten_times_the_file(size: int, piece: int) -> None:
    content = "<p>" + "x" * (size - 3)
    start = arguments("call_1", "create_file", "{")[:2]
    sent_messages = messages(
        asked(), begun(), start, previews("index.html", content, piece), written("index.html", content), answered()
    )
    sent = codes(sent_messages)
    assert sent[-1] == content
    assert len(sent) >= min(10, size // piece)
    assert sum(map(len, sent)) <= 10 * size


def test_set_code_is_not_sent_more_than_twenty_times_a_second() -> None:
    content = "x" * 5_000
    start = arguments("call_1", "create_file", "{")[:2]
    sent_messages = messages(
        asked(),
        begun(),
        start,
        previews("index.html", content, 5),
        written("index.html", content),
        answered(),
        step=0.001,
    )
    assert 2 <= len(codes(sent_messages)) <= 22


def test_a_draft() -> None:
    draft = PageDraft("index.html")
    assert draft.text == ""
    draft.add("x" * 39)
    assert not draft.due(1.0)
    draft.add("y")
    assert draft.due(1.0)
    draft.add("z" * 100)
    assert not draft.due(1.04)
    assert draft.due(1.06)
    assert (draft.size, draft.text) == (140, "x" * 39 + "y" + "z" * 100)
