"""Signs an archive of a session, verifies it, and redacts it.

A signed archive is an archive whose lines have salts, with a last line more: the signed head. The head has the end of
the hash chain over the events, and that of the chain which goes on over the first line and the contents of files.
`heald sessions import` reads it as any other.

The deltas of an answer are joined as the store joins them when it thins a log out, so that an archive of before and one
of after have the same chain.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from hashlib import sha256
from time import time
from typing import BinaryIO, Literal

import msgspec

from heald.core.envelope import Event, decode_event
from heald.core.events import FilePreview, InputJsonDelta, TextDelta, ThinkingDelta, ToolOutputDelta
from heald.core.json import encode, encode_text
from heald.core.payload import Payload
from heald.sessions.archive import SIGNATURE_LINE, archive_lines, named_content, read_content, read_head, read_lines
from heald.sessions.event_codec import Delta, thin_out
from heald.sessions.log_chain import START, add_salt, extend_chain, read_line, redact_line
from heald.sessions.session_info import SessionInfo
from heald.sessions.signing_key import SigningKey, is_public_key, is_signed
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_errors import BadArchive, ForgedArchive, NotSigned, SessionBusy

SIGNATURE_FORMAT = 1
_SIGNATURE = b',"signature":"'
_PURPOSE = b"heald signed head\n"
"""What is signed begins with it, so that a signature for another purpose is none for this one."""


class SignedHead(msgspec.Struct, frozen=True, kw_only=True):
    """What a signature says: the session had exactly these events."""

    heald_signature: int
    session: str
    owner: str
    """The user of a server to whom the session belongs, and who decides on its approvals."""
    last_seq: int
    head: str
    """The hash chain over the events."""
    archive: str
    """The same chain, continued over the first line and the contents of files."""
    time: float
    """When it was signed, by the clock of the signer."""
    key: str
    """The public key."""


class VerifiedArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An archive that is as it was signed, apart from what was redacted."""

    signed: SignedHead
    redacted: list[int]
    """Events without their data."""
    redacted_contents: int
    earlier_head: str | None
    """The chain at the event that was asked for; None if the archive has fewer."""


OnLine = Callable[[bytes, bytes, bool], object]
"""Called with the line of an event, its public part, and whether it is redacted."""

_signature = re.compile(rb'([0-9a-f]{128})"}\n')
_signed_heads = msgspec.json.Decoder(SignedHead)


# --- signing ---------------------------------------------------------------------------------------------------------


async def signed_lines(store: Store, session: str, key: SigningKey) -> AsyncIterator[bytes]:
    """Yield the lines of a session's signed archive. Raises SessionBusy while an exchange is open in it."""
    info = await store.info(session)
    if info.work != "idle":
        raise SessionBusy(f"{session} has an open exchange; sign it when the exchange is over.")
    head = chain = START
    first = b""
    number = 0
    async for plain in archive_lines(store, info, _thinned_events(store, info)):
        line = _add_salt(plain, number, info, key)
        if number == 0:
            first = line
        else:
            chain = extend_chain(chain, read_line(line))
        yield line
        if number == info.last_seq:
            head, chain = chain, extend_chain(chain, read_line(first))
        number += 1
    if number <= info.last_seq:
        raise BadArchive(f"The log of {session} lacks events; `heald check` names them.")
    yield _sign(info, head, chain, key)


def _add_salt(line: bytes, number: int, info: SessionInfo, key: SigningKey) -> bytes:
    place, private = ("title", b'"title":') if number == 0 else (f"event {number}", b'"data":')
    if number > info.last_seq:
        place, private = "content", b'"content":'
    return add_salt(line, private, key.salt(info.id, place, line))


async def _thinned_events(store: Store, info: SessionInfo) -> AsyncIterator[Event]:
    deltas: list[Event] = []
    async for event in iterate_events(store, info.id, upto=info.last_seq):
        if isinstance(event.data, Delta):
            deltas.append(event)
            continue
        for run in thin_out(deltas):
            for delta in run.events():
                yield delta
        deltas = []
        yield event
    for run in thin_out(deltas):
        for delta in run.events():
            yield delta


def _sign(info: SessionInfo, head: bytes, archive: bytes, key: SigningKey) -> bytes:
    signed = SignedHead(
        heald_signature=SIGNATURE_FORMAT,
        session=info.id,
        owner=info.owner,
        last_seq=info.last_seq,
        head=head.hex(),
        archive=archive.hex(),
        time=time(),
        key=key.public,
    )
    statement = encode(signed).removesuffix(b"}")
    return b"".join((statement, _SIGNATURE, key.sign(_PURPOSE + statement).hex().encode(), b'"}\n'))


# --- verifying -------------------------------------------------------------------------------------------------------


def verify_archive(file: BinaryIO, on_event: OnLine | None = None, *, earlier: int = 0) -> VerifiedArchive:
    """Verify that a file is as it was signed. Whose key signed it is for the caller to judge.

    `on_event` gets the line of each event, its public part, and whether it is redacted. What it gets is not proven
    before this function returns. `earlier` is the number of an event at which the chain is asked for.

    Raises ForgedArchive for a file that was changed, NotSigned for one without a signature.
    """
    lines = read_lines(file)
    first = next(lines, b"")
    last_seq = read_head(first).last_seq
    if b'"salt":"' not in first and b'"redacted":"' not in first:
        raise NotSigned
    chain = START
    earlier_head: str | None = None
    redacted: list[int] = []
    for seq in range(1, last_seq + 1):
        line = next(lines, b"")
        chained = read_line(line)
        if not chained.public.startswith(b'{"seq":%d,' % seq):
            raise ForgedArchive(f"another line is where event {seq} belongs")
        chain = extend_chain(chain, chained)
        if seq == earlier:
            earlier_head = chain.hex()
        if chained.is_redacted:
            redacted.append(seq)
        if on_event is not None:
            on_event(line, chained.public, chained.is_redacted)
    head, chain = chain, extend_chain(chain, read_line(first))
    redacted_contents = 0
    line = next(lines, b"")
    while line and not line.startswith(SIGNATURE_LINE):
        content = read_line(line)
        chain = extend_chain(chain, content)
        redacted_contents += content.is_redacted
        line = next(lines, b"")
    signed = read_signed_head(line)
    if next(lines, None) is not None:
        raise ForgedArchive("lines follow its signature")
    if signed.last_seq != last_seq or signed.head != head.hex():
        raise ForgedArchive("its events are not those that were signed")
    if signed.archive != chain.hex():
        raise ForgedArchive("its first line or the contents of its files are not those that were signed")
    return VerifiedArchive(
        signed=signed, redacted=redacted, redacted_contents=redacted_contents, earlier_head=earlier_head
    )


def read_signed_head(line: bytes) -> SignedHead:
    """Read the last line of a signed archive, and verify its signature with the key that it names."""
    if not line.startswith(SIGNATURE_LINE):
        raise NotSigned
    statement, _, end = line.rpartition(_SIGNATURE)
    signature = _signature.fullmatch(end)
    try:
        signed = _signed_heads.decode(statement + b"}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        signature = signed = None
    if signature is None or signed is None or not is_public_key(signed.key):
        raise ForgedArchive("its last line is not a signature")
    if not is_signed(signed.key, bytes.fromhex(signature[1].decode()), _PURPOSE + statement):
        raise ForgedArchive("its signature does not fit")
    if signed.heald_signature != SIGNATURE_FORMAT:
        raise BadArchive(f"The signature has the format {signed.heald_signature}; this Heald reads {SIGNATURE_FORMAT}.")
    return signed


# --- redacting -------------------------------------------------------------------------------------------------------


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be removed from an archive: events by number or type, and whatever contains a text."""

    seqs: Collection[int] = ()
    types: Collection[str] = ()
    texts: Collection[str] = ()

    def removes_event(self, line: bytes, event: Event) -> bool:
        return event.seq in self.seqs or event.type in self.types or self._has_text(line)

    def removes_title(self, line: bytes) -> bool:
        return self._has_text(line)

    def removes_content(self, data: bytes) -> bool:
        return any(text.encode("utf-8", "surrogatepass") in data for text in self.texts)

    def removes_stream(self, text: bytes) -> bool:
        """Whether a text that streamed, or JSON that did, is to be removed."""
        return self.removes_content(text) or self._has_text(text)

    def _has_text(self, line: bytes) -> bool:
        return any(form in line for text in self.texts for form in _json_forms(text))


def redact_archive(file: BinaryIO, redaction: Redaction) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a signed archive, and whether each was redacted now. The archive must be verified.

    The content that a redacted event names is redacted too, and so are the events that name a redacted content: its
    hash would confirm a guess. A text that streamed in pieces is found across them, and all of them are redacted.
    """
    start = file.tell()
    digests, pieces = _find_hidden(file, redaction)
    file.seek(start)
    for kind, line in _kinds_of_lines(file):
        match kind:
            case "head":
                yield _redact_if(redaction.removes_title(line), line)
            case "event":
                event = decode_event(line)
                is_part = event.seq in pieces or any(digest.encode() in line for digest in digests)
                yield _redact_if(is_part or redaction.removes_event(line, event), line)
            case "content":
                yield _redact_if(sha256(read_content(line)).hexdigest() in digests, line)
            case "other":
                yield line, False


def _find_hidden(file: BinaryIO, redaction: Redaction) -> tuple[set[str], set[int]]:
    """Return the digests of the contents that a redaction removes, and the numbers of the pieces of its texts."""
    digests: set[str] = set()
    streams: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for kind, line in _kinds_of_lines(file):
        if kind == "event":
            event = decode_event(line)
            if redaction.removes_event(line, event) and (digest := named_content(event)) is not None:
                digests.add(digest)
            if redaction.texts and (piece := _piece(event.data)) is not None:
                stream, text = piece
                streams.setdefault(stream, []).append((event.seq, text))
        elif kind == "content" and redaction.removes_content(data := read_content(line)):
            digests.add(sha256(data).hexdigest())
    pieces: set[int] = set()
    for stream in streams.values():
        whole = "".join(text for _, text in stream).encode("utf-8", "surrogatepass")
        if redaction.removes_stream(whole):
            pieces.update(seq for seq, _ in stream)
    return digests, pieces


def _piece(payload: Payload) -> tuple[tuple[str, str], str] | None:
    """Return the stream to which an event adds a text, and the text."""
    match payload:
        case TextDelta(block=block, text=text) | ThinkingDelta(block=block, text=text):
            return (block, ""), text
        case InputJsonDelta(block=block, partial_json=text):
            return (block, ""), text
        case ToolOutputDelta(id=call, channel=channel, text=text):
            return (call, channel), text
        case FilePreview(id=call, path=path, text=text):
            return (call, f"file {path}"), text
        case _:
            return None


def _kinds_of_lines(file: BinaryIO) -> Iterator[tuple[Literal["head", "event", "content", "other"], bytes]]:
    """Yield the lines of a signed archive. Those that are redacted, and the signature, are `other`."""
    last_seq = 0
    for number, line in enumerate(read_lines(file)):
        if number == 0:
            last_seq = read_head(line).last_seq
        if line.startswith(SIGNATURE_LINE) or read_line(line).is_redacted:
            yield "other", line
        elif number == 0:
            yield "head", line
        else:
            yield "event" if number <= last_seq else "content", line


def _redact_if(condition: bool, line: bytes) -> tuple[bytes, bool]:
    return (redact_line(line), True) if condition else (line, False)


def _json_forms(text: str) -> set[bytes]:
    """Return a text as it is written in JSON, and in JSON that is a text in JSON, such as the arguments of a call."""
    forms: set[bytes] = set()
    for dump in (encode_text, json.dumps):
        inner = dump(text)[1:-1]
        forms |= {inner.encode(), dump(inner)[1:-1].encode()}
    return forms
