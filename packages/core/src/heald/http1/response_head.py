"""Parses the head of a response (RFC 9112, sections 4 to 6).

Parsing is strict wherever two readers could disagree on where the body ends: a folded line, a space before a colon, two
lengths, a length beside chunks.
"""

import msgspec

from heald.core.lazy import lazy_pattern
from heald.http1.body_framing import BodyFraming, ByLength, Chunked, UntilClose
from heald.http1.errors import NotHttp

MAX_HEAD = 64 * 1024
_END = lazy_pattern(rb"\n\r?\n")
_STATUS = r"HTTP/1\.([0-9]) ([1-9][0-9][0-9])(?: [^\0\r\n]*+)?\r?\n"
_FIELD = r"[-!#$%&'*+.^_`|~0-9A-Za-z]++:[^\0\r\n]*+\r?\n"
_STATUS_LINE = lazy_pattern(_STATUS)
_HEAD = lazy_pattern(rf"{_STATUS}((?:{_FIELD})*+)\r?\n\Z")
_MAX_LENGTH_DIGITS = 18
_TLS_RECORDS = (b"\x15", b"\x16")  # an alert, a handshake


class ResponseHead(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    """Names in lower case; the values of a repeated one are joined by commas."""
    framing: BodyFraming
    keep: bool
    """The connection may serve another request."""


def end_of_head(data: bytes, start: int = 0) -> int:
    """The offset of the body; -1 while the head is incomplete."""
    blank_line = _END.search(data, start)
    return blank_line.end() if blank_line is not None else -1


def check_start(data: bytes) -> None:
    """NotHttp if the bytes so far cannot begin a response."""
    if data.startswith(_TLS_RECORDS):
        raise NotHttp("it answers in TLS, so its address should begin with https")
    if not data.startswith(b"HTTP/1."[: len(data)]):
        raise NotHttp("it does not begin with an HTTP/1 status line")
    if len(data) > MAX_HEAD:
        raise NotHttp(f"it has headers of more than {MAX_HEAD} bytes")


def parse_head(data: bytes, *, bare: bool = False) -> ResponseHead:
    """Parse a head with its empty line. A `bare` one replies to HEAD and has no body."""
    if len(data) > MAX_HEAD:
        raise NotHttp(f"it has headers of more than {MAX_HEAD} bytes")
    text = data.decode("utf-8", "replace")
    head = _HEAD.match(text)
    if head is None and _STATUS_LINE.match(text) is None:
        raise NotHttp("it does not begin with an HTTP/1 status line")
    if head is None:
        raise NotHttp("it has a header that is folded, has no name, or holds a control character")
    headers: dict[str, str] = {}
    for line in head[3].split("\n")[:-1]:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t\r")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    status = int(head[2])
    return ResponseHead(status, headers, _framing(status, headers, bare), _keeps(headers, head[1] != "0"))


def _framing(status: int, headers: dict[str, str], bare: bool) -> BodyFraming:
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    if coding is not None and length is not None:
        raise NotHttp("it gives both a length and a transfer encoding")
    if bare or status < 200 or status in (204, 304):
        return ByLength(0)
    if coding is not None:
        if coding.lower() != "chunked":
            raise NotHttp("it has another transfer encoding than chunked")
        return Chunked()
    return ByLength(_length(length)) if length is not None else UntilClose()


def _length(value: str) -> int:
    if not value.isdecimal() and "," in value:
        lengths = {length.strip(" \t") for length in value.split(",")}
        value = lengths.pop() if len(lengths) == 1 else ""
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_LENGTH_DIGITS):
        raise NotHttp("its length is not a number, or there are several")
    return int(value)


def _keeps(headers: dict[str, str], modern: bool) -> bool:
    options = headers.get("connection")
    if options is None or (modern and options == "keep-alive"):
        return modern
    tokens = {token.strip().lower() for token in options.split(",")}
    if "close" in tokens:
        return False
    # HTTP/1.0 has no chunks: a connection that sends them is not reused.
    return modern or ("keep-alive" in tokens and "transfer-encoding" not in headers)
