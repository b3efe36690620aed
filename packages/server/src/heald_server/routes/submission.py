"""The message of a client: its texts, pictures and files."""

import base64
import re
from typing import Annotated, Any, Literal

import msgspec

from heald.agent.budget import Budget
from heald.core.json import JsonObject
from heald.core.messages import File, Image, Message, Text, user_message
from heald.sessions.store import Store
from heald.tools.result_text import plain_text
from heald_server.http.errors import ApiError
from heald_server.routes.client_media import decode_media, sniff_image

MAX_PARTS = 64
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_MediaType = Annotated[str, msgspec.Meta(pattern=r"^[a-z]+/[a-z0-9.+-]{1,80}$")]
_WEB_URL = re.compile(r"https?://[^\s]{1,2000}\Z")


class TextPart(msgspec.Struct, frozen=True, tag="text", forbid_unknown_fields=True):
    text: str


class _SourcePart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base64 data, a blob that was uploaded before, or an address that the model's provider fetches."""

    media_type: _MediaType
    data: str | None = None
    blob: str | None = None
    url: str | None = None


class ImagePart(_SourcePart, frozen=True, kw_only=True, tag="image"):
    media_type: _MediaType = "image/png"


class FilePart(_SourcePart, frozen=True, kw_only=True, tag="file"):
    name: Annotated[str, msgspec.Meta(max_length=200)] | None = None


Part = TextPart | ImagePart | FilePart
WhenBusy = Literal["queue", "steer", "interrupt", "refuse"]


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message of a client: a text, or parts."""

    text: str | None = None
    content: Annotated[list[Part], msgspec.Meta(max_length=MAX_PARTS)] | None = None
    client_request_id: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """A request with the id of an earlier one returns the same exchange, so it can be repeated safely."""
    when_busy: WhenBusy = "queue"
    output_schema: JsonObject | None = None
    """A JSON Schema that the answer must match."""
    budget: Budget | None = None
    """Limits this exchange further than the budget of the session."""
    client_tools: list[Any] | None = None
    """Replaces the tools of the session that clients run, before the message."""


async def read_message(store: Store, session: str, submission: Submission) -> Message:
    """Build the message of a submission, with its blobs read and its pictures checked."""
    parts: list[Part] = [TextPart(submission.text)] if submission.text else []
    parts += submission.content or []
    if not any(not isinstance(part, TextPart) or part.text.strip() for part in parts):
        raise ApiError("invalid", "The message is empty; give it a text or content.")
    return user_message(*[await _read_part(store, session, part) for part in parts])


async def _read_part(store: Store, session: str, part: Part) -> Text | Image | File:
    if isinstance(part, TextPart):
        return Text(plain_text(part.text))
    if sum(source is not None for source in (part.data, part.blob, part.url)) != 1:
        raise ApiError("invalid", "A picture or file has exactly one of data, blob and url.")
    if part.url is not None:
        if not _WEB_URL.match(part.url):
            raise ApiError("invalid", "A url in a message begins with https:// or http://.")
        return Image(url=part.url) if isinstance(part, ImagePart) else File(media_type=part.media_type, url=part.url)
    raw = await _read_bytes(store, session, part)
    data = base64.b64encode(raw).decode()
    if isinstance(part, ImagePart):
        return Image(media_type=sniff_image(raw), data=data)
    return File(media_type=part.media_type, data=data, name=part.name)


async def _read_bytes(store: Store, session: str, part: ImagePart | FilePart) -> bytes:
    if part.blob is not None:
        if not _DIGEST.match(part.blob):
            raise ApiError("invalid", "A blob is named by the SHA-256 that its upload gave.")
        return await store.blob(session, part.blob)
    return decode_media(part.data or "")
