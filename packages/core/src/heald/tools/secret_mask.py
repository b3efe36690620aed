"""Replaces secret values in text by marks such as `[hidden: STRIPE_SK of .env]`.

A value is hidden as it is, URL-encoded, JSON-escaped and in base64, also where a line break divides the base64. The
cost is linear in the text: all forms are one RE2 expression, and base64 is decoded and searched.
"""

import re
from binascii import a2b_base64
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast
from urllib.parse import quote

import msgspec

from heald.core.json import JsonObject, encode_text
from heald.core.lazy import LazyModule, lazy_pattern
from heald.core.messages import Message, Text
from heald.tools.secret_values import SecretValue
from heald.tools.tool_output import Parts

re2: Any = LazyModule("re2")

MAX_VALUES = 5_000
"""Values that one mask hides, at most."""
_MEMORY = 64 << 20
"""Bytes that RE2 may use, at most: it keeps what it has computed about an expression."""
_START = 4
_BASE64_LINE = 40
"""Characters of a line of base64 that continues in the next line."""
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_BREAKS = b"\r\n"
_SQUEEZED = bytes(
    ord({"-": "+", "_": "/"}.get(chr(code), chr(code) if chr(code) in _BASE64 else "A")) for code in range(256)
)
"""Maps every byte to one of base64: a text is decoded as a whole, whatever stands around the base64 in it."""
_ESCAPED_BREAKS = (b"\\n", b"\\r", b"\\t")
_UNSAFE = lazy_pattern(r"[^\w.\-/@: ]")
_MARK = lazy_pattern(r"\[hidden: (?:base64 with )?([^\[\]\n]{1,80}) of ([^\[\]\n]{1,200})\]")


def mark(name: str, source: str, form: str = "") -> str:
    """Return what stands for a value."""
    return f"[hidden: {form}{_UNSAFE.sub('_', name)[:60]} of {_UNSAFE.sub('_', source)[-160:]}]"


def find_marks(text: str) -> list[tuple[str, str]]:
    """Return the names and sources of the marks in a text."""
    return [(match[1], match[2]) for match in _MARK.finditer(text)] if "[hidden: " in text else []


class SecretMask:
    """Hides values. It is immutable, and cheap until its first use."""

    def __init__(self, values: Iterable[SecretValue] = ()) -> None:
        self.values: Sequence[SecretValue] = list({(v.before, v.text): v for v in values}.values())[:MAX_VALUES]

    def __bool__(self) -> bool:
        return bool(self.values)

    def hide(self, text: str) -> str:
        """Return a text with a mark instead of each value."""
        if not self.values or len(text) < 3:
            return text
        return self._hide_base64(self._hide_forms(text))

    def is_cut(self, text: str, start: int, end: int) -> bool:
        """Return whether a part of a text holds the beginning, the middle or the end of a value, but not all of it."""
        first, last = max(start - self._starts.longest, 0), end + self._starts.longest
        for value in self.values:
            place = text.find(value.text, first, last)
            while place >= 0:
                stop = place + len(value.text)
                is_whole = start <= place and stop <= end
                if place < end and start < stop and not is_whole and text.endswith(value.before, 0, place):
                    return True
                place = text.find(value.text, place + 1, last)
        return False

    def hide_content(self, content: Parts) -> Parts:
        """Hide values in the content of a result."""
        if isinstance(content, str):
            return self.hide(content)
        return [
            msgspec.structs.replace(part, text=self.hide(part.text)) if isinstance(part, Text) else part
            for part in content
        ]

    def hide_message(self, message: Message) -> Message:
        """Hide values in the text of a message."""
        blocks = [
            msgspec.structs.replace(block, text=self.hide(block.text)) if isinstance(block, Text) else block
            for block in message.content
        ]
        return msgspec.structs.replace(message, content=blocks)

    def hide_json(self, data: JsonObject | None) -> JsonObject | None:
        """Hide values in structured data."""
        return data if data is None or not self.values else cast("JsonObject", self._hide_json(data))

    def held_back(self, text: str) -> int:
        """Return the length of the end of a text that may be the beginning of a value, for a text in pieces."""
        if not self.values:
            return 0
        return max(self._starts.longest_at_end(text), self._held_base64(text))

    def _hide_json(self, value: Any) -> Any:
        match value:
            case str():
                return self.hide(value)
            case dict():
                items = cast("dict[str, Any]", value).items()
                return {self.hide(name): self._hide_json(item) for name, item in items}
            case list() | tuple():
                return [self._hide_json(item) for item in cast("list[Any]", value)]
            case _:
                return value

    # --- plain, URL-encoded and JSON-escaped values -----------------------------------------------------------------

    @cached_property
    def _forms(self) -> Mapping[bytes, tuple[str, str]]:
        """The text before a value and its mark, by the text that is searched for. The first value of a text counts."""
        forms: dict[bytes, tuple[str, str]] = {}
        for value in self.values:
            replacement = mark(value.name, value.source)
            for form in _forms_of(value.text):
                forms.setdefault(f"{value.before}{form}".encode(), (value.before, replacement))
        return forms

    @cached_property
    def _expression(self) -> re.Pattern[bytes]:
        return _compile(self._forms)

    @cached_property
    def _starts(self) -> "_Starts":
        return _Starts([form.decode() for form in self._forms])

    def _hide_forms(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        if self._expression.search(data) is None:
            return text
        pieces: list[bytes] = []
        end = 0
        for occurrence in self._expression.finditer(data):
            before, replacement = self._forms[occurrence.group()]
            if before and not _is_apart(data, occurrence.start(), occurrence.end()):
                continue
            pieces += [data[end : occurrence.start()], before.encode(), replacement.encode()]
            end = occurrence.end()
        return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass")

    # --- base64 ------------------------------------------------------------------------------------------------------

    @cached_property
    def _encoded(self) -> Mapping[bytes, SecretValue]:
        return {value.text.encode(): value for value in reversed(self.values) if not value.before}

    @cached_property
    def _encoded_expression(self) -> re.Pattern[bytes]:
        return _compile(self._encoded)

    @cached_property
    def _encoded_starts(self) -> "_Starts":
        return _Starts([text.decode("latin-1") for text in self._encoded])

    def _hide_base64(self, text: str) -> str:
        if not self._encoded:
            return text
        data = text.encode("utf-8", "surrogatepass")
        encoded = data.translate(_SQUEEZED, _BREAKS)
        spans = [span for offset in range(4) for span in self._find_encoded(encoded, offset)]
        if not spans:
            return text
        raw = _RawPositions(data)
        pieces: list[bytes] = []
        end = 0
        for first, last, value in sorted(spans, key=lambda span: span[0]):
            start, stop = raw.widen(raw.of(first), raw.of(last - 1) + 1)
            if start < end:  # another value of the same block
                end = max(end, stop)
                continue
            pieces += [data[end:start], mark(value.name, value.source, "base64 with ").encode()]
            end = stop
        return b"".join([*pieces, data[end:]]).decode("utf-8", "surrogatepass")

    def _find_encoded(self, encoded: bytes, offset: int) -> Iterator[tuple[int, int, SecretValue]]:
        """Yield the first and the last character of each value whose base64 begins at this offset, modulo four."""
        decoded = _decode(encoded, offset)
        if self._encoded_expression.search(decoded) is None:
            return
        for occurrence in self._encoded_expression.finditer(decoded):
            first, last = occurrence.start() // 3 * 4, -(-occurrence.end() // 3) * 4
            yield offset + first, offset + last, self._encoded[occurrence.group()]

    def _held_base64(self, text: str) -> int:
        """Return the length of the end of a text that may be the beginning of a value in base64."""
        if not self._encoded:
            return 0
        longest = self._encoded_starts.longest
        end = _base64_end(text, longest * 4 // 3 + 8)
        encoded = end.encode().translate(_SQUEEZED, _BREAKS + b"=")
        if not encoded:
            return 0
        held = min(len(encoded), 3)  # a byte that is not complete yet
        for offset in range(min(4, len(encoded))):
            decoded = _decode(encoded, offset).decode("latin-1")
            if partial := self._encoded_starts.longest_at_end(decoded):
                held = max(held, len(encoded) - offset - (len(decoded) - partial) // 3 * 4)
        return _length_with_breaks(end, held)


class _Starts:
    """The texts that a piece of text may end in the middle of."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.longest = max(map(len, texts), default=0)
        self._short = {text[:length] for text in texts for length in range(1, _START)}
        self._by_start: dict[str, list[str]] = {}
        for text in texts:
            self._by_start.setdefault(text[:_START], []).append(text)

    def longest_at_end(self, text: str) -> int:
        """Return the length of the longest end of a text that is the beginning of one of the texts, not all of it."""
        for start in range(max(0, len(text) - self.longest + 1), len(text)):
            if len(text) - start < _START:
                if text[start:] in self._short:
                    return len(text) - start
                continue
            candidates = self._by_start.get(text[start : start + _START])
            if candidates is not None:
                end = text[start:]
                if any(len(candidate) > len(end) and candidate.startswith(end) for candidate in candidates):
                    return len(end)
        return 0


def _forms_of(value: str) -> Iterable[str]:
    """Return a value as it is, URL-encoded and JSON-escaped."""
    escaped = encode_text(value)[1:-1]
    forms = [value, escaped, value.replace("/", "\\/"), _escape_unicode(escaped)]
    for safe in ("", "/", "/:@!$&'()*,;=~"):
        encoded = quote(value, safe=safe)
        forms += [encoded, re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), encoded), encoded.replace("%20", "+")]
    return dict.fromkeys(form for form in forms if form)


def _escape_unicode(text: str) -> str:
    """Return a text as JSON in ASCII writes it."""
    if text.isascii():
        return text
    units = text.encode("utf-16-be").hex()
    codes = (units[start : start + 4] for start in range(0, len(units), 4))
    return "".join(chr(int(code, 16)) if int(code, 16) < 128 else f"\\u{code}" for code in codes)


def _compile(texts: Iterable[bytes]) -> re.Pattern[bytes]:
    """Return one expression for all texts, the longest first."""
    options = re2.Options()
    options.max_mem = _MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    ordered = sorted(texts, key=len, reverse=True)
    return cast("re.Pattern[bytes]", re2.compile(b"|".join(map(re2.escape, ordered)), options))


def _is_apart(data: bytes, start: int, end: int) -> bool:
    """Return whether no word continues before or behind a place. A letter of an escaped line break is not a word."""
    before = b"" if data[max(start - 2, 0) : start] in _ESCAPED_BREAKS else data[max(start - 1, 0) : start]
    return not any(char.isalnum() or char == b"_" for char in (before, data[end : end + 1]))


class _RawPositions:
    """Finds the place of a character in a text from its number in the text without line breaks."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        breaks = [place.start() for place in re.finditer(rb"[\r\n]", data)]
        self._numbers = [place - count for count, place in enumerate(breaks)]

    def of(self, number: int) -> int:
        return number + bisect_right(self._numbers, number)

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """Return the block of base64 around a place, within its lines."""
        line_start = max(self._data.rfind(b"\n", 0, start), self._data.rfind(b"\r", 0, start)) + 1
        before = self._data[line_start:start]
        start -= len(before) - len(before.rstrip(_BASE64.encode()))
        behind = re.compile(rb"[\w+/-]*={0,2}", re.ASCII).match(self._data, end)
        return start, behind.end() if behind is not None else end


def _decode(encoded: bytes, offset: int) -> bytes:
    return a2b_base64(encoded[offset : offset + (len(encoded) - offset) // 4 * 4])


def _base64_end(text: str, most: int) -> str:
    """Return the end of a text that may be base64, with the line breaks in it."""
    lines = text[-2 * most :].split("\n")
    last = lines[-1]
    end = last[len(last.rstrip("=").rstrip(_BASE64)) :]
    if len(end) < len(last):
        return end[-most:]
    for line in reversed(lines[:-1]):
        body = line.rstrip("\r")
        if len(end) >= most or len(body) < _BASE64_LINE or body.strip(_BASE64):
            break
        end = f"{line}\n{end}"
    return end


def _length_with_breaks(text: str, characters: int) -> int:
    """Return the length of the end of a text with so many characters that are not line breaks or padding."""
    length = 0
    for char in reversed(text):
        if characters <= 0:
            break
        length += 1
        characters -= char not in "\r\n="
    return length
