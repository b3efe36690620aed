"""Logs that are right have nothing to report, however they are given."""

import pytest
from checker_logs import RIGHT, Log, approved, call, plain, resumed, tools

from heald.core.envelope import decode_event
from heald.core.events import ExchangeResponse, FileChanged, Unknown
from heald.core.json import encode
from heald_check import LogChecker, Violation, check_log
from heald_check.checker.invariants import INVARIANTS


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    assert check_log(RIGHT[name]().events()) == []


@pytest.mark.parametrize("name", RIGHT)
def test_right_as_stored(name: str) -> None:
    events = [decode_event(encode(event)) for event in RIGHT[name]().events()]
    assert check_log(events, secrets=["sk-CANARY"], host_paths=["/home/somebody"]) == []


@pytest.mark.parametrize("name", RIGHT)
def test_every_beginning_of_a_right_log_is_right_so_far(name: str) -> None:
    events = RIGHT[name]().events()
    for size in range(len(events)):
        assert check_log(events[:size], complete=False) == []


def test_denied() -> None:
    assert check_log(approved(allowed=False).events()) == []


def test_an_unfinished_log_is_wrong_once_it_is_reported_to_be_complete() -> None:
    events = tools().events()
    assert {violation.invariant for violation in check_log(events[:-1])} == {"I11"}


def test_sessions_mixed_together() -> None:
    first, second = Log("ses_1").open("req").turn("One.").close(), Log("ses_2").open("req").turn("Two.").close()
    mixed = [event for pair in zip(first.events(), second.events(), strict=True) for event in pair]
    assert check_log(mixed) == []


def test_unknown_events_are_let_through() -> None:
    log = plain().insert(Unknown({"new": 1}), before=ExchangeResponse)
    assert check_log(log.events()) == []


def test_event_by_event() -> None:
    checker = LogChecker()
    log = resumed().change(ExchangeResponse, turns=9)
    reported = [(event.seq, violation) for event in log.events() for violation in checker.feed(event)]
    assert [(seq, violation.invariant) for seq, violation in reported] == [(len(log.entries), "I51")]
    assert checker.close() == []
    where = f"I51 at ses_1:{len(log.entries)}"
    assert str(reported[0][1]) == f"{where}: the exchange reports 9 turns and has 2. {INVARIANTS['I51']}"


def test_a_violation_states_where() -> None:
    log = plain().change(ExchangeResponse, turns=7)
    assert check_log(log.events()) == [
        Violation("I51", len(log.entries), "the exchange reports 7 turns and has 1", "ses_1")
    ]


def test_agents_that_share_a_workspace() -> None:
    """The one that delegated wrote the first and the third revision, the other the second."""
    asked, writing, again = call("call_1", "delegate"), call("call_1", path="a"), call("call_2", path="a")
    child = Log("ses_child").open(cause="call_1").turn(writing)
    parent = Log("ses_parent").open().turn(asked, again).run(asked)
    child.files = parent.files
    parent.write(asked, "a.txt", "one")
    child.run(writing).write(writing, "a.txt", "two").result(writing).turn("Done.").close()
    parent.result(asked).run(again).write(again, "a.txt", "three").result(again).turn("Done.").close()
    assert check_log(parent.events() + child.events()) == []
    assert check_log(child.events() + parent.events()) == []
    assert {v.invariant for v in check_log(parent.events())} == {"I40"}
    backwards = parent.move(FileChanged, 1, before=FileChanged).change(FileChanged, cause="call_1")
    assert "I40" in {v.invariant for v in check_log(backwards.events() + child.events())}


def test_agents_with_a_workspace_each() -> None:
    asked, writing = call("call_1", "delegate"), call("call_1", path="a")
    child = Log("ses_child").open(cause="call_1").turn(writing).run(writing).write(writing, "a.txt", "one")
    child.result(writing).turn("Done.").close()
    parent = Log("ses_parent").open().turn(asked).run(asked).write(asked, "a.txt", "one").result(asked)
    parent.turn("Done.").close()
    assert check_log(parent.events() + child.events()) == []
