"""Nothing private is dialled, and limits hold. The servers are real; refused means that nobody connected."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from web_site import bomb, page, redirect, site

from certificates import certificate
from heald.tools.tool_fault import ToolFault
from heald.tools.web.fetcher import WebFetcher


async def refused(outgoing: WebFetcher, url: str, kind: str = "url_not_allowed") -> ToolFault:
    with pytest.raises(ToolFault) as caught:
        await outgoing.fetch(url)
    assert caught.value.kind == kind, str(caught.value)
    return caught.value


class Names:
    """A resolver whose answers change from one question to the next."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.asked: list[str] = []
        self._answers = {name.replace("_", "."): list(lists) for name, lists in answers.items()}

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        lists = self._answers.get(host)
        if lists is None:
            raise OSError("no such name")
        return lists.pop(0) if len(lists) > 1 else lists[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:PORT/",
        "http://localhost:PORT/",
        "http://[::1]:PORT/",
        "http://0.0.0.0:PORT/",
        "http://[::]:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/",
        "http://[64:ff9b::7f00:1]:PORT/",
        "http://127.1:PORT/",
        "http://2130706433:PORT/",
        "http://0x7f000001:PORT/",
        "http://017700000001:PORT/",
        "http://0:PORT/",
        "http://127。0。0。1:PORT/",
        "http://①②⑦.0.0.1:PORT/",
        "http://LOCALHOST%00.ok.test:PORT/",
        "http://localhost.:PORT/",
        "https://127.0.0.1:PORT/",
    ],
)
async def test_loopback_in_every_spelling_is_never_reached(url: str) -> None:
    async with site() as sink:
        await refused(WebFetcher(), url.replace("PORT", str(sink.port)))
        assert sink.connections == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]", "168.63.129.16"]
)
async def test_metadata_addresses_are_refused(host: str) -> None:
    fault = await refused(WebFetcher(), f"http://{host}/latest/meta-data/")
    assert "not on the public internet" in str(fault)


async def test_names_of_private_addresses_are_refused_and_the_address_is_not_reported() -> None:
    names = Names(metadata_google_internal=[["169.254.169.254"]], intra_test=[["10.1.2.3"]])
    for host in ("metadata.google.internal", "intra.test"):
        fault = await refused(WebFetcher(resolve=names), f"http://{host}/")
        assert "169.254" not in str(fault)
        assert "10.1.2.3" not in str(fault)


async def test_one_private_address_among_public_ones_is_enough() -> None:
    async with site() as sink:
        names = Names(mixed_test=[["93.184.216.34", "127.0.0.1"]])
        await refused(WebFetcher(resolve=names), f"http://mixed.test:{sink.port}/")
        assert sink.connections == []


async def test_a_name_that_changes_its_answer_gains_nothing() -> None:
    async with site() as sink:
        names = Names(rebind_test=[["192.88.98.1"], ["127.0.0.1"]])
        with pytest.raises(ToolFault) as caught:
            await WebFetcher(resolve=names, seconds=1.0).fetch(f"http://rebind.test:{sink.port}/")
        assert caught.value.kind in ("timeout", "unreachable")
        assert names.asked == ["rebind.test"]
        assert sink.connections == []
        await refused(WebFetcher(resolve=names), f"http://rebind.test:{sink.port}/")
        assert sink.connections == []


async def test_the_address_that_was_checked_is_dialled_and_the_name_is_sent() -> None:
    async with site({"/": page("hello")}) as here:
        names = Names(ok_test=[["127.0.0.1"], ["10.0.0.1"]])
        fetched = await WebFetcher(resolve=names, allow={f"ok.test:{here.port}"}).fetch(f"http://ok.test:{here.port}/")
        assert (fetched.status, fetched.body, names.asked) == (200, b"hello", ["ok.test"])
        assert f"host: ok.test:{here.port}\r\n" in here.heads[0]


async def test_unknown_and_senseless_names() -> None:
    await refused(WebFetcher(resolve=Names()), "http://nowhere.test/", "unknown_host")
    await refused(WebFetcher(resolve=Names(odd_test=[["not an address"]])), "http://odd.test/", "unknown_host")
    await refused(WebFetcher(resolve=Names(none_test=[[]])), "http://none.test/", "unknown_host")


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "u:p@127.0.0.1"])
async def test_a_redirect_to_loopback_is_not_followed(status: str, host: str) -> None:
    async with site() as sink, site({"/": redirect(f"http://{host}:{sink.port}/", status)}) as here:
        await refused(WebFetcher(allow={here.at}), f"http://{here.at}/")
        assert len(here.connections) == 1
        assert sink.connections == []


async def test_pages_that_redirect_by_themselves_are_only_read() -> None:
    async with site() as sink:
        body = (
            f'<meta http-equiv=refresh content="0;url=http://127.0.0.1:{sink.port}/">'
            f'<script>location="http://127.0.0.1:{sink.port}/"</script><img src="http://127.0.0.1:{sink.port}/">'
        )
        async with site({"/": page(body)}) as here:
            fetched = await WebFetcher(allow={here.at}).fetch(f"http://{here.at}/")
            assert fetched.body == body.encode()
        assert sink.connections == []


async def test_redirects_are_followed_five_times() -> None:
    pages = {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    async with site({**pages, "/5": page("here")}) as here:
        fetched = await WebFetcher(allow={here.at}).fetch(f"http://{here.at}/0")
        assert (fetched.url, fetched.body) == (f"http://{here.at}/5", b"here")
    async with site({**pages}) as here:
        await refused(WebFetcher(allow={here.at}), f"http://{here.at}/0", "redirects")
        assert len(here.connections) == 6


async def test_an_allowed_host_is_allowed_at_its_port_only() -> None:
    async with site({"/": page("x")}) as here, site() as other:
        await refused(WebFetcher(allow={here.at}), f"http://{other.at}/")
        await refused(WebFetcher(allow={here.at}), f"http://localhost:{here.port}/")
        assert other.connections == here.connections == []
        assert (await WebFetcher(allow={"127.0.0.1"}).fetch(f"http://{here.at}/")).status == 200


async def test_proxies_and_credentials_of_the_environment_are_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password canary\n")
    async with site() as proxy, site({"/": page("x")}) as here:
        monkeypatch.setenv("http_proxy", f"http://{proxy.at}")
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        await WebFetcher(allow={here.at}).fetch(f"http://{here.at}/")
        assert proxy.connections == []
        assert "authorization" not in here.heads[0].lower()
        assert "cookie" not in here.heads[0].lower()


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n")
    while True:
        writer.write(b"\0" * 65536)
        await writer.drain()


async def slow(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def test_what_never_ends_is_ended() -> None:
    async with site({"/endless": endless, "/slow": slow, "/silent": silent}) as here:
        outgoing = WebFetcher(allow={here.at}, max_bytes=1_000_000, seconds=1.0)
        await refused(outgoing, f"http://{here.at}/endless", "too_large")
        await refused(outgoing, f"http://{here.at}/slow", "timeout")
        await refused(outgoing, f"http://{here.at}/silent", "timeout")


async def test_a_large_answer_is_refused_by_its_announcement() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    async with site({"/": head}) as here:
        await refused(WebFetcher(allow={here.at}), f"http://{here.at}/", "too_large")


async def test_a_bomb_is_not_unpacked() -> None:
    async with site({"/": bomb(60_000_000)}) as here:
        tracemalloc.start()
        await refused(WebFetcher(allow={here.at}), f"http://{here.at}/", "too_large")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 30_000_000


async def test_compressed_answers_are_unpacked() -> None:
    text = b"hello " * 10_000
    raw = zlib.compressobj(wbits=-15)
    bodies = {
        "gzip": gzip.compress(text),
        "GZIP": gzip.compress(text[:6]) + gzip.compress(text[6:]),  # a body may have several members
        "deflate": zlib.compress(text),
        "Deflate": raw.compress(text) + raw.flush(),
    }
    for encoding, body in bodies.items():
        async with site({"/": page(body, more=f"Content-Encoding: {encoding}\r\n")}) as here:
            assert (await WebFetcher(allow={here.at}).fetch(f"http://{here.at}/")).body == text


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (page(b"not gzip", more="Content-Encoding: gzip\r\n"), "unreadable"),
        (page(gzip.compress(b"half")[:-4], more="Content-Encoding: gzip\r\n"), "unreadable"),
        (page(b"x", more="Content-Encoding: br\r\n"), "unreadable"),
        (bomb(1000)[:-12], "unreachable"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "unreachable"),
        (b"", "unreachable"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "unreachable"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"b" * 1_000_000, "unreachable"),
    ],
)
async def test_answers_that_are_none(reply: bytes, kind: str) -> None:
    async with site({"/": reply}) as here:
        await refused(WebFetcher(allow={here.at}), f"http://{here.at}/", kind)


async def test_nobody_there() -> None:
    async with site() as here:
        port = here.port
    await refused(WebFetcher(allow={"127.0.0.1"}), f"http://127.0.0.1:{port}/", "unreachable")


async def test_tls_verifies_the_name_and_not_the_address(tmp_path: Path) -> None:
    server, client = certificate(tmp_path, "ok.test")
    names = Names(ok_test=[["127.0.0.1"]], evil_test=[["127.0.0.1"]])
    async with site({"/": page("secret")}, tls=server) as here:
        allow = {f"{host}:{here.port}" for host in ("ok.test", "evil.test", "127.0.0.1")}
        outgoing = WebFetcher(allow=allow, resolve=names, tls=client)
        assert (await outgoing.fetch(f"https://ok.test:{here.port}/")).body == b"secret"
        for host in ("evil.test", "127.0.0.1"):
            fault = await refused(outgoing, f"https://{host}:{here.port}/", "unreachable")
            assert "certificate" in str(fault)
        strict = WebFetcher(allow=allow, resolve=names)
        await refused(strict, f"https://ok.test:{here.port}/", "unreachable")
