"""Events of earlier versions are read under the present names of their fields."""

import json

import msgspec
import pytest

from heald.core import envelope
from heald.core.envelope import PAYLOADS, decode_event
from heald.core.json import encode
from heald.core.old_event_fields import OLD_EVENT_FIELDS
from old_log import OLD_EVENTS


@pytest.mark.parametrize("line", OLD_EVENTS, ids=lambda line: json.loads(line)["type"])
def test_an_old_event_has_the_present_names(line: bytes) -> None:
    old = json.loads(line)
    names = OLD_EVENT_FIELDS[old["type"]]
    event = decode_event(line)
    assert json.loads(encode(event)) == old | {"data": {names.get(key, key): old["data"][key] for key in old["data"]}}
    assert not {*names} & {*event.data.__struct_fields__}
    assert decode_event(encode(event)) == event


def test_the_logs_have_every_old_field() -> None:
    assert {json.loads(line)["type"] for line in OLD_EVENTS} == {*OLD_EVENT_FIELDS}


@pytest.mark.parametrize("kind", OLD_EVENT_FIELDS)
def test_old_fields_are_replaced_by_required_ones(kind: str) -> None:
    """Only then does an event with the old name fail to decode, and is read a second time."""
    fields = {field.name: field for field in msgspec.structs.fields(PAYLOADS[kind])}
    assert all(fields[name].required for name in OLD_EVENT_FIELDS[kind].values())


def test_an_old_event_with_half_a_surrogate_pair() -> None:
    line = next(line for line in OLD_EVENTS if b'"question_asked"' in line).replace(b"Really?", rb"Really\ud83d?")
    event = decode_event(line)
    assert (getattr(event.data, "call_id", None), getattr(event.data, "text", None)) == ("call_2", "Really\ud83d?")


def test_present_events_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [encode(decode_event(line)) for line in OLD_EVENTS]

    def fail(kind: str, data: object) -> None:
        raise AssertionError(kind)

    monkeypatch.setattr(envelope, "rename_old_fields", fail)
    assert len([decode_event(line) for line in lines]) == len(OLD_EVENTS)


@pytest.mark.parametrize(
    "data", [b"{}", b'{"message":{"role":"user","content":[]}}', b'{"message":null}', b"[]", b"null"]
)
def test_what_has_neither_name_is_refused(data: bytes) -> None:
    head, _, _ = next(line for line in OLD_EVENTS if b'"message_stop"' in line).partition(b'"data":')
    with pytest.raises(ValueError, match=r"Expected|missing"):
        decode_event(head + b'"data":' + data + b"}")
