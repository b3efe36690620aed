"""The files that are obeyed now, the weaker first: the project's if the user trusts it, then the user's own."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config.places import project_file, shown, user_file
from weft.config.reading import Document, content_of, read
from weft.config.trust import State, state_of

_log = logging.getLogger("weft.config")
_told: set[Path] = set()


@dataclass(frozen=True, slots=True)
class Ignored:
    """A project's file that is not obeyed."""

    path: Path
    state: State

    def __str__(self) -> str:
        why = {
            "changed": "has changed since you trusted it",
            "refused": "is refused, as you said",
            "unknown": "is not trusted",
        }
        said = why.get(self.state, "is not trusted")
        return f"{shown(self.path)} {said} and does nothing; `weft trust` shows it and asks."


@dataclass(frozen=True, slots=True)
class Sources:
    documents: Sequence[Document]
    ignored: Ignored | None = None


def sources() -> Sources:
    """Read anew at each call: a file may have changed. Raises ConfigurationError for what is wrong in one."""
    found: list[Document] = []
    ignored: Ignored | None = None
    path = project_file()
    content = content_of(path) if path is not None else None
    if path is not None and content is not None:
        state = state_of(path, content)
        if state == "trusted":
            found.append(read(path, "project", content))
        else:
            ignored = Ignored(path, state)
    content = content_of(user_file())
    if content is not None:
        found.append(read(user_file(), "user", content))
    return Sources(found, ignored)


def told(ignored: Ignored) -> None:
    """Whoever is concerned knows of it already."""
    _told.add(ignored.path)


def obeyed() -> Sequence[Document]:
    """The same for programs: a file that is not obeyed is told once, in the log."""
    now = sources()
    if now.ignored is not None and now.ignored.state != "refused" and now.ignored.path not in _told:
        _told.add(now.ignored.path)
        _log.warning("%s", now.ignored)
    return now.documents
