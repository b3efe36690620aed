"""What a client sends as a message: texts, pictures and files, checked before any of it is kept."""

import base64
import binascii
import re
from typing import Annotated, Literal

import msgspec

from weft.core.content import File, Image, Text
from weft.core.messages import Message, user
from weft.server.refusal import Refusal
from weft.sessions.store import Store
from weft.tools.outcome import plain_text

MOST_PARTS = 64
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_SIGNS: dict[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_KIND = Annotated[str, msgspec.Meta(pattern=r"^[a-z]+/[a-z0-9.+-]{1,80}$")]
_WEB = re.compile(r"https?://[^\s]{1,2000}\Z")


class TextPart(msgspec.Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    text: str


class ImagePart(msgspec.Struct, frozen=True, kw_only=True, tag="image", forbid_unknown_fields=True):
    """A picture: base64 data, a blob that was sent before, or an address that the model's provider fetches."""

    media_type: _KIND = "image/png"
    data: str | None = None
    blob: str | None = None
    url: str | None = None


class FilePart(msgspec.Struct, frozen=True, kw_only=True, tag="file", forbid_unknown_fields=True):
    media_type: _KIND
    data: str | None = None
    blob: str | None = None
    url: str | None = None
    name: Annotated[str, msgspec.Meta(max_length=200)] | None = None


Part = TextPart | ImagePart | FilePart
WhenBusy = Literal["queue", "steer", "interrupt", "refuse"]


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to the model: a text, or parts."""

    text: str | None = None
    content: Annotated[list[Part], msgspec.Meta(max_length=MOST_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """The same id again gives the same exchange, so a request can safely be sent twice."""
    when_busy: WhenBusy = "queue"


async def message_of(store: Store, session: str, submission: Submission) -> Message:
    """The message that a client means."""
    parts: list[Part] = [TextPart(submission.text)] if submission.text else []
    parts += submission.content or []
    if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
        raise Refusal("invalid", "There is nothing in the message; give it a text or content.")
    return user(*[await _block(store, session, part) for part in parts])


async def _block(store: Store, session: str, part: Part) -> Text | Image | File:
    if isinstance(part, TextPart):
        return Text(plain_text(part.text))
    if sum(given is not None for given in (part.data, part.blob, part.url)) != 1:
        raise Refusal("invalid", "A picture or file has exactly one of data, blob and url.")
    if part.url is not None:
        if not _WEB.match(part.url):
            raise Refusal("invalid", "A url in a message begins with https:// or http://.")
        return Image(url=part.url) if isinstance(part, ImagePart) else File(media_type=part.media_type, url=part.url)
    raw = await _bytes(store, session, part)
    data = base64.b64encode(raw).decode()
    if isinstance(part, ImagePart):
        return Image(media_type=picture_type(raw), data=data)
    return File(media_type=part.media_type, data=data, name=part.name)


async def _bytes(store: Store, session: str, part: ImagePart | FilePart) -> bytes:
    if part.blob is not None:
        if not _DIGEST.match(part.blob):
            raise Refusal("invalid", "A blob is named by the SHA-256 that its upload gave.")
        return await store.blob(session, part.blob)
    try:
        return base64.b64decode(part.data or "", validate=True)
    except (binascii.Error, ValueError):
        raise Refusal("invalid", "The data of a picture or file is not base64.") from None


def picture_type(raw: bytes) -> str:
    """The kind of a picture by its first bytes; what a client calls it does not count."""
    for sign, kind in _SIGNS.items():
        if raw.startswith(sign):
            return kind
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    raise Refusal("invalid", "The picture is none that models take; send PNG, JPEG, WebP or GIF.")
