"""The invariants of an event log: their codes and sentences, and the base class of the checks."""

from collections.abc import Callable
from typing import ClassVar

import msgspec

from heald.core.envelope import Event
from heald.core.payload import Payload

INVARIANTS: dict[str, str] = {
    "I01": "The events of a session are numbered 1, 2, 3 and so on, without a gap.",
    "I02": "No two events have the same id, over all sessions.",
    "I03": "The time of events never runs backwards within one epoch.",
    "I04": "An event has a session, an id, the type and layer of its payload, and an exchange that "
    "was opened, except for events of the session itself.",
    "I05": "An event is strict JSON without NaN and infinity; one with a piece of a content has at most 1 MiB.",
    "I10": "The first event of an exchange is its only `exchange_request`.",
    "I11": "An exchange ends with exactly one `exchange_response`, and no event of it follows.",
    "I12": "The status of an exchange is known; a failed one has one `error_occurred` and one `error_message`, a "
    "completed one has none.",
    "I13": "The exchanges of one session do not overlap.",
    "I14": "One `client_request_id` opens at most one exchange.",
    "I20": "Each message is closed exactly once, by `message_stop` or `message_discarded`, and one is open at a time.",
    "I21": "The blocks and the delta of a message lie between its start and its end.",
    "I22": "Blocks are numbered 0, 1, 2 and so on, and each one is started, filled and stopped in this order.",
    "I23": "The text deltas of a message add up to the text of its `assistant_message`.",
    "I24": "The thinking deltas of a message add up to the thinking of its `assistant_message`.",
    "I25": "The calls that streamed, the calls of the `assistant_message` and the `tool_call` events are the same.",
    "I26": "Each stopped message has exactly one `assistant_message`; a discarded one has none.",
    "I27": "The stop reason is known, and `tool_use` if and only if the message has calls; all calls of a message "
    "that was cut off are invalid.",
    "I28": "No call of a discarded message is made or run.",
    "I29": "The attempts of a turn are numbered 1, 2, 3 and so on, with a `retry_scheduled` between two of them.",
    "I30": "Each `tool_call` has exactly one `tool_result`, before its exchange ends.",
    "I31": "The id of a call is used once in a session.",
    "I32": "The events of a call come in order: `tool_call`, planned, executing, output, outcome, `tool_result`.",
    "I33": "A call starts only after the `message_stop` of its message.",
    "I34": "All results of a message come before the next message starts.",
    "I35": "The status of a result is known and agrees with the outcome of the call.",
    "I36": "The runs of a call are counted; a call that a crash interrupted runs again only if it is idempotent, and "
    "ends `interrupted` otherwise, or `ok` if the log has a change of every file that it held. A call that waits for a "
    "client or a person waits on.",
    "I37": "An invalid call never runs, and a call that ran does not end `invalid_input` or `unknown_tool`.",
    "I38": "Each approval is resolved exactly once, before its call runs; a denied call does not run, except that a "
    "client may refuse a call that it was asked to run.",
    "I39": "The text of a result has at most 256 KiB, or the result is marked truncated.",
    "I3A": "Two calls that hold the same resource do not run at the same time.",
    "I3B": "A `client_tool_requested` is of a running call, once; `conversation_waiting` names open calls of clients, "
    "and no other call runs then.",
    "I3C": "A call with a `parent` is made while that call runs, stands in no message, and ends before it; after a "
    "crash it does not run.",
    "I40": "The revisions of a file are numbered 1, 2, 3 and so on, and each names the hash of the one before it.",
    "I41": "A file changes while the call that causes it runs, or by the user's hand outside of an exchange.",
    "I42": "The previews of a file add up to the content that the call writes, or are reset.",
    "I43": "The hash and the size of a changed file are those of its content.",
    "I44": "Paths are relative and normalised: no `..`, no backslash, no NUL.",
    "I50": "The usage of an exchange is the sum over all its messages, discarded ones included, and never negative.",
    "I51": "The turns of an exchange are its stopped messages; a limit is named if and only if the status is `limit`.",
    "I60": "After `cancel_requested` no message and no call starts, and the exchange ends `cancelled`.",
    "I61": "`session_resumed` names the last event before it, and each call that was open then gets a result.",
    "I62": "The epoch never decreases.",
    "I63": "No content is sent twice after a resume.",
    "I64": "A session is rewound between exchanges, to an event that lies outside of an exchange.",
    "I65": "The context is compacted between messages, to fewer tokens than before; it is restored between exchanges, "
    "from the last compaction that holds.",
    "I70": "No secret stands anywhere in the log, not even split over deltas.",
    "I71": "The text of an error has no traceback and no path of the host.",
}
"""One sentence for each code. `make docs` writes them into docs/testing.md."""

ReportViolation = Callable[[str, int, str], None]
"""Called with the code of the invariant, the seq of the event that breaks it, and what happened."""


class Violation(msgspec.Struct, frozen=True):
    """A broken invariant: its code, the event that breaks it, and what happened."""

    invariant: str
    seq: int
    message: str
    session: str = ""

    @property
    def rule(self) -> str:
        """The sentence of the invariant."""
        return INVARIANTS[self.invariant]

    def __str__(self) -> str:
        return f"{self.invariant} at {self.session}:{self.seq}: {self.message}. {self.rule}"


class InvariantCheck:
    """Checks the log of one session for some of the invariants.

    A check keeps only what it needs to judge the next event. A broken log never makes it raise.
    """

    watches: ClassVar[tuple[type[Payload], ...]] = ()
    """The payloads that the check is called with; empty means all."""

    def __init__(self, report: ReportViolation) -> None:
        self._report = report

    def on_event(self, event: Event) -> None:
        """Check the next event of the session."""
        raise NotImplementedError

    def on_end(self, seq: int) -> None:
        """Check the end of the log; `seq` is its last event."""

    def report(self, invariant: str, at: Event | int, message: str) -> None:
        self._report(invariant, at if isinstance(at, int) else at.seq, message)
