"""Exports and imports a session as one file of JSON lines: a head, the events, its files and large results.

The file holds no paths and is not compressed, so that it cannot write outside of the store or expand without limit.
Tools, permissions and folders are not read from it: the importer gives them. Files that hold secrets are left out.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from itertools import islice
from typing import BinaryIO

import msgspec

from heald.core.client_events import ResponseRequested
from heald.core.envelope import Event, decode_event
from heald.core.events import FileChanged
from heald.core.json import encode
from heald.core.messages import ToolResult, WholeResult
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_errors import BadArchive, NoSuchBlob
from heald.tools.secrets import is_secret_file

FORMAT = 1
MAX_BYTES = 1024 * 1024 * 1024
MAX_LINE = 96 * 1024 * 1024
MAX_EVENTS = 2_000_000
_MAX_EPOCH = 2**31
_LINES = 200
SIGNATURE_LINE = b'{"heald_signature":'
"""The beginning of the last line of a signed archive. See `signed_archive`."""


class ArchiveHead(msgspec.Struct, frozen=True, kw_only=True):
    heald_session: int
    created: float = 0.0
    model: str = ""
    dropped: list[tuple[int, int]] = []
    epoch: int
    last_seq: int
    title: str = ""  # the last field: all behind the others is what a redaction removes


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
    async for line in archive_lines(store, info, iterate_events(store, session, upto=info.last_seq)):
        yield line


async def archive_lines(store: Store, info: SessionInfo, events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    """Yield the lines of an archive that has these events."""
    settings = SessionSettings.of(info.settings)
    yield _line(
        ArchiveHead(
            heald_session=FORMAT,
            title=info.title,
            created=info.created,
            model=settings.model,
            dropped=settings.dropped,
            epoch=info.epoch,
            last_seq=info.last_seq,
        )
    )
    digests: dict[str, None] = {}
    async for event in events:
        if (digest := named_content(event)) is not None and not _is_of_secret_file(event):
            digests[digest] = None
        yield _line(event)
    for digest in digests:
        try:
            data = await store.blob(info.id, digest)
        except NoSuchBlob:
            continue  # a file of a folder is not in the store
        yield _line(ArchivedFile(b64encode(data).decode()))


async def read_archive(file: BinaryIO) -> AsyncIterator[Item]:
    """Yield the items of an archive, in order. Each event must continue the log. Raises BadArchive."""
    items = _items(file)
    while batch := await asyncio.to_thread(_some, items):
        for item in batch:
            yield item


def named_content(event: Event) -> str | None:
    """Return the SHA-256 of the content that an event names: a file, a large result, or a client's input."""
    match event.data:
        case FileChanged(hash=digest) | ResponseRequested(input=digest):
            return digest
        case ToolResult(whole=WholeResult(blob=digest)):
            return digest
        case _:
            return None


def _is_of_secret_file(event: Event) -> bool:
    """Return whether an event is about a file that holds secrets. Its content is not exported."""
    return isinstance(event.data, FileChanged) and is_secret_file(event.data.path)


def _some(items: Iterator[Item]) -> list[Item]:
    return list(islice(items, _LINES))


def _items(file: BinaryIO) -> Iterator[Item]:
    lines = read_lines(file)
    head = read_head(next(lines, b""))
    if not 0 <= head.last_seq <= MAX_EVENTS or not 0 <= head.epoch <= _MAX_EPOCH:
        raise BadArchive(f"The archive has {head.last_seq} events; at most {MAX_EVENTS} are imported.")
    yield head
    missing_digests: set[str] = set()
    epoch = 0
    for seq in range(1, head.last_seq + 1):
        event = _event(next(lines, b""), seq, epoch, head.epoch)
        epoch = event.epoch
        if (named := named_content(event)) is not None:
            missing_digests.add(named)
        yield event
    for line in lines:
        if line.startswith(SIGNATURE_LINE) or b'"redacted":"' in line[:16]:
            continue
        data = read_content(line)
        digest = sha256(data).hexdigest()
        if digest not in missing_digests:
            raise BadArchive("The archive holds a file that none of its events names.")
        missing_digests.discard(digest)
        yield data


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    size = 0
    while line := file.readline(MAX_LINE + 1):
        size += len(line)
        if len(line) > MAX_LINE or size > MAX_BYTES:
            raise BadArchive(f"The archive is larger than {MAX_BYTES} bytes, or a line of it than {MAX_LINE}.")
        yield line


def read_head(line: bytes) -> ArchiveHead:
    try:
        head = _heads.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadArchive("This is not an archive of a session: its first line is not the head of one.") from None
    if head.heald_session != FORMAT:
        raise BadArchive(f"The archive has the format {head.heald_session}; this Heald reads {FORMAT}.")
    return head


def _event(line: bytes, seq: int, epoch: int, last_epoch: int) -> Event:
    try:
        event = decode_event(line)
    except (ValueError, TypeError, RecursionError):
        if b',"redacted":"' in line:
            raise BadArchive(f"Event {seq} was redacted; such an archive can be verified, but not read.") from None
        raise BadArchive(f"The archive breaks off or is damaged at event {seq}.") from None
    if event.seq != seq or not epoch <= event.epoch <= last_epoch:
        raise BadArchive(f"The archive has the event {event.seq} of epoch {event.epoch} where {seq} belongs.")
    return event


def read_content(line: bytes) -> bytes:
    try:
        return b64decode(_contents.decode(line).content, validate=True)
    except (msgspec.DecodeError, ValueError):
        raise BadArchive("The archive is damaged behind its last event.") from None


def _line(value: object) -> bytes:
    return encode(value) + b"\n"


# --- copying and checking --------------------------------------------------------------------------------------------
