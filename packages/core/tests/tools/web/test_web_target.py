"""A URL is read once and strictly."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heald.tools.tool_fault import ToolFault
from heald.tools.web.urls import follow, parse_target

REFUSED = [
    "",
    "example.com",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/plain,hi",
    "gopher://127.0.0.1:70/",
    "http://",
    "http:///path",
    "http://user:secret@example.com/",
    "http://127.0.0.1@example.com/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com\t/",
    "http://exam ple.com/",
    "http://example.com/\r\nHost: evil",
    "http://LOCALHOST%00.ok.test/",
    "http://local%68ost/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0X7F.1/",
    "http://017700000001/",
    "http://0/",
    "http://1.2.3.4.5/",
    "http://1.2.3.256/",
    "http://01.2.3.4/",
    "http://a.0x/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://１２７.0.0.1/",
    "http://[::1/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:127.0.0.1%lo]/",
    "http://[v1.x]/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://example.com:8a/",
    "http://-a.example/",
    "http://a..example/",
    "http://" + "a" * 64 + ".example/",
    "http://example.com/" + "a" * 5000,
]


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_refused(url: str) -> None:
    with pytest.raises(ToolFault) as caught:
        parse_target(url)
    assert caught.value.kind == "url_not_allowed"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("http://example.com.:80/a?b=c#d", "http://example.com/a?b=c"),
        ("http://bücher.example/ä?q=ö", "http://xn--bcher-kva.example/%C3%A4?q=%C3%B6"),
        ("https://example.com:8443/%2e%2e/x", "https://example.com:8443/%2e%2e/x"),
        ("http://[2606:4700:0::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("HTTP://8.8.8.8", "http://8.8.8.8/"),
        ("http://my_host.example/", "http://my_host.example/"),
    ],
)
def test_what_is_read(url: str, read: str) -> None:
    assert parse_target(url).url == read


def test_a_redirect_is_read_like_any_url() -> None:
    here = parse_target("https://example.com/a/b?c")
    assert follow(here, "../x").url == "https://example.com/x"
    assert follow(here, "//other.example/y").url == "https://other.example/y"
    for location in ("file:///etc/passwd", "http://u:p@example.com/", "http://127.1/", "http://[", "javascript:1"):
        with pytest.raises(ToolFault):
            follow(here, location)


@given(st.one_of(st.text(), st.text().map("http://".__add__), st.from_regex(r"https?://[0-9a-fx.:\[\]@]{1,30}/")))
@example("http://a\u200b.example/")
def test_any_text_is_read_or_refused_and_rereading_changes_nothing(url: str) -> None:
    try:
        target = parse_target(url)
    except ToolFault:
        return
    assert parse_target(target.url) == target
    assert target.url.isascii()
