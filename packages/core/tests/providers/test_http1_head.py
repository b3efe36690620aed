"""The head of an answer: read where it can be read in one way only, refused where it cannot."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.http1.body_framing import ByLength, Chunked, UntilClose
from heald.http1.errors import NotHttp
from heald.http1.response_head import MAX_HEAD, check_start, end_of_head, parse_head

OK = b"HTTP/1.1 200 OK\r\n"


def head(*lines: bytes, first: bytes = OK) -> bytes:
    return first + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"HTTP/1.1 200 OK", 200),
        (b"HTTP/1.1 200 ", 200),
        (b"HTTP/1.1 200", 200),
        (b"HTTP/1.0 503 Service  Unavailable\t!", 503),
        (b"HTTP/1.2 299 \xff\xfe", 299),
    ],
)
def test_status_lines(line: bytes, status: int) -> None:
    assert parse_head(line + b"\r\n\r\n").status == status


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"200 OK",
        b"HTTP/2 200 OK",
        b"HTTP/1.10 200 OK",
        b"http/1.1 200 OK",
        b" HTTP/1.1 200 OK",
        b"HTTP/1.1  200 OK",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 99 OK",
        b"HTTP/1.1 099 OK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.1 2x0 OK",
        "HTTP/1.1 ２００ OK".encode(),
        b"HTTP/1.1 200 O\0K",
        b"HTTP/1.1 200 O\rK",
        b"POST / HTTP/1.1",
    ],
)
def test_what_is_no_status_line(line: bytes) -> None:
    with pytest.raises(NotHttp):
        parse_head(line + b"\r\n\r\n")


def test_headers() -> None:
    seen = parse_head(
        head(
            b"Content-Type:text/plain", b"X-Empty:", b"x-two: 1", b"X-Two:\t 2 \t", "x-name: Zoë".encode(), b"x-l: \xe9"
        )
    ).headers
    assert seen == {
        "content-type": "text/plain",
        "x-empty": "",
        "x-two": "1, 2",
        "x-name": "Zoë",
        "x-l": "\ufffd",
    }


def test_lines_may_end_with_a_line_feed_alone() -> None:
    seen = parse_head(b"HTTP/1.1 200 OK\nA: 1\r\nb: 2\n\n")
    assert seen.headers == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    "line",
    [
        b" folded",
        b"\tfolded: x",
        b"no colon",
        b": no name",
        b"name : space before the colon",
        b"na me: x",
        b"n\xc3\xa9: x",
        b"(name): x",
        b"name: a\0b",
        b"name: a\rb",
        b"\rname: x",
        b"content-length: 3\r",
    ],
)
@pytest.mark.parametrize("before", [[], [b"a: 1"]])
def test_headers_that_two_would_read_in_two_methods(line: bytes, before: list[bytes]) -> None:
    with pytest.raises(NotHttp):
        parse_head(head(*before, line, b"z: 1"))


# --- where the body ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([], UntilClose),
        ([b"content-length: 5"], ByLength),
        ([b"content-length: 5, 5"], ByLength),
        ([b"content-length: 5", b"Content-Length:  5"], ByLength),
        ([b"transfer-encoding: chunked"], Chunked),
        ([b"Transfer-Encoding: Chunked"], Chunked),
    ],
)
def test_framings(lines: list[bytes], kind: type) -> None:
    assert isinstance(parse_head(head(*lines)).framing, kind)


@pytest.mark.parametrize(
    "lines",
    [
        [b"content-length: 5", b"transfer-encoding: chunked"],
        [b"transfer-encoding: chunked", b"content-length: 5"],
        [b"content-length: 5", b"content-length: 6"],
        [b"content-length: 5, 6"],
        [b"content-length: "],
        [b"content-length: ,"],
        [b"content-length: -1"],
        [b"content-length: +5"],
        [b"content-length: 5.0"],
        [b"content-length: 0x5"],
        [b"content-length: 1_0"],
        [b"content-length: 5 5"],
        ["content-length: ５".encode()],
        [b"content-length: " + b"9" * 30],
        [b"transfer-encoding: gzip, chunked"],
        [b"transfer-encoding: chunked, chunked"],
        [b"transfer-encoding: chunked", b"transfer-encoding: chunked"],
        [b"transfer-encoding: identity"],
        [b"transfer-encoding: xchunked"],
        [b"transfer-encoding: "],
    ],
)
def test_bodies_that_two_would_end_in_two_places(lines: list[bytes]) -> None:
    with pytest.raises(NotHttp):
        parse_head(head(*lines))


@pytest.mark.parametrize("status", [b"204", b"304", b"100"])
def test_answers_without_a_body(status: bytes) -> None:
    framing = parse_head(head(b"content-length: 5", first=b"HTTP/1.1 " + status + b"\r\n")).framing
    assert framing.feed(b"", []) == b""


@pytest.mark.parametrize(
    ("version", "lines", "keep"),
    [
        (b"1", [], True),
        (b"1", [b"connection: keep-alive"], True),
        (b"1", [b"connection: close"], False),
        (b"1", [b"Connection: Upgrade, Close"], False),
        (b"1", [b"connection: x", b"connection: close"], False),
        (b"0", [], False),
        (b"0", [b"connection: keep-alive"], True),
        (b"0", [b"connection: keep-alive", b"transfer-encoding: chunked"], False),
    ],
)
def test_whether_the_connection_is_kept(version: bytes, lines: list[bytes], keep: bool) -> None:
    assert parse_head(head(*lines, first=b"HTTP/1." + version + b" 200 OK\r\n")).keep is keep


# --- limits and any bytes -----------------------------------------------------------------------------------------


def test_a_head_has_a_size() -> None:
    fits = head(b"a: " + b"x" * (MAX_HEAD - len(OK) - 7))
    assert len(fits) == MAX_HEAD
    assert parse_head(fits).status == 200
    with pytest.raises(NotHttp, match="65536"):
        parse_head(head(b"a: " + b"x" * (MAX_HEAD - len(OK) - 6)))
    with pytest.raises(NotHttp, match="65536"):
        check_start(OK + b"x" * MAX_HEAD)


@pytest.mark.parametrize("filling", [b" ", b"\t", b"a", b"a:", b": ", b"\r", b",", b"\n"])
def test_no_head_is_slow(filling: bytes) -> None:
    """The worst of these took a minute with an expression that goes back on its steps."""
    size = MAX_HEAD // len(filling) - 50
    start = time.process_time()
    for data in (OK + b"a: " + filling * size + b"\0\r\n\r\n", OK + filling * size + b"\0\r\n\r\n"):
        with pytest.raises(NotHttp):
            parse_head(data)
    assert time.process_time() - start < 3


def test_what_can_never_become_an_answer_is_refused_at_its_first_bytes() -> None:
    for good in (b"", b"H", b"HTTP/1", b"HTTP/1.1 200"):
        check_start(good)
    for bad in (b"S", b"SSH-2.0", b"\r", b"HTTP/2", b"<html>"):
        with pytest.raises(NotHttp, match="status line"):
            check_start(bad)
    with pytest.raises(NotHttp, match="https"):
        check_start(b"\x15\x03\x03\x00\x02\x02\x46")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for whole in (data + b"\r\n\r\n", OK + data + b"\r\n\r\n"):
        end = end_of_head(whole)
        assert whole[:end].endswith((b"\n\n", b"\n\r\n"))
        try:
            seen = parse_head(whole[:end])
        except NotHttp:
            continue
        assert 100 <= seen.status <= 999
        assert all(name == name.lower() and name.isascii() for name in seen.headers)
