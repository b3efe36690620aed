"""Checks event logs against their invariants, event by event or all at once."""

from collections.abc import Callable, Iterable, Sequence

from heald.core.envelope import Event
from heald.core.payload import Payload
from heald_check.checker.approvals import ApprovalCheck
from heald_check.checker.calls import ToolCallCheck
from heald_check.checker.cancelling import CancelCheck
from heald_check.checker.client_calls import ClientCallCheck
from heald_check.checker.compacting import CompactionCheck
from heald_check.checker.content import ContentCheck
from heald_check.checker.envelope import EnvelopeCheck
from heald_check.checker.error_texts import ErrorTextCheck
from heald_check.checker.exchanges import ExchangeCheck
from heald_check.checker.files import ContentAt, FileCheck
from heald_check.checker.inner_calls import InnerCallCheck
from heald_check.checker.invariants import InvariantCheck, ReportViolation, Violation
from heald_check.checker.messages import MessageCheck
from heald_check.checker.previews import PreviewCheck
from heald_check.checker.resources import ResourceCheck
from heald_check.checker.resuming import ResumeCheck
from heald_check.checker.revisions import RevisionCheck
from heald_check.checker.rewinding import RewindCheck
from heald_check.checker.secrets import SecretCheck
from heald_check.checker.strict_json import StrictJsonCheck
from heald_check.checker.totals import TotalsCheck

_CHECKS = (
    *(EnvelopeCheck, StrictJsonCheck, ExchangeCheck, MessageCheck, ContentCheck, ToolCallCheck, ApprovalCheck),
    *(ResourceCheck, ClientCallCheck, PreviewCheck, TotalsCheck, CancelCheck, ResumeCheck, RewindCheck),
    *(CompactionCheck, InnerCallCheck),
)


class LogChecker:
    """Checks logs as they grow, of one session or of several mixed. The cost is linear in the events.

    `secrets` are texts that no event may hold; `host_paths` are folders that no error may name. `content_at` returns
    the content of a file at a revision, as `Workspace.content_at` does; with it, hashes are compared to the content.
    """

    def __init__(
        self, *, secrets: Sequence[str] = (), host_paths: Sequence[str] = (), content_at: ContentAt | None = None
    ) -> None:
        self._secrets = secrets
        self._host_paths = host_paths
        self._content_at = content_at
        self._found: list[Violation] = []
        self._sessions: dict[str, _SessionChecks] = {}
        self._ids: dict[str, str] = {}  # where each event id was used
        self._revisions = RevisionCheck()

    def feed(self, event: Event) -> list[Violation]:
        """Check the next event and return the invariants that it breaks."""
        session = self._sessions.get(event.session)
        if session is None:
            session = self._sessions[event.session] = _SessionChecks(self._create_checks(event.session))
        if event.id in self._ids:
            self._reporter(event.session)("I02", event.seq, f"{event.id!r} was used at {self._ids[event.id]}")
        else:
            self._ids[event.id] = f"{event.session}:{event.seq}"
        session.feed(event)
        return self._drain()

    def close(self) -> list[Violation]:
        """Check the end of the logs and return what only that shows, such as an exchange without a response."""
        for session in self._sessions.values():
            session.end()
        for name, seq, message in self._revisions.find_faults():
            self._reporter(name)("I40", seq, message)
        return self._drain()

    def _create_checks(self, session: str) -> list[InvariantCheck]:
        report = self._reporter(session)
        return [
            *(check(report) for check in _CHECKS),
            FileCheck(report, self._revisions, self._content_at),
            SecretCheck(report, self._secrets),
            ErrorTextCheck(report, self._host_paths),
        ]

    def _reporter(self, session: str) -> ReportViolation:
        return lambda invariant, seq, message: self._found.append(Violation(invariant, seq, message, session))

    def _drain(self) -> list[Violation]:
        if not self._found:
            return []
        violations, self._found = self._found, []
        return violations


class _SessionChecks:
    """The checks of one session, by the payloads that they watch."""

    def __init__(self, checks: Sequence[InvariantCheck]) -> None:
        self._checks = checks
        self._watchers: dict[type[Payload], list[Callable[[Event], None]]] = {}
        self._last = 0

    def feed(self, event: Event) -> None:
        kind = type(event.data)
        watchers = self._watchers.get(kind)
        if watchers is None:
            watchers = [check.on_event for check in self._checks if not check.watches or kind in check.watches]
            self._watchers[kind] = watchers  # pyrefly: ignore[unsupported-operation]
        for on_event in watchers:
            on_event(event)
        self._last = event.seq

    def end(self) -> None:
        for check in self._checks:
            check.on_end(self._last)


def check_log(
    events: Iterable[Event],
    *,
    secrets: Sequence[str] = (),
    host_paths: Sequence[str] = (),
    content_at: ContentAt | None = None,
    complete: bool = True,
) -> list[Violation]:
    """Return every invariant that a log breaks, in the order of the log; an empty list means that it is right.

    `complete=False` is for a log that is still being written, or whose writer has died: what is open may stay open.
    """
    checker = LogChecker(secrets=secrets, host_paths=host_paths, content_at=content_at)
    violations: list[Violation] = []
    for event in events:
        violations += checker.feed(event)
    return violations + checker.close() if complete else violations
