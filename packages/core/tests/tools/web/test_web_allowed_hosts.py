"""Hosts of a private network that an operator allows: exactly those, wherever a redirect leads."""

import pytest
from web_site import page, redirect, site

from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher, allow_hosts
from heald.tools.web.urls import parse_host


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("wiki.example", "wiki.example"),
        ("Wiki.Example:8080", "wiki.example:8080"),
        ("localhost:80", "localhost:80"),
        ("127.0.0.1:3000", "127.0.0.1:3000"),
        ("[::1]", "[::1]"),
        ("[0::1]:3000", "[::1]:3000"),
    ],
)
def test_a_host_is_read(text: str, host: str) -> None:
    assert parse_host(text) == host


@pytest.mark.parametrize(
    "text",
    ["", "*", "*.example", "http://wiki.example", "wiki.example/a", "wiki.example/", "a@b", "::1", "10.0.0.0/8", "h:0"],
)
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(ToolFault, match=r"is not a host; write one such as wiki.example or localhost:3000"):
        parse_host(text)


async def fetch(url: str) -> bytes | str:
    try:
        return (await WebFetcher().fetch(url)).body
    except ToolFault as fault:
        return str(fault)


async def test_only_the_host_and_port_that_are_allowed_are_fetched() -> None:
    async with site({"/": page("mine")}) as mine, site({"/": page("other")}) as other:
        with allow_hosts([f"127.0.0.1:{mine.port}"]):
            assert await fetch(f"http://127.0.0.1:{mine.port}/") == b"mine"
            for url in (f"http://127.0.0.1:{other.port}/", f"http://localhost:{mine.port}/"):
                assert "may not be fetched, unless Heald is started with --allow-host" in str(await fetch(url))
        with allow_hosts(["127.0.0.1"]):
            assert await fetch(f"http://127.0.0.1:{other.port}/") == b"other"
        assert "--allow-host 127.0.0.1:" in str(await fetch(f"http://127.0.0.1:{mine.port}/"))
        assert len(other.connections) == 1


async def test_a_redirect_from_an_allowed_host_is_checked_too() -> None:
    async with site({"/": page("secret")}) as sink:
        async with site({"/": redirect(f"http://127.0.0.1:{sink.port}/")}) as mine:
            with allow_hosts([f"127.0.0.1:{mine.port}"]):
                assert "may not be fetched" in str(await fetch(f"http://127.0.0.1:{mine.port}/"))
        assert sink.connections == []
