"""Events: payloads with their position in a session's log. `core.json.encode` encodes them."""

from functools import cache
from typing import TYPE_CHECKING, get_args

import msgspec

from heald.core.client_events import ClientPayload
from heald.core.context_events import ContextPayload  # with both, every payload class is defined
from heald.core.events import Unknown
from heald.core.json import JsonObject, as_object, loads
from heald.core.old_event_fields import rename_old_fields
from heald.core.payload import Layer, Payload
from heald.core.server_tool_events import ServerToolPayload
from heald.core.typed_decoder import build_decoder


class EventHead(msgspec.Struct, frozen=True, gc=False):
    """The position of a payload in a session's log."""

    seq: int
    id: str
    session: str
    exchange: str | None
    type: str
    layer: Layer
    time: float
    epoch: int


if TYPE_CHECKING:  # a union, so that the type of an event tells the type of its data
    from typing_extensions import TypeIs

    from heald.core.typed_event import Event
    from heald.core.typed_event import EventOf as EventOf

    def new_event(
        seq: int,
        id: str,  # noqa: A002
        session: str,
        exchange: str | None,
        type: str,  # noqa: A002
        layer: Layer,
        time: float,
        epoch: int,
        data: Payload,
    ) -> Event: ...

    def is_event(item: object) -> TypeIs[Event]: ...

else:  # one class

    class Event(EventHead, frozen=True):
        """A payload with its position in a session's log."""

        data: Payload

        def __repr__(self) -> str:
            where = f"{self.session}/{self.exchange}" if self.exchange else self.session
            return f"<Event {self.seq} {self.type} of {where}: {self.data!r}>"

    class EventOf:
        """An event with data of one type: `EventOf[TextDelta]`, for annotations."""

        def __class_getitem__(cls, _: object) -> type[Event]:
            return Event

    new_event = Event
    is_event = Event.__instancecheck__


class _Envelope(EventHead, frozen=True):
    data: msgspec.Raw


def payload_types(base: type[Payload]) -> dict[str, type[Payload]]:
    """Return the payload classes below a class, by event type."""
    types: dict[str, type[Payload]] = {}
    for kind in base.__subclasses__():
        if "type" in vars(kind):
            types[kind.type] = kind
        types |= payload_types(kind)
    return types


_LAYERS = get_args(Layer)
_MODULES = tuple(
    f"heald.core.{name}" for name in ("messages", "events", "server_tool_events", "client_events", "context_events")
)
"""The modules with payload classes, in the order of the reference."""


def _position(entry: tuple[str, type[Payload]]) -> tuple[int, int, str]:
    """The place of a payload class: it does not depend on which module was imported first."""
    kind, module = entry[1], entry[1].__module__
    return _LAYERS.index(kind.layer), _MODULES.index(module) if module in _MODULES else len(_MODULES), module


PAYLOADS: dict[str, type[Payload]] = dict(
    sorted(
        (
            (name, kind)
            for base in (Payload, ContextPayload, ClientPayload, ServerToolPayload)
            for name, kind in payload_types(base).items()
            if kind is not Unknown
        ),
        key=_position,
    )
)
"""Every payload class by its event type, in the order of layers, modules and definitions."""


_envelopes = msgspec.json.Decoder(_Envelope)


@cache
def _payload_decoder(kind: type[Payload]) -> "msgspec.json.Decoder[Payload]":
    return build_decoder(kind)


def decode_event(line: bytes | str) -> Event:
    """Decode an event, also one of an earlier version.

    Unknown fields are ignored, unknown types become `Unknown`; ValueError if it is not an event.
    """
    try:
        envelope = _envelopes.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_slowly(line)
    kind = PAYLOADS.get(envelope.type)
    if kind is None:
        return _event(envelope, Unknown(msgspec.json.decode(envelope.data)))
    try:
        data = _payload_decoder(kind).decode(envelope.data)
    except msgspec.ValidationError:
        data = _decode_old(kind, msgspec.json.decode(envelope.data))
    return _event(envelope, data)


def _decode_old(kind: type[Payload], data: object) -> Payload:
    """Decode a payload that the present names do not fit; ValueError if those of earlier versions do not either."""
    renamed = rename_old_fields(kind.type, data)
    return msgspec.convert(data if renamed is None else renamed, kind)


def _decode_slowly(line: bytes | str) -> Event:
    """Decode an event with a lone surrogate, which `encode` escapes and msgspec does not read."""
    raw = as_object(loads(line))
    kind = PAYLOADS.get(str(raw.get("type")))
    data = _decode_old(kind, raw.get("data")) if kind is not None else Unknown(raw.get("data"))
    return _event(msgspec.convert(raw | {"data": None}, EventHead), data)


def _event(envelope: EventHead, data: Payload) -> Event:
    return new_event(
        seq=envelope.seq,
        id=envelope.id,
        session=envelope.session,
        exchange=envelope.exchange,
        type=envelope.type,
        layer=envelope.layer,
        time=envelope.time,
        epoch=envelope.epoch,
        data=data,
    )


def event_schema() -> JsonObject:
    """The JSON Schema of every event, generated from these types."""
    schemas, definitions = msgspec.json.schema_components(list(PAYLOADS.values()), ref_template="#/$defs/{name}")
    envelope = msgspec.json.schema(_Envelope)["$defs"]["_Envelope"]["properties"]
    variants = [
        {
            "type": "object",
            "properties": envelope | {"type": {"const": name}, "layer": {"const": kind.layer}, "data": schema},
            "required": list(envelope),
        }
        for (name, kind), schema in zip(PAYLOADS.items(), schemas, strict=True)
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": variants,
        "$defs": definitions,
    }
