"""I60 to I64, broken."""

from checker_logs import Entry, Log, call, resumed, resumed_message, violation_ids

from heald.core.events import (
    AssistantMessage,
    ConversationDequeued,
    ExchangeRequest,
    FilePreview,
    MessageDelta,
    MessageDiscarded,
    MessageStart,
    MessageStop,
    SessionResumed,
    SessionRewound,
    TextContentBlockStop,
    TextDelta,
    ToolFailed,
)
from heald.core.messages import Message, Text, ToolResult
from heald.core.turn import Usage


def test_i61_from_elsewhere() -> None:
    assert violation_ids(resumed().change(SessionResumed, from_seq=3)) == {"I61"}
    assert violation_ids(resumed().change(SessionResumed, from_seq=999)) == {"I61"}
    assert violation_ids(resumed().double(SessionResumed)) == {"I61"}


def test_i61_a_call_stays_open() -> None:
    assert {"I61", "I30"} <= violation_ids(resumed().cut(ToolFailed).cut(ToolResult))


def test_i61_a_call_that_waited_stays_open() -> None:
    assert {"I61", "I30"} <= violation_ids(resumed().cut(ToolResult, 2))


def test_i61_at_the_end_of_the_log() -> None:
    assert "I61" in violation_ids(Log().open().turn(call()).resume())


def test_i63_a_message_goes_on_after_a_crash() -> None:
    log = Log().open().start()
    log.block(0, "Whole.", {})
    at = log.find(TextDelta, 1)
    rest, log.entries = log.entries[at:], log.entries[:at]
    log.resume().entries += rest
    for entry in rest:
        entry.epoch = 2
    log.usage, log.turns = Usage(output=1), 1
    log.add(MessageDelta(log.message, "end_turn", log.usage), MessageStop(log.message))
    log.add(AssistantMessage(Message(role="assistant", content=[Text("Whole.")], id=log.message))).close()
    assert violation_ids(log) == {"I63"}


def test_i63_repeated_after_a_crash() -> None:
    again = TextDelta(0, "msg_ses_1_1.0", "Half")
    assert violation_ids(resumed_message().insert(again, before=MessageDiscarded)) == {"I63"}
    stop = TextContentBlockStop(0, "msg_ses_1_1.0")
    assert violation_ids(resumed_message().insert(stop, before=MessageDiscarded)) == {"I63"}


def test_i63_the_same_message_restarts() -> None:
    assert "I63" in violation_ids(resumed_message().change(MessageStart, 1, message_id="msg_ses_1_1"))
    log = Log().open().start().resume().drop_message()
    log.messages = 0
    assert "I63" in violation_ids(log.start().drop_message().close("failed"))


def test_i63_a_preview_shows_text_twice() -> None:
    asked = call(path="a", content="abcdefgh")
    log = Log().open().turn(asked, previews={asked.id: ("a", "abcdefgh")}).run(asked)
    log.write(asked, "a", "abcdefgh").result(asked).turn("Done.").close()
    assert violation_ids(log) == set()
    assert "I63" in violation_ids(log.double(FilePreview))


def dequeued(log: Log) -> Log:
    """The log, whose second exchange was cancelled while it waited."""
    request = log.entries[log.find(ExchangeRequest, 1)].exchange
    log.entries.insert(1, Entry(ConversationDequeued(request or ""), None, 1, log.session))
    return log


def test_i60_what_was_removed_from_the_queue_runs() -> None:
    assert violation_ids(dequeued(Log().open().turn("One.").close().open().close("cancelled"))) == set()
    assert violation_ids(dequeued(Log().open().turn("One.").close().open().turn("Two.").close())) == {"I60"}


def rewound(seq: int) -> Log:
    """Two exchanges, and the conversation goes back."""
    log = Log().open().turn("One.").close().open().turn("Two.").close()
    log.entries.append(Entry(SessionRewound(seq), None, 1, log.session))
    return log.open().turn("Three.").close()


def test_i64_back_to_a_place_between_exchanges() -> None:
    end = len(Log().open().turn("One.").close().entries)
    two = len(Log().open().turn("One.").close().open().turn("Two.").close().entries)
    for seq in range(two + 3):
        assert violation_ids(rewound(seq)) == (set() if seq in (0, end, two) else {"I64"}), seq
    assert violation_ids(rewound(-1)) == {"I64"}


def test_i64_not_inside_an_exchange() -> None:
    log = Log().open().turn("One.").close().open()
    log.entries.append(Entry(SessionRewound(0), None, 1, log.session))
    assert violation_ids(log.turn("Two.").close()) == {"I64"}
