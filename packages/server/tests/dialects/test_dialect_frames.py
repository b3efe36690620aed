"""Frames, the registry, cursors, and what all dialects have in common."""

import pytest

from dialect_support import answered, asked, begun, dropped, ended, log_of, objects, spoken, text
from heald.core.envelope import decode_event, is_event
from heald.core.errors import ConfigurationError, ErrorInfo
from heald.core.events import ConversationDequeued, ErrorOccurred, SessionResumed, SessionRewound, TextDelta, Unknown
from heald.core.json import loads
from heald.wires.framing import ServerSentEvent
from heald.wires.sse import SSEParser
from heald_server.dialects.frame import Frame
from heald_server.dialects.registry import load_dialects, open_dialect
from heald_server.protocols.native.dialect import NativeDialect

OTHERS = [name for name in load_dialects() if name != "native"]
EXCHANGE = [asked(), begun(), *text("Hel", "lo."), *ended(), answered()]


def read_sse(data: bytes) -> list[ServerSentEvent]:
    parser = SSEParser()
    return [*parser.feed(data), *parser.close()]


def test_the_dialects_of_the_server() -> None:
    names = {"native", "loop", "normalized", "ai-sdk", "ag-ui", "openai", "responses", "agentx"}
    assert names <= set(load_dialects())
    for name in load_dialects():
        dialect = open_dialect(name, "ses_1")
        assert (dialect.name, dialect.content_type) == (name, "text/event-stream")


def test_a_dialect_that_is_not_there() -> None:
    with pytest.raises(ConfigurationError, match=r"no dialect named 'klingon'; there are .*native"):
        open_dialect("klingon")


def test_a_frame_as_a_server_sent_event() -> None:
    dialect = open_dialect("loop")
    assert dialect.sse(Frame({"a": "x\ny"}, "name", 7)) == b'id: 7\nevent: name\ndata: {"a":"x\\ny"}\n\n'
    assert dialect.sse(Frame("[DONE]")) == b"data: [DONE]\n\n"
    assert dialect.sse(Frame("two\nlines")) == b"data: two\ndata: lines\n\n"


def test_a_name_cannot_forge_another_event() -> None:
    frame = Frame({}, "x\ndata: forged\r\n\nevent: y\ud800", 1)
    (read,) = read_sse(open_dialect("native").sse(frame))
    assert (read.event, read.data) == ("x data: forged event: y?", b"{}")


def test_a_frame_as_a_websocket_message() -> None:
    frame = Frame({"delta": "x"}, "content_delta", 7)
    assert loads(open_dialect("loop").text(frame)) == {"event": "content_delta", "data": {"delta": "x"}, "seq": 7}
    assert loads(open_dialect("studio").text(Frame({"type": "status"}, None, 7))) == {"type": "status", "seq": 7}
    assert loads(open_dialect("ai-sdk").text(Frame({"type": "start"}, None, 7))) == {"type": "start", "seq": 7}
    assert open_dialect("openai").text(Frame("[DONE]")) == "[DONE]"


def test_half_a_surrogate_pair_is_written_as_its_escape() -> None:
    for name in load_dialects():
        dialect = open_dialect(name)
        for frame in spoken(dialect, log_of(asked(), begun(), text("\ud83d"), ended(), answered())):
            assert dialect.sse(frame)
            assert dialect.text(frame)


def test_native_is_the_log_itself() -> None:
    dialect = NativeDialect()
    events = log_of(*EXCHANGE, SessionResumed(3), ConversationDequeued("ex_2"), SessionRewound(0))
    frames = spoken(dialect, events)
    assert [decode_event(dialect.text(frame)) for frame in frames] == events
    read = read_sse(b"".join(dialect.sse(frame) for frame in frames))
    assert [decode_event(item.data) for item in read] == events
    assert [(item.event, item.id) for item in read] == [(event.type, str(event.seq)) for event in events]


def test_native_reports_other_sessions_without_a_cursor() -> None:
    dialect = NativeDialect("ses_1")
    (frame,) = dialect.feed(log_of(begun(), session="ses_2")[0])
    assert is_event(frame.data)
    assert frame.id is None


@pytest.mark.parametrize("name", OTHERS)
def test_other_sessions_are_left_out(name: str) -> None:
    log = log_of(*EXCHANGE)
    other = log_of(
        asked(), begun("msg_9"), text("Secret.", block="msg_9.0"), ended("msg_9"), answered(), session="ses_2"
    )
    mixed = [*log[:4], *other, *log[4:]]
    assert spoken(open_dialect(name), mixed) == spoken(open_dialect(name), log)


@pytest.mark.parametrize("name", OTHERS)
def test_unknown_events_and_what_lies_outside_of_exchanges_are_ignored(name: str) -> None:
    unknown = Unknown({"new": True})
    log = log_of(*EXCHANGE)
    strange = log_of(TextDelta(0, "msg_0.0", "before"), first=-5) + log[:3] + log_of(unknown, first=3) + log[3:]
    late = [*strange, *log_of(TextDelta(0, "msg_1.0", "late"), first=90)]
    assert spoken(open_dialect(name), late) == spoken(open_dialect(name), log)


@pytest.mark.parametrize("name", OTHERS)
def test_a_rewind_is_reported_in_no_other_dialect(name: str) -> None:
    log = log_of(*EXCHANGE)
    rewound = [*log, *log_of(SessionRewound(0), first=len(log) + 1)]
    assert spoken(open_dialect(name), rewound) == spoken(open_dialect(name), log)


@pytest.mark.parametrize("name", OTHERS)
def test_empty_deltas_are_not_worth_a_frame(name: str) -> None:
    def without_cursor(*pieces: str) -> list[object]:
        events = log_of(asked(), begun(), text(*pieces), ended(), answered(), step=0)
        frames = spoken(open_dialect(name), events)
        for data in objects(frames):
            data.pop("uuid", None)  # that of agentx is the id of an event
        return [(frame.event, frame.data) for frame in frames]

    assert without_cursor("", "Hel", "", "lo.", "") == without_cursor("Hel", "lo.")


@pytest.mark.parametrize("name", OTHERS)
def test_only_the_last_frame_of_an_event_has_its_seq(name: str) -> None:
    dialect = open_dialect(name)
    for event in log_of(*EXCHANGE):
        frames = dialect.feed(event)
        assert [frame.id for frame in frames] == [None] * (len(frames) - 1) + [event.seq] * bool(frames)


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_reported_after_the_close(name: str) -> None:
    dialect = open_dialect(name)
    events = log_of(*EXCHANGE)
    spoken(dialect, events)
    assert spoken(dialect, events) == []


@pytest.mark.parametrize("name", OTHERS)
def test_errors_are_one_short_line(name: str) -> None:
    error = ErrorInfo(code="server_error", message="It broke.\n" + "Much detail. " * 500)
    events = log_of(asked(), begun(), dropped("msg_1", error), ErrorOccurred(error), answered("failed", "error", error))
    dialect = open_dialect(name)
    frames = spoken(dialect, events)
    room = 1600 if name == "responses" else 600  # it repeats the parameters of the request
    assert all(len(dialect.text(frame)) < room for frame in frames)
    assert "It broke. Much detail." in str(objects(frames))
