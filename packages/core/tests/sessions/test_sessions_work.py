"""The work of a session, folded from its events."""

import msgspec

from heald.agent.tracker import ExchangeTracker
from heald.core.events import ConversationDequeued, ConversationQueued, ExchangeRequest
from heald.core.messages import user_message
from heald.sessions.work import WorkTracker
from sessions_bench import event


def test_the_work_that_remains_after_events() -> None:
    tracker = WorkTracker()
    assert tracker.work == "idle"
    opened = event("ses_a", 1, ExchangeRequest(user_message("first"), ""))
    tracker.feed(msgspec.structs.replace(opened, exchange="ex_1"))
    tracker.feed(event("ses_a", 2, ConversationQueued(1, "ex_2", user_message("next"))))
    assert tracker.work == "running"
    tracker.feed(event("ses_a", 3, ExchangeTracker().response("completed", 1.0)))
    assert tracker.work == "waiting"
    tracker.feed(event("ses_a", 4, ConversationDequeued("ex_2", "cancelled")))
    assert tracker.work == "idle"
    assert WorkTracker(None, ["ex_2"]).work == "waiting"
