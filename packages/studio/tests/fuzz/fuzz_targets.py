"""Parsers of foreign bytes, each as a function of bytes that raises only what it documents, and a few seeds for it.

A target that takes its input in pieces must give the same for every split; it returns what it read, for the comparison.
"""

import io
import random
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from heald.core.errors import HealdError
from heald.core.media import describe_picture_fault, picture_header
from heald.http1.body_framing import Chunked
from heald.http1.errors import ConnectionBroken, NotHttp
from heald.http1.response_head import end_of_head, parse_head
from heald.testing.streams import amazon_event, wire_stream
from heald.tools.files.patch import read_patch
from heald.tools.tool_fault import ToolFault
from heald.tools.web.html_text import html_to_text
from heald.wires.amazon_framing import AmazonEventParser
from heald.wires.framing import ServerSentEvent
from heald.wires.json_array import JsonArrayParser
from heald.wires.json_lines import JsonLinesParser
from heald.wires.partial_json import PartialJson
from heald.wires.sse import SSEParser
from heald_studio.input.projects import unpack_zip

Outcome = object


class _Frames(Protocol):
    def feed(self, chunk: bytes, /) -> list[ServerSentEvent]: ...

    def close(self) -> list[ServerSentEvent]: ...


@dataclass(frozen=True)
class Target:
    run: Callable[[Sequence[bytes]], Outcome]
    """Reads the pieces of an input."""
    seeds: Sequence[bytes]
    in_pieces: bool = True


def _read_frames(make: Callable[[], _Frames]) -> Callable[[Sequence[bytes]], Outcome]:
    def run(pieces: Sequence[bytes]) -> Outcome:
        parser = make()
        frames: list[object] = []
        try:
            for piece in pieces:
                frames += parser.feed(piece)
            frames += parser.close()
        except HealdError as error:
            frames.append(type(error).__name__)
        return frames

    return run


def _partial_json(pieces: Sequence[bytes]) -> Outcome:
    parser = PartialJson()
    for piece in pieces:
        parser.feed(piece.decode("latin-1"))
        parser.grow()
    parser.close()
    return parser.error is None and parser.value


def _head(pieces: Sequence[bytes]) -> Outcome:
    data = b"".join(pieces)
    try:
        if end_of_head(data) < 0:
            return None
        return parse_head(data[: end_of_head(data)]).status
    except NotHttp as error:
        return type(error).__name__


def _chunked(pieces: Sequence[bytes]) -> Outcome:
    body = Chunked()
    out: list[bytes] = []
    rest: bytes | None = None
    try:
        for piece in pieces:
            rest = body.feed(piece, out) if rest is None else rest + piece
    except (NotHttp, ConnectionBroken) as error:
        return type(error).__name__
    return b"".join(out), rest


def _patch(pieces: Sequence[bytes]) -> Outcome:
    try:
        return len(read_patch(b"".join(pieces).decode("utf-8", "replace")))
    except ToolFault as fault:
        return str(fault)


def _html(pieces: Sequence[bytes]) -> Outcome:
    return html_to_text(b"".join(pieces).decode("utf-8", "replace"), "https://example.org/")


def _picture(pieces: Sequence[bytes]) -> Outcome:
    data = b"".join(pieces)
    return picture_header(data), describe_picture_fault(data)


def _archive(pieces: Sequence[bytes]) -> Outcome:
    try:
        return sorted(unpack_zip(b"".join(pieces)))
    except HealdError as error:
        return str(error)


def _zip(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, f"<p>{name}</p>" * 20)
    return out.getvalue()


_DIFF = b"--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
_MARKED = b"*** Begin Patch\n*** Update File: a.py\n@@ def f\n-old\n+new\n*** Add File: b\n+x\n*** End Patch\n"
_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\2\0\0\0"
_JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x11\x08\0\x10\0\x10\3\1\x22\0"
_WEBP = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x0f\0\0"
_EVENTS = [amazon_event("messageStart", {"role": "assistant"}), amazon_event("metadata", {"usage": {}})]

TARGETS: dict[str, Target] = {
    "sse": Target(_read_frames(SSEParser), [b"".join(wire_stream("chat", text="héllo")), b":c\r\nid: 1\revent: a\n\n"]),
    "json lines": Target(
        _read_frames(JsonLinesParser), [b"".join(wire_stream("ollama", text="hi")), b'{"a":1}\n\n[]\n']
    ),
    "json array": Target(_read_frames(JsonArrayParser), [b'[{"a": "b]"},\n{"c": [1, {"d": "\\""}]}]', b"[]"]),
    "event stream": Target(_read_frames(AmazonEventParser), [b"".join(_EVENTS), _EVENTS[0][:-3]]),
    "partial json": Target(
        _partial_json, [b'{"a": [1, -2.5e3, "x\\u00e9\\n"], "b": {"c": null}}', b'["\\ud83d\\ude00"]']
    ),
    "http head": Target(_head, [b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n"], False),
    "chunked": Target(_chunked, [b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\nrest"]),
    "patch": Target(_patch, [_DIFF, _MARKED], False),
    "html": Target(_html, [b"<!doctype html><title>T</title><p>a<b>c</b><script>x</script><table><tr><td>1"], False),
    "picture": Target(_picture, [_PNG, _JPEG, _WEBP, b"GIF89a\x10\0\x10\0"], False),
    "archive": Target(_archive, [_zip("index.html", "a/b.css"), _zip("site/x.html")], False),
}


def mutate(seed: bytes, source: random.Random, others: Iterable[bytes]) -> bytes:
    """Change an input a little, as a fuzzer does."""
    data = bytearray(seed)
    pool = list(others)
    for _ in range(source.randint(1, 6)):
        at = source.randrange(len(data) + 1)
        match source.randrange(7):
            case 0 if data:
                data[at % len(data)] ^= 1 << source.randrange(8)
            case 1:
                data[at:at] = source.randbytes(source.randint(1, 8))
            case 2:
                del data[at : at + source.randint(1, 12)]
            case 3:
                piece = data[at : at + source.randint(1, 20)]
                data[at:at] = piece * source.randint(1, 30)
            case 4:
                other = source.choice(pool)
                data[at:] = other[source.randrange(len(other) + 1) :]
            case 5:
                data[at:at] = source.choice(
                    [b"\r\n", b"\n\n", b"\0", b"\xff" * 4, b"999999999999", b'"', b"\\", b"{" * 50]
                )
            case _:
                del data[at:]
    return bytes(data)


def split(data: bytes, source: random.Random) -> list[bytes]:
    cuts = sorted(source.randrange(len(data) + 1) for _ in range(source.randint(0, 8)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
