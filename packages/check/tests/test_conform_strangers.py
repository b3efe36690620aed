"""Whatever a server sends, the checks say something about it and never fail themselves."""

from collections.abc import Iterator
from copy import deepcopy
from json import loads
from typing import Any, cast

import pytest

from heald.core.json import as_object, encode
from heald.core.messages import ToolCall
from heald.testing.streams import wire_stream
from heald.wires.registry import WIRES
from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.api_rules import APIS
from heald_check.conform.checks import PROBED_WIRES
from heald_check.conform.excerpt import excerpt
from heald_check.conform.framing import RawFrame, split_events, split_lines
from heald_check.conform.guarded_decoder import GuardedDecoder
from heald_check.conform.stream_rules import RULES, judge_rule

ODD: list[Any] = [None, 1, -1, True, "", "\ud83d\x1b[2J", [], [1], {}, {"a": []}]
CALLS = [
    ToolCall(id="call_1", name="get_weather", input={"city": "Oslo"}),
    ToolCall(id="c2", name="get_time", input={}),
]


def changed(value: Any) -> Iterator[Any]:
    """The value with each part of it, one at a time, replaced by each odd thing."""
    for place in _places(value):
        for odd in ODD:
            copy = deepcopy(value)
            holder = copy
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = odd
            yield copy


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys: list[Any] = list(as_object(value)) or list(
        range(len(cast("list[Any]", value) if isinstance(value, list) else ()))
    )
    for key in keys:
        yield (*before, key)
        yield from _places(value[key], (*before, key))


@pytest.mark.parametrize("wire", PROBED_WIRES)
def test_odd_values_anywhere(wire: str) -> None:
    events = wire_stream(wire, text="Hello.", thinking="Hm.", calls=CALLS)
    judged = 0
    for place, step in enumerate(events):
        head, mark, data = step.rpartition(b"data: ")
        if data.startswith(b"[DONE]"):
            continue
        for odd in changed(loads(data)):
            body = b"".join([*events[:place], head + mark + encode(odd) + b"\n\n", *events[place + 1 :]])
            judge(wire, body)
            judged += 1
    assert judged > 400


@pytest.mark.parametrize("wire", PROBED_WIRES)
@pytest.mark.parametrize(
    "body", [b"", b"\n", b"\xff\xfe", b"null", b"[]", b"data:", b"data: []\n\n", b"\0" * 99, b"[{"]
)
def test_odd_bodies(wire: str, body: bytes) -> None:
    judge(wire, body)


def judge(wire: str, body: bytes) -> None:
    decoding = GuardedDecoder(WIRES[wire].decoder())
    decoding.feed(body)
    answer = ProbeAnswer("parallel", APIS[wire], 200, APIS[wire].content_type, body, decoding.end())
    if answer.trouble is not None:
        return
    for rule in RULES:
        assert judge_rule(rule, [answer]).seen


def test_events_by_the_letter() -> None:
    read = split_events(b"\xef\xbb\xbf: hi\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\nretry: 5\n\ndata: 3\r\r")
    assert read.frames == (RawFrame("1\n2", "a"), RawFrame("3"))
    assert read.faults == ()


def test_lines_by_the_letter() -> None:
    assert split_lines(b'{"a":1}\r\n\n{"b":2}').frames == (RawFrame('{"a":1}'), RawFrame('{"b":2}'))
    assert [fault.rule for fault in split_lines(b"data: {}\n\n").faults] == ["framing"]


def test_what_is_shown_is_short_and_harmless() -> None:
    assert excerpt("a\n\tb \x1b[31m\ud83d") == "a b �[31m�"
    assert excerpt(b"\xff" + b"x" * 1000, 5) == "�xxx…"
    assert excerpt("key sk-abcdefghijklmnopqrst") == "key sk-a…"
