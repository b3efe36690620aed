"""Frames and refreshes of a preview that lead to other hosts become inert markup."""

import re

import pytest

from heald_studio.preview.remote_frames import is_remote, remove_remote_frames

MARKUP = (
    '<iframe src="http://SINK/1"></iframe><iframe sandbox title=">" src=http://SINK/2></iframe>',
    '<iframe src="&#104;ttp://SINK/3"></iframe><IFRAME\nSRC = "//SINK/4"></IFRAME><iframe src="\\\\SINK/5"></iframe>',
    "<iframe srcdoc='<iframe src=http://SINK/6></iframe>'></iframe>",
    "<iframe srcdoc='&lt;iframe srcdoc=&quot;&amp;lt;iframe src=http://SINK/7&amp;gt;&quot;&gt;'></iframe>",
    '<meta http-equiv="refresh" content="0;url=http://SINK/8">',
    "<meta content=\"0; URL='//SINK/9'\" http-equiv=Refresh>",
)
"""A frame or a refresh that leads to another host, in the spellings that browsers accept."""


@pytest.mark.parametrize(("markup", "inert"), [*zip(MARKUP, (2, 3, 1, 1, 1, 1), strict=True)])
def test_frames_and_refreshes_of_other_hosts_become_inert(markup: str, inert: int) -> None:
    page = remove_remote_frames(markup)
    assert len(re.findall(r"data-(?:src|http-equiv)\b", page, re.IGNORECASE)) == inert
    assert re.search(r"(?<!data-)\b(?:src|http-equiv)\s*=", page, re.IGNORECASE) is None


@pytest.mark.parametrize(
    "page",
    [
        '<iframe src="map.html"></iframe>',
        '<iframe src="data:text/html,x"></iframe><iframe></iframe>',
        '<meta http-equiv="refresh" content="5; url=next.html"><meta http-equiv="refresh" content="30">',
        '<meta name="description" content="http://example.org">',
        '<img src="http://example.org/a.png"><p>iframe src="http://example.org"</p>',
    ],
)
def test_what_stays_with_the_server_is_left_as_it_is(page: str) -> None:
    assert remove_remote_frames(page) == page


def test_addresses_in_all_spellings() -> None:
    for address in ("http://a", " https:a", "//a", "\\\\a", "/\\a", "ht\ntp://a", "&#x2f;/a", "ftp://a", "HTTPS://a"):
        assert is_remote(address), address
    for address in ("", "a.html", "/a", "#a", "?a:b", "a/b:c", "data:,x", "about:blank", "javascript:void 0"):
        assert not is_remote(address), address
