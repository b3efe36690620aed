"""Logs against their invariants, event by event or all at once."""

from collections.abc import Callable, Iterable, Sequence

from weft.core.envelope import Event
from weft.core.payload import Payload
from weft.testing.checker.approvals import Approvals
from weft.testing.checker.content import Content
from weft.testing.checker.envelope import EventIds, Place, StrictJson
from weft.testing.checker.exchanges import Exchanges
from weft.testing.checker.files import ContentAt, Files
from weft.testing.checker.group import Group
from weft.testing.checker.messages import Messages
from weft.testing.checker.previews import Previews
from weft.testing.checker.resources import Resources
from weft.testing.checker.resume import Cancel, Resume, Rewind
from weft.testing.checker.revisions import Revisions
from weft.testing.checker.secrets import Errors, Secrets
from weft.testing.checker.tools import Tools
from weft.testing.checker.totals import Totals
from weft.testing.checker.violation import Violation


class LogChecker:
    """Checks logs as they grow, of one session or of several mixed. Cost is linear in the events.

    `secrets` are texts that must stand nowhere; `host_paths` are folders that no error may name. `content_at` gives a
    file's content at a revision, as `Workspace.content_at` does, where hashes are to be checked against it.
    """

    def __init__(
        self,
        *,
        secrets: Sequence[str] = (),
        host_paths: Sequence[str] = (),
        content_at: ContentAt | None = None,
    ) -> None:
        self._secrets = secrets
        self._host_paths = host_paths
        self._content_at = content_at
        self._found: list[Violation] = []
        self._sessions: dict[str, _Session] = {}
        self._ids = EventIds()
        self._revisions = Revisions()

    def feed(self, event: Event) -> list[Violation]:
        """The next event. Gives out what it breaks."""
        session = self._sessions.get(event.session)
        if session is None:
            session = self._sessions[event.session] = _Session(self._groups(event.session))
        if (where := self._ids.seen_at(event)) is not None:
            self._report(event.session)("I02", event.seq, f"the event id {event.id!r} was used at {where}")
        session.feed(event)
        return self._take()

    def close(self) -> list[Violation]:
        """The logs are whole. Gives out what only their end shows, such as an exchange without a response."""
        for session in self._sessions.values():
            session.end()
        for name, seq, message in self._revisions.broken():
            self._report(name)("I40", seq, message)
        return self._take()

    def _groups(self, name: str) -> list[Group]:
        report = self._report(name)
        return [
            Place(report),
            StrictJson(report),
            Exchanges(report),
            Messages(report),
            Content(report),
            Tools(report),
            Approvals(report),
            Resources(report),
            Files(report, self._revisions, self._content_at),
            Previews(report),
            Totals(report),
            Cancel(report),
            Resume(report),
            Rewind(report),
            Secrets(report, self._secrets),
            Errors(report, self._host_paths),
        ]

    def _report(self, session: str) -> Callable[[str, int, str], None]:
        return lambda invariant, seq, message: self._found.append(Violation(invariant, seq, message, session))

    def _take(self) -> list[Violation]:
        if not self._found:
            return []
        found, self._found = self._found, []
        return found


class _Session:
    """The groups that watch one session, by the payloads they look at."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._watchers: dict[type[Payload], list[Callable[[Event], None]]] = {}
        self._last = 0

    def feed(self, event: Event) -> None:
        kind = type(event.data)
        watchers = self._watchers.get(kind)
        if watchers is None:
            watchers = [group.see for group in self._groups if not group.sees or kind in group.sees]
            self._watchers[kind] = watchers
        for see in watchers:
            see(event)
        self._last = event.seq

    def end(self) -> None:
        for group in self._groups:
            group.end(self._last)


def check_log(
    events: Iterable[Event],
    *,
    secrets: Sequence[str] = (),
    host_paths: Sequence[str] = (),
    content_at: ContentAt | None = None,
    complete: bool = True,
) -> list[Violation]:
    """Every invariant that a log breaks, in the order of the log. None is right.

    `complete=False` is for a log that is still being written, or whose writer has died: what is open may stay open.
    """
    checker = LogChecker(secrets=secrets, host_paths=host_paths, content_at=content_at)
    found: list[Violation] = []
    for event in events:
        found += checker.feed(event)
    return found + checker.close() if complete else found
