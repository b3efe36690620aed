"""What wrote the files of a variant: every state of each file since the project began, with its event and its request.

A variant begins with the files of the one that it was made from, so its history goes back through all of those.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from heald.core.events import ExchangeRequest, FileChanged, MessageStart
from heald.core.messages import ToolCall
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_delegates, iterate_events
from heald.sessions.store_errors import NoSuchBlob
from heald_studio.default_models import LOCAL_MODEL
from heald_studio.projects.project import Project, VariantRef, Version, VersionKind, find_variant, find_version

Author = Literal["model", "person", "draft", "start"]
"""A model, a person by hand, the converter for a draft, or the files that the variant began with."""


class Writing(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a file."""

    author: Author
    version: str
    number: int
    """Of the version."""
    variant: int
    kind: VersionKind
    time: float
    request: str
    """The words that asked for it; empty if nobody asked, as for an edit by hand."""
    session: str
    """The session whose log has the event; empty if there is no event."""
    seq: int
    """Of the event; 0 if there is none."""
    exchange: str
    model: str
    tool: str


FileStates = Mapping[str, list[tuple[Writing, bytes]]]
"""The states of each file, the first one first."""


async def read_writings(store: Store, project: Project, base: VariantRef) -> FileStates:
    """Return all states of the files that a variant has now."""
    states: dict[str, list[tuple[Writing, bytes]]] = {}
    for version, variant in _line_of(project, base):
        session = find_variant(project, VariantRef(version.id, variant)).session
        first = Writing(
            author="person" if version.kind in ("edit", "import") else "start",
            version=version.id,
            number=version.number,
            variant=variant,
            kind=version.kind,
            time=version.created,
            request=version.text,
            session="",
            seq=0,
            exchange="",
            model="",
            tool="",
        )
        if version.draft and session != version.draft:
            await _add_session(store, version.draft, msgspec.structs.replace(first, author="draft"), states)
        await _add_session(store, session, first, states)
    return states


def _line_of(project: Project, base: VariantRef) -> list[tuple[Version, int]]:
    """Return the versions that led to a variant, each with the variant of it, the first one first."""
    line: list[tuple[Version, int]] = []
    here: VariantRef | None = base
    while here is not None and all(version.id != here.version for version, _ in line):
        version = find_version(project, here)
        line.append((version, here.variant))
        here = version.base
    return line[::-1]


async def _add_session(
    store: Store, session: str, first: Writing, states: dict[str, list[tuple[Writing, bytes]]]
) -> None:
    """Add the files that a session began with where they differ, and then each change in its log."""
    settings = SessionSettings.of((await store.info(session)).settings)
    for path in [path for path in states if path not in settings.files]:
        del states[path]
    for path, digest in settings.files.items():
        data = await store.blob(session, digest)
        history = states.setdefault(path, [])
        if not history or history[-1][1] != data:
            history.append((first, data))
    changes = await _read_changes(store, session, first)
    async for delegate in iterate_delegates(store, session):
        changes += await _read_changes(store, delegate.id, first)
    for change, writing, data in sorted(changes, key=lambda entry: (entry[1].time, entry[0].revision)):
        if data is None:
            states.pop(change.path, None)
        else:
            states.setdefault(change.path, []).append((writing, data))


async def _read_changes(store: Store, session: str, first: Writing) -> list[tuple[FileChanged, Writing, bytes | None]]:
    changes: list[tuple[FileChanged, Writing, bytes | None]] = []
    requests: dict[str, str] = {}
    tools: dict[str, str] = {}
    model = SessionSettings.of((await store.info(session)).settings).model  # by the name that was chosen
    async for event in iterate_events(store, session):
        match event.data:
            case ExchangeRequest(message=message):
                # The first request of a variant is that of its version, and later ones are made by the studio.
                requests[event.exchange or ""] = message.words if requests or message.said else first.request
            case MessageStart() if not model:
                model = event.data.model
            case ToolCall(id=call, name=name):
                tools[call] = name
            case FileChanged() as change:
                try:
                    data = await store.blob(session, change.hash) if change.hash is not None else None
                except NoSuchBlob:
                    continue  # its content was never stored
                is_person = change.cause == "user"
                author: Author = "person" if is_person else "draft" if first.author == "draft" else "model"
                writing = msgspec.structs.replace(
                    first,
                    author=author,
                    time=event.time,
                    session=session,
                    seq=event.seq,
                    exchange=event.exchange or "",
                    request=requests.get(event.exchange or "", first.request),
                    model="" if is_person else model or (LOCAL_MODEL if author == "draft" else ""),
                    tool=tools.get(change.cause, ""),
                )
                changes.append((change, writing, data))
            case _:
                pass
    return changes
