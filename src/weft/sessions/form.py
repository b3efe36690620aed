"""An event as it is stored: its JSON, with what is large kept apart as blobs and named by place.

A picture that stands in two events is stored once. Nothing of the event itself says where something was taken out, so
no content can be mistaken for a reference.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, cast

import msgspec

from weft.core.envelope import Event, decode_event
from weft.core.json import encode, loads

MAX_EVENT_BYTES = 256 * 1024
"""An event whose JSON is larger is looked through for large texts."""
MAX_TEXT = 16 * 1024
"""Characters of a text that stay in such an event."""

Place = list[str | int]


class Ref(msgspec.Struct, frozen=True, array_like=True):
    """A place in an event's data, and the blob that belongs there: a text, or JSON."""

    place: Place
    digest: str
    is_json: bool = False


class Stored(msgspec.Struct, frozen=True):
    body: bytes
    refs: bytes | None
    blobs: dict[str, bytes]


_refs = msgspec.json.Decoder(list[Ref])


def stored_form(event: Event) -> Stored:
    """The event's JSON, and what was taken out of it."""
    body = encode(event)
    if len(body) <= MAX_TEXT or (len(body) <= MAX_EVENT_BYTES and b'"data":"' not in body):  # no picture is in it
        return Stored(body, None, {})
    plain = loads(body)
    refs: list[Ref] = []
    blobs: dict[str, bytes] = {}
    plain["data"] = _without_large(plain["data"], refs, blobs)
    if not refs and len(body) <= MAX_EVENT_BYTES:
        return Stored(body, None, {})
    slim = encode(plain)
    if len(slim) > MAX_EVENT_BYTES:  # very many small things: all of it goes
        blobs = {}
        refs = [Ref([], _keep(encode(loads(body)["data"]), blobs), is_json=True)]
        slim = encode(plain | {"data": None})
    return Stored(slim, encode(refs), blobs)


def whole_event(body: bytes, refs: bytes | None, blob: Callable[[str], bytes]) -> Event:
    """The event as it was, from what was stored."""
    if refs is None:
        return decode_event(body)
    plain = loads(body)
    for ref in _refs.decode(refs):
        data = blob(ref.digest)
        value = loads(data) if ref.is_json else data.decode("utf-8", "surrogatepass")
        _put(plain, ["data", *ref.place], value)
    return decode_event(encode(plain))


def _put(plain: Any, place: Place, value: Any) -> None:
    for step in place[:-1]:
        plain = plain[step]
    plain[place[-1]] = value


def _keep(data: bytes, blobs: dict[str, bytes]) -> str:
    digest = sha256(data).hexdigest()
    blobs[digest] = data
    return digest


def _without_large(data: Any, refs: list[Ref], blobs: dict[str, bytes]) -> Any:
    """The data with nothing where a large text was."""
    pending: list[tuple[Any, Place]] = [(data, [])]
    while pending:
        item, place = pending.pop()
        for key, value in _members(item):
            if isinstance(value, str) and len(value) > MAX_TEXT:
                refs.append(Ref([*place, key], _keep(value.encode("utf-8", "surrogatepass"), blobs)))
                item[key] = ""
            else:
                pending.append((value, [*place, key]))
    return data


def _members(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return list(cast("dict[str | int, Any]", value).items())
    return list(enumerate(cast("list[Any]", value))) if isinstance(value, list) else []
