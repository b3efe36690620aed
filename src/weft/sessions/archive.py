"""Exports and imports a session as one file of JSON lines: a head, the events, its files and large results. Copies the
sessions of one store into another, and checks whether sessions can be read.

The file holds no paths and is not compressed, so that it cannot write outside of the store or expand without limit.
Tools, permissions and folders are not read from it: the importer gives them.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import BinaryIO

import msgspec

from weft.core.client_events import ResponseRequested
from weft.core.envelope import Event, decode_event
from weft.core.errors import WeftError
from weft.core.events import FileChanged
from weft.core.json import encode
from weft.core.messages import ToolResult, WholeResult
from weft.sessions.settings import SessionSettings
from weft.sessions.store import (
    BadArchive,
    NoSuchBlob,
    NoSuchSession,
    SessionExists,
    SessionInfo,
    Store,
    StoreCorrupt,
    iterate_delegates,
    iterate_events,
    new_holder,
)

FORMAT = 1
MAX_BYTES = 1024 * 1024 * 1024
MAX_LINE = 96 * 1024 * 1024
MAX_EVENTS = 2_000_000
_MAX_EPOCH = 2**31
_LINES = 200


class ArchiveHead(msgspec.Struct, frozen=True, kw_only=True):
    weft_session: int
    title: str = ""
    created: float = 0.0
    model: str = ""
    dropped: list[tuple[int, int]] = []
    epoch: int
    last_seq: int


class ArchivedFile(msgspec.Struct, frozen=True):
    """The content of a project file. Events name it by its hash."""

    content: str


Item = ArchiveHead | Event | bytes
"""The content of a line; bytes are the content of a file."""

_heads = msgspec.json.Decoder(ArchiveHead)
_contents = msgspec.json.Decoder(ArchivedFile)


async def export_lines(store: Store, session: str) -> AsyncIterator[bytes]:
    """Yield the lines of a session's archive."""
    info = await store.info(session)
    settings = SessionSettings.of(info.settings)
    yield _line(
        ArchiveHead(
            weft_session=FORMAT,
            title=info.title,
            created=info.created,
            model=settings.model,
            dropped=settings.dropped,
            epoch=info.epoch,
            last_seq=info.last_seq,
        )
    )
    digests: dict[str, None] = {}
    async for event in iterate_events(store, session, upto=info.last_seq):
        if (digest := _named_content(event)) is not None:
            digests[digest] = None
        yield _line(event)
    for digest in digests:
        try:
            data = await store.blob(session, digest)
        except NoSuchBlob:
            continue  # a file of a folder is not in the store
        yield _line(ArchivedFile(b64encode(data).decode()))


async def read_archive(file: BinaryIO) -> AsyncIterator[Item]:
    """Yield the items of an archive, in order. Each event must continue the log. Raises BadArchive."""
    items = _items(file)
    while batch := await asyncio.to_thread(_some, items):
        for item in batch:
            yield item


def _named_content(event: Event) -> str | None:
    """Return the SHA-256 of the content that an event names: a file, a large result, or a client's input."""
    match event.data:
        case FileChanged(hash=digest) | ResponseRequested(input=digest):
            return digest
        case ToolResult(whole=WholeResult(blob=digest)):
            return digest
        case _:
            return None


def _some(items: Iterator[Item]) -> list[Item]:
    return list(islice(items, _LINES))


def _items(file: BinaryIO) -> Iterator[Item]:
    lines = _lines_of(file)
    head = _head(next(lines, b""))
    if not 0 <= head.last_seq <= MAX_EVENTS or not 0 <= head.epoch <= _MAX_EPOCH:
        raise BadArchive(f"The archive has {head.last_seq} events; at most {MAX_EVENTS} are imported.")
    yield head
    wanted: set[str] = set()
    epoch = 0
    for seq in range(1, head.last_seq + 1):
        event = _event(next(lines, b""), seq, epoch, head.epoch)
        epoch = event.epoch
        if (named := _named_content(event)) is not None:
            wanted.add(named)
        yield event
    for line in lines:
        data = _content(line)
        digest = sha256(data).hexdigest()
        if digest not in wanted:
            raise BadArchive("The archive holds a file that none of its events names.")
        wanted.discard(digest)
        yield data


def _lines_of(file: BinaryIO) -> Iterator[bytes]:
    size = 0
    while line := file.readline(MAX_LINE + 1):
        size += len(line)
        if len(line) > MAX_LINE or size > MAX_BYTES:
            raise BadArchive(f"The archive is larger than {MAX_BYTES} bytes, or a line of it than {MAX_LINE}.")
        yield line


def _head(line: bytes) -> ArchiveHead:
    try:
        head = _heads.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadArchive("This is no archive of a session: its first line is not the head of one.") from None
    if head.weft_session != FORMAT:
        raise BadArchive(f"The archive has the format {head.weft_session}; this Weft reads {FORMAT}.")
    return head


def _event(line: bytes, seq: int, epoch: int, last_epoch: int) -> Event:
    try:
        event = decode_event(line)
    except (ValueError, TypeError, RecursionError):
        raise BadArchive(f"The archive breaks off or is damaged at event {seq}.") from None
    if event.seq != seq or not epoch <= event.epoch <= last_epoch:
        raise BadArchive(f"The archive has the event {event.seq} of epoch {event.epoch} where {seq} belongs.")
    return event


def _content(line: bytes) -> bytes:
    try:
        return b64decode(_contents.decode(line).content, validate=True)
    except (msgspec.DecodeError, ValueError):
        raise BadArchive("The archive is damaged behind its last event.") from None


def _line(value: object) -> bytes:
    return encode(value) + b"\n"


# --- copying and checking --------------------------------------------------------------------------------------------


_BATCH = 500
_LIST = 200


class CopyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for the sessions of a store."""

    copied: int = 0
    events: int = 0
    existing: int = 0
    """Sessions that the target had already, which were left as they were."""
    damaged: tuple[str, ...] = ()


async def iterate_sessions(store: Store) -> AsyncIterator[SessionInfo]:
    """Yield all sessions of a store, each before those that worked for it."""
    after: str | None = None
    while True:
        page = await store.list(limit=_LIST, after=after)
        for info in page.sessions:
            yield info
            async for delegate in iterate_delegates(store, info.id):
                yield delegate
        after = page.next
        if after is None:
            return


async def copy_sessions(
    source: Store, target: Store, *, records: Sequence[str] = (), on_session: Callable[[SessionInfo], object] = id
) -> CopyResult:
    """Copy all sessions with their logs, blobs and delegates, and records of the named kinds.

    The sessions keep their ids, owners and epochs. A copy that was interrupted may be repeated: it goes on with the
    sessions that are missing. Damaged sessions are left out and named.
    """
    found = [info async for info in iterate_sessions(source)]
    found.sort(key=lambda info: info.updated)  # the last changed one is the last changed one of the target too
    copied = events = existing = 0
    damaged: list[str] = []
    for draft in await target.abandoned():
        with suppress(NoSuchSession):
            await target.delete(draft)
    for info in found:
        try:
            events += await _copy_session(source, target, info)
            copied += 1
            on_session(info)
        except SessionExists:
            existing += 1
        except StoreCorrupt:
            damaged.append(info.id)
            with suppress(NoSuchSession):
                await target.delete(info.id)
    for kind in records:
        for name, data in (await source.read_records(kind)).items():
            await target.put_record(kind, name, data, only_new=True)
    return CopyResult(copied=copied, events=events, existing=existing, damaged=tuple(damaged))


async def _copy_session(source: Store, target: Store, listed: SessionInfo) -> int:
    """Copy a session: completely or, after a crash, not at all. Returns the number of its events."""
    info = listed if listed.cause is not None else await source.info(listed.id)
    await target.create(info, draft=True)
    lease = await target.acquire(info.id, new_holder())
    for digest in await source.list_blobs(info.id):
        await target.put_blob(info.id, await source.blob(info.id, digest))
    events: list[Event] = []
    count = 0
    async for event in iterate_events(source, info.id, upto=info.last_seq):
        events.append(event)
        count += 1
        if len(events) >= _BATCH:
            await target.append(lease, events)
            await target.renew(lease)
            events = []
    await target.append(lease, events, work=info.work)
    await target.finish(lease)
    await target.release(lease)
    return count


async def check_session(store: Store, info: SessionInfo, feed: Callable[[Event], object] = id) -> str | None:
    """Read a session as opening it does, and call `feed` with each event. Returns the problem, if there is one."""
    try:
        whole = info if info.cause is not None else await store.info(info.id)
        SessionSettings.of(whole.settings)
        seq = 0
        async for event in iterate_events(store, info.id):
            seq = event.seq
            feed(event)
        if seq < whole.last_seq:
            return f"its log ends at event {seq}, not at {whole.last_seq}"
        for digest in await store.list_blobs(info.id):
            await store.blob(info.id, digest)
    except WeftError as error:
        return str(error).rstrip(".")
    return None
