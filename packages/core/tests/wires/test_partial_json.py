"""Whatever is said about JSON that is still arriving stays true when the rest has come."""

import copy
import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, cast

from hypothesis import example, given, settings
from hypothesis import strategies as st

from example_counts import scaled
from heald.wires.partial_json import PartialJson, Path

texts = st.text(st.sampled_from('ab"\\/\b\n\t\r\x1f{}[],: ä€\u2028\U0001f600\ud83d\ude00\x7f'), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
Write = Callable[[Any], str]


def _writer(ascii_only: bool, separators: tuple[str, str], indent: int | None) -> Write:
    return partial(json.dumps, ensure_ascii=ascii_only, separators=separators, indent=indent)


writers = st.builds(
    _writer,
    st.booleans(),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: "), (" , ", " :\r\n")]),
    st.sampled_from([None, 0, 3]),
)


def is_prefix(part: Any, whole: Any) -> bool:
    """Whether a partial value can still become the whole one without taking anything back."""
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(part)
    if isinstance(part, list):
        items, all_items = cast("list[Any]", part), cast("list[Any]", whole)
        return isinstance(whole, list) and all(map(is_prefix, items, all_items)) and len(items) <= len(all_items)
    if isinstance(part, dict):
        partial, final = cast("dict[str, Any]", part), cast("dict[str, Any]", whole)
        return isinstance(whole, dict) and all(key in final and is_prefix(partial[key], final[key]) for key in partial)
    return type(part) is type(whole) and part == whole


def strings_of(value: Any, path: Path = ()) -> dict[Path, str]:
    """Every string of a value that is not empty, by its path."""
    if isinstance(value, str):
        return {path: value} if value else {}
    strings: dict[Path, str] = {}
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            strings |= strings_of(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            strings |= strings_of(item, (*path, index))
    return strings


def add(growths: dict[Path, str], parser: PartialJson) -> None:
    for path, text in parser.grow():
        assert text
        growths[path] = growths.get(path, "") + text


@settings(max_examples=scaled(150))
@given(values, writers)
@example('\ud83d\U0001f600\\"\\u00e9', json.dumps)
@example({"a\\": {"b\n": ["\U0001f600", -1.5e-7, True, None]}}, json.dumps)
def test_character_by_character_nothing_is_ever_withdrawn(value: Any, write: Write) -> None:
    text = write(value)
    final = json.loads(text)
    parser = PartialJson()
    growths: dict[Path, str] = {}
    before: Any = None
    for at, char in enumerate(text):
        parser.feed(char)
        add(growths, parser)
        now = copy.deepcopy(parser.value)
        if now is not None:
            assert is_prefix(now, final), text[: at + 1]
            assert is_prefix(before, now) or before is None, text[: at + 1]
        before = now
        assert parser.error is None
    assert parser.close() == final
    add(growths, parser)
    assert parser.complete
    assert growths == strings_of(final)


@settings(max_examples=scaled(200))
@given(values, writers, st.data())
def test_random_pieces_with_or_without_looking(value: Any, write: Write, data: st.DataObject) -> None:
    text = write(value)
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8))), len(text)]
    parser = PartialJson()
    growths: dict[Path, str] = {}
    for a, b in pairwise(cuts):
        parser.feed(text[a:b])
        look = data.draw(st.sampled_from(["grow", "value", "error", "nothing"]))
        if look == "grow":
            add(growths, parser)
        elif look == "value" and (now := parser.value) is not None:
            assert is_prefix(now, json.loads(text))
        elif look == "error":
            assert parser.error is None
    assert parser.close() == json.loads(text)
    add(growths, parser)
    assert growths == strings_of(json.loads(text))
    assert parser.complete


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_not_reported_before_it_is_whole(number: float) -> None:
    text = json.dumps(number)
    parser = PartialJson()
    parser.feed('{"n":')
    for char in text:
        parser.feed(char)
        assert parser.value == {}
    parser.feed("}")
    assert parser.value == {"n": number}
    assert type(parser.value["n"]) is type(number)


def test_a_string_grows_at_its_path() -> None:
    parser = PartialJson()
    parser.feed('{"path": "a.py", "edits": [{"text": "he')
    assert parser.grow() == [(("path",), "a.py"), (("edits", 0, "text"), "he")]
    assert parser.value == {"path": "a.py", "edits": [{"text": "he"}]}
    parser.feed('llo"}, {"te')
    assert parser.grow() == [(("edits", 0, "text"), "llo")]
    assert parser.value == {"path": "a.py", "edits": [{"text": "hello"}, {}]}
    parser.feed('xt": "b"}]}')
    assert parser.grow() == [(("edits", 1, "text"), "b")]
    assert parser.complete


def test_an_empty_string_is_known_though_it_did_not_grow() -> None:
    parser = PartialJson()
    parser.feed('{"a": "')
    assert parser.grow() == []
    assert parser.value == {"a": ""}
    assert not parser.complete


def test_looking_twice_is_silent_twice() -> None:
    parser = PartialJson()
    parser.feed('["x')
    assert parser.value == ["x"]
    assert parser.grow() == [((0,), "x")]
    assert parser.grow() == []


def test_growth_survives_looks_at_value_error_and_complete() -> None:
    parser = PartialJson()
    for piece in ('["a', "b", 'c"', ', "d'):
        parser.feed(piece)
        assert (parser.value is not None, parser.error, parser.complete) == (True, None, False)
    assert "".join(text for path, text in parser.grow() if path == (0,)) == "abc"


def test_nothing_is_known_before_anything_is() -> None:
    parser = PartialJson()
    assert (parser.value, parser.error, parser.complete, list(parser.grow())) == (None, None, False, [])
    parser.feed("  ")
    assert parser.close() is None
    assert not parser.complete


def test_a_number_alone_is_resolved_by_the_end() -> None:
    parser = PartialJson()
    parser.feed("12")
    assert parser.value is None
    assert parser.close() == 12
    assert parser.complete
