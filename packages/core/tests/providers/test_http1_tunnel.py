"""Through a proxy: plain requests are read by it, others go through a tunnel; its password is for it alone."""

import asyncio
import ssl
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from http1_bench import PieceServer, chunked, fetch, post, read_all
from http1_proxy import Proxying
from hypothesis import given
from hypothesis import strategies as st
from provider_bench import until
from provider_sockets import RawServer, certificate, never_answer, refused_port

from heald.core.errors import ConnectionFailed, ProviderTimeout
from heald.http1.errors import ProxyError
from heald.http1.proxy import HttpProxy
from heald.http1.tls import tls_context
from heald.providers.transport import BrokenRead, broken_read

SHORT = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
PASSWORD = "hunter2 CANARY/@:%"
QUOTED = "hunter2%20CANARY%2F%40%3A%25"
PLAIN, SECURE = "http://models.test/v1?a=b", "https://models.test/v1?a=b"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """What a server shows that is models.test or 127.0.0.1, and is believed."""
    _, context = certificate(tmp_path, "models.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield context
    tls_context.cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, proxy: RawServer, user: str = "") -> None:
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy.url.replace("//", f"//{user}"))


class Secure(PieceServer):
    """Says the same over TLS."""

    def __init__(self, pieces: list[bytes], tls: ssl.SSLContext | None, *, close: bool = False) -> None:
        super().__init__(pieces, close=close)
        self._tls = tls


# --- what comes through ------------------------------------------------------------------------------------------


async def test_a_plain_request_is_read_by_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with PieceServer([SHORT], close=False) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        for _ in range(3):
            assert (await fetch(PLAIN)).body == b"hi"
    assert (proxy.connections, server.connections) == (1, 1)
    assert {head.partition(b"\r\n")[0] for head in proxy.heads} == {b"POST http://models.test/v1?a=b HTTP/1.1"}
    assert all(b"\r\nhost: models.test\r\n" in head for head in proxy.heads)
    assert all(head.startswith(b"POST /v1?a=b HTTP/1.1\r\n") for head, _ in server.requests)


@pytest.mark.parametrize("over", ["http", "https"])
async def test_a_tunnel_is_kept(over: str, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also through a proxy that is itself reached by TLS: then there is TLS inside of TLS."""
    large = bytes(range(256)) * 4096
    answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunked(large, large)
    async with (
        Secure([answer], served) as server,
        Proxying(server.port, tls=served if over == "https" else None) as proxy,
    ):
        use(monkeypatch, proxy)
        for _ in range(3):
            assert (await fetch(SECURE, large)).body == large + large
        assert (proxy.connections, server.connections) == (1, 1)
    assert proxy.heads == [b"CONNECT models.test:443 HTTP/1.1\r\nhost: models.test:443\r\n\r\n"]
    assert all(body == large for _, body in server.requests)
    assert all(head.startswith(b"POST /v1?a=b HTTP/1.1\r\nhost: models.test\r\n") for head, _ in server.requests)


async def test_a_plain_request_through_a_proxy_with_tls(
    served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with PieceServer([SHORT], close=False) as server, Proxying(server.port, tls=served) as proxy:
        use(monkeypatch, proxy)
        assert [(await fetch(PLAIN)).body for _ in range(2)] == [b"hi", b"hi"]
        assert proxy.connections == 1


async def test_every_origin_has_a_tunnel_of_its_own(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Secure([SHORT], served) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        for _ in range(2):
            for url in (SECURE, "https://models.test:8443/"):
                assert (await fetch(url)).body == b"hi"
    assert [head.split(b" ")[1] for head in proxy.heads] == [b"models.test:443", b"models.test:8443"]


async def test_a_tunnel_that_was_closed_meanwhile_is_made_anew(
    served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Secure([SHORT], served, close=True) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        for number in range(1, 4):
            assert (await fetch(SECURE)).body == b"hi"
            await until(lambda closed=number: proxy.left == closed)
        assert proxy.connections == 3


async def test_notices_before_the_yes_are_passed_over(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Secure([SHORT], served) as server:

        async def proxy_of_few_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            for piece in (b"HTTP/1.1 100 Wait\r\n\r\nHT", b"TP/1.0 200", b" \r\nContent-Length: 0\r\n", b"\r\n"):
                writer.write(piece)
                await asyncio.sleep(0.01)
            there, back = await asyncio.open_connection("127.0.0.1", server.port)
            try:
                await asyncio.gather(_pour(reader, back), _pour(there, writer))
            finally:
                back.transport.abort()

        async with RawServer(proxy_of_few_words) as proxy:
            use(monkeypatch, proxy)
            assert (await fetch(SECURE)).body == b"hi"


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


# --- who may use it ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [PLAIN, SECURE])
async def test_the_right_password(url: str, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    tls = served if url == SECURE else None
    async with Secure([SHORT], tls) as server, Proxying(server.port, password=f"me:{PASSWORD}") as proxy:
        use(monkeypatch, proxy, f"me:{QUOTED}@")
        for _ in range(2):
            assert (await fetch(url)).body == b"hi"
    if url == SECURE:
        assert all(b"proxy-authorization" not in head for head, _ in server.requests)
        assert all(b"Bearer k" not in head for head in proxy.heads)


@pytest.mark.parametrize("user", ["", f"me:{QUOTED}@", "me@"])
@pytest.mark.parametrize("url", [PLAIN, SECURE])
async def test_the_wrong_password(url: str, user: str, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with PieceServer([SHORT]) as server, Proxying(server.port, password="me:other") as proxy:
        use(monkeypatch, proxy, user)
        with pytest.raises(
            ConnectionFailed, match=r"The proxy to https?://models\.test failed \(HTTP 407\); check"
        ) as no:
            await fetch(url)
        assert not no.value.reached
        assert "CANARY" not in str(no.value)
        assert server.connections == 0


@pytest.mark.parametrize("status", [301, 400, 403, 404, 429, 500, 502, 503, 504])
async def test_a_proxy_that_refuses(status: int, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 %d No\r\nlocation: http://thief.test/\r\ncontent-length: 9\r\n\r\nCANARY no" % status
    async with Proxying(refused_port(), refusal=refusal) as proxy:
        use(monkeypatch, proxy, "me:CANARY@")
        with pytest.raises(
            ConnectionFailed, match=rf"The proxy to https://models\.test failed \(HTTP {status}\)"
        ) as no:
            await fetch(SECURE)
        assert "CANARY" not in str(no.value)
        await until(lambda: proxy.left == 1)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "it was closed before an answer came"),
        (b"HTTP/1.1 2", "it was closed before an answer came"),
        (b"SSH-2.0-CANARY\r\n\r\n", "it does not begin with an HTTP/1 status line"),
        (b"\x15\x03\x01\x00\x02\x02\x28", "it answers in TLS"),
        (b"HTTP/1.1 200 OK\r\nCANARY\r\n\r\n", "it has a header that is folded"),
        (b"HTTP/1.1 200 OK\r\na: " + b"x" * 70_000, "it has headers of more than 65536 bytes"),
        (b"HTTP/1.1 200 OK\r\n\r\nCANARY", "it goes on where the tunnel should begin"),
        (b"HTTP/1.1 200 OK\r\n\r\n\x16\x03", "it goes on where the tunnel should begin"),
    ],
)
async def test_a_proxy_that_makes_no_sense(
    answer: bytes, why: str, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if not answer.startswith(b"HTTP/1.1 2"[: len(answer)]) or len(answer) < 11:
            return
        await reader.read()

    async with RawServer(talk) as proxy:
        use(monkeypatch, proxy)
        with pytest.raises(ConnectionFailed, match=r"The proxy to https://models\.test failed") as failed:
            await fetch(SECURE)
    assert why in str(failed.value)
    assert "CANARY" not in str(failed.value)


async def test_a_proxy_that_is_not_there(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https"):
        monkeypatch.setenv("https_proxy", f"{scheme}://me:CANARY@127.0.0.1:{refused_port()}")
        with pytest.raises(ConnectionFailed, match=r"failed \(Connection refused\); check HTTPS_PROXY") as failed:
            await fetch(f"{SECURE}&{scheme}")
        assert "CANARY" not in str(failed.value)


async def test_a_proxy_that_is_silent(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    from heald.providers.transport import Transport

    async with RawServer(never_answer) as proxy:
        use(monkeypatch, proxy)
        transport = await Transport.for_running_loop()
        with pytest.raises(ProviderTimeout, match="did not answer in time") as late:
            await transport.post(SECURE, headers={}, body=b"{}", connect_timeout=0.1)
        assert not late.value.reached


async def test_a_proxy_whose_certificate_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, context = certificate(tmp_path, "models.test")
    tls_context.cache_clear()
    async with Proxying(refused_port(), tls=context) as proxy:
        use(monkeypatch, proxy, "me:CANARY@")
        for url in (PLAIN, SECURE):
            with pytest.raises(ConnectionFailed, match=r"The proxy to .* failed .*self.signed") as failed:
                await fetch(url)
            assert "CANARY" not in str(failed.value)
    assert proxy.heads == []


async def test_a_plain_port_as_a_proxy_with_tls(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawServer(refuse_in_plain_text) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("http:", "https:"))
        with pytest.raises(ConnectionFailed, match=r"The proxy to https://models\.test failed"):
            await fetch(SECURE)


async def refuse_in_plain_text(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


# --- what is behind it -----------------------------------------------------------------------------------------------


async def test_tls_inside_verifies_the_name(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy could put anybody at the other end."""
    async with Secure([SHORT], served) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        with pytest.raises(ConnectionFailed, match=r"The TLS certificate of https://other\.test is not trusted"):
            await fetch("https://other.test/")
        assert server.requests == []


async def test_no_tls_inside(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawServer(refuse_in_plain_text) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        with pytest.raises(ConnectionFailed, match=r"https://models\.test does not speak TLS as it should"):
            await fetch(SECURE)


async def test_a_server_that_disconnects_as_soon_as_the_tunnel_stands(
    served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pass

    async with RawServer(close_at_once, served) as server, Proxying(server.port) as proxy:
        use(monkeypatch, proxy)
        for _ in range(20):
            with pytest.raises(ConnectionFailed):
                await fetch(SECURE)


@pytest.mark.parametrize("dies_after", [1500, 2500, 20_000])
@pytest.mark.parametrize("url", [PLAIN, SECURE])
async def test_a_proxy_that_dies_in_the_middle(
    url: str, dies_after: int, served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a tunnel stands, before an answer began, or in the middle of one: told as what it is."""
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n" + b"x" * 60_000
    async with (
        Secure([answer], served if url == SECURE else None) as server,
        Proxying(server.port, dies_after=dies_after) as proxy,
    ):
        use(monkeypatch, proxy)
        with pytest.raises((BrokenRead, ConnectionFailed)) as died:
            await read_to_the_end(url)
        if dies_after > 10_000:
            assert str(died.value) == "it was closed in the middle of an answer"


async def read_to_the_end(url: str) -> None:
    response = await post(url)
    try:
        await read_all(response)
    except Exception as error:
        raise broken_read(error) from None


async def test_a_cancelled_request_keeps_the_proxy(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        left.set()

    async with RawServer(hold) as proxy:
        use(monkeypatch, proxy)
        request = asyncio.create_task(post(SECURE))
        await asyncio.wait_for(asked.wait(), 60)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await asyncio.wait_for(left.wait(), 60)


async def test_a_tunnel_closes_everything(served: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import asyncio, sys\n"
        "sys.path[:0] = sys.argv[1:]\n"
        "from http1_bench import fetch, post\n"
        "async def main():\n"
        "    print((await fetch('https://models.test/')).body.decode())\n"
        "    print((await post('https://models.test/')).status)\n"
        "asyncio.run(main())\n"
    )
    async with Secure([SHORT], served) as server, Proxying(server.port, tls=served) as proxy:
        use(monkeypatch, proxy)
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-W", "error", "-c", code, str(Path(__file__).parent)],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert (out.split(), err) == ([b"hi", b"200"], b"")


# --- its address -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://h:3128", HttpProxy("http", "h", 3128)),
        ("https://H.test", HttpProxy("https", "h.test", 443)),
        ("h:3128", HttpProxy("http", "h", 3128)),
        ("me@h", HttpProxy("http", "h", 80, "Basic bWU6")),
        ("http://me:a%3Ab@[::1]:1/ignored", HttpProxy("http", "::1", 1, "Basic bWU6YTpi")),
    ],
)
def test_addresses(url: str, proxy: HttpProxy) -> None:
    assert HttpProxy.parse(url) == proxy


@pytest.mark.parametrize(
    "url",
    ["", "http://", "socks4://me:CANARY@h:1", "ftp://CANARY@h", "http://h:CANARY", "http://[CANARY", "http://me:CANARY@",
     "x://"],
)  # fmt: skip
async def test_addresses_that_are_none(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProxyError) as refused:
        HttpProxy.parse(url)
    assert "CANARY" not in str(refused.value)
    monkeypatch.setenv("http_proxy", url)
    if url:
        with pytest.raises(ConnectionFailed, match=r"The proxy to http://models\.test failed") as failed:
            await fetch(PLAIN)
        assert "CANARY" not in str(failed.value)


def test_the_password_is_not_shown() -> None:
    assert "bWU6Q0FOQVJZ" not in repr(HttpProxy.parse("http://me:CANARY@h"))


@given(st.text(), st.text(min_size=1))
def test_any_password_arrives_whole_or_is_refused(user: str, password: str) -> None:
    from base64 import b64decode
    from urllib.parse import quote

    try:
        authorization = (
            HttpProxy.parse(f"http://{quote(user, safe='')}:{quote(password, safe='')}@h").authorization or ""
        )
    except UnicodeEncodeError:
        return
    assert b64decode(authorization.removeprefix("Basic ")).decode() == f"{user}:{password}"
    assert authorization.isascii()
    assert authorization.isprintable()


@given(st.text())
def test_any_text_is_an_address_or_none(text: str) -> None:
    with suppress(ProxyError, UnicodeEncodeError):
        HttpProxy.parse(text)
