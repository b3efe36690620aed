"""What is sent: to the right place, with the headers that were given and none that somebody smuggled in."""

import pytest

from heald.core.errors import InvalidRequest
from heald.http1.request import Origin, RequestTarget


@pytest.mark.parametrize(
    ("url", "origin", "authority", "path"),
    [
        ("http://h/v1/x", ("http", "h", 80), "h", "/v1/x"),
        ("https://H.test", ("https", "h.test", 443), "h.test", "/"),
        ("https://h:443/a", ("https", "h", 443), "h", "/a"),
        ("https://h:80/a", ("https", "h", 80), "h:80", "/a"),
        ("http://[::1]:8080/a?alt=sse", ("http", "::1", 8080), "[::1]:8080", "/a?alt=sse"),
        ("http://h/a b/%41é?q=a b#part", ("http", "h", 80), "h", "/a%20b/%41%C3%A9?q=a%20b"),
        ("http://bücher.test/", ("http", "xn--bcher-kva.test", 80), "xn--bcher-kva.test", "/"),
        ("http://user:word@h/a:b", ("http", "h", 80), "h", "/a:b"),
    ],
)
def test_where_it_goes(url: str, origin: tuple[str, str, int], authority: str, path: str) -> None:
    target = RequestTarget.parse(url)
    assert (target.origin, target.origin.authority, target.path) == (Origin(*origin), authority, path)


def test_a_head() -> None:
    head = RequestTarget.parse("http://h:1/v1").encode_post_head({"Authorization": "Bearer k", "x-name": "Zoë"}, 12)
    assert head.decode().split("\r\n") == [
        "POST /v1 HTTP/1.1",
        "host: h:1",
        "accept-encoding: identity",
        "authorization: Bearer k",
        "x-name: Zoë",
        "content-length: 12",
        "",
        "",
    ]


def test_given_headers_go_before_ours_but_not_before_the_framing() -> None:
    headers = {"Host": "other", "Accept-Encoding": "gzip", "Content-Length": "1", "Transfer-Encoding": "chunked"}
    lines = (
        RequestTarget.parse("http://h/").encode_post_head(headers | {"connection": "close"}, 7).decode().split("\r\n")
    )
    assert lines == ["POST / HTTP/1.1", "host: other", "accept-encoding: gzip", "content-length: 7", "", ""]


def test_headers_that_change_are_rewritten() -> None:
    target = RequestTarget.parse("http://h/")
    headers = {"authorization": "Bearer one"}
    assert b"Bearer one" in target.encode_post_head(headers, 1)
    headers["authorization"] = "Bearer two"
    assert b"Bearer two" in target.encode_post_head(headers, 1)
    assert b"one" not in target.encode_post_head(headers, 1)
    assert b"Bearer" not in target.encode_post_head({}, 1)


@pytest.mark.parametrize("value", ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b"])
def test_a_value_cannot_bring_a_header_of_its_own(value: str) -> None:
    with pytest.raises(InvalidRequest, match="'x-key' holds a line break") as refused:
        RequestTarget.parse("http://h/").encode_post_head({"x-key": value}, 1)
    assert "evil" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "né"])
def test_a_name_is_a_name(name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot have a header"):
        RequestTarget.parse("http://h/").encode_post_head({name: "x"}, 1)
