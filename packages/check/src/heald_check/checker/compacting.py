"""The invariant of compacting (I65)."""

from heald.core import events as ev
from heald.core.context_events import ConversationCompacted, ConversationRestored
from heald.core.envelope import Event
from heald_check.checker.invariants import InvariantCheck, ReportViolation


class CompactionCheck(InvariantCheck):
    """I65. A rewind may drop compactions, so after one any earlier compaction may be restored."""

    watches = (
        *(ev.MessageStart, ev.MessageStop, ev.MessageDiscarded, ev.SessionRewound),
        *(ConversationCompacted, ConversationRestored),
    )

    def __init__(self, report: ReportViolation) -> None:
        super().__init__(report)
        self._message = ""
        self._holding: list[int] = []
        self._rewound = False

    def on_event(self, event: Event) -> None:
        match event.data:
            case ev.MessageStart(message_id=message):
                self._message = message
            case ev.SessionRewound():
                self._rewound = True
            case ConversationCompacted():
                self._i65_compacted(event, event.data)
                self._holding.append(event.seq)
            case ConversationRestored(seq=seq):
                self._i65_restored(event, seq)
            case _:
                self._message = ""

    def _i65_compacted(self, event: Event, compaction: ConversationCompacted) -> None:
        if self._message:
            self.report("I65", event, f"the context is compacted while {self._message!r} is open")
        if compaction.tokens_after >= compaction.tokens_before:
            before, after = compaction.tokens_before, compaction.tokens_after
            self.report("I65", event, f"the context has {after} tokens after the compaction and {before} before it")
        if compaction.removed < 0 or compaction.shortened < 0:
            self.report("I65", event, "the compaction removes or shortens fewer than no messages")

    def _i65_restored(self, event: Event, seq: int) -> None:
        if event.exchange is not None:
            self.report("I65", event, "the context is restored inside an exchange")
        if seq not in self._holding or (seq != self._holding[-1] and not self._rewound):
            self.report("I65", event, f"{seq} is not the last compaction that holds")
        if seq in self._holding:
            self._holding.remove(seq)
