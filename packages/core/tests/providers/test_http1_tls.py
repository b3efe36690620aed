"""TLS sessions are resumed by later connections to the same host, and never replace the check of a certificate."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from provider_sockets import RawServer, certificate

from heald.http1.errors import UntrustedCertificate
from heald.http1.pool import get_once
from heald.http1.request import Origin, RequestTarget
from heald.http1.tls import MAX_SESSIONS, ResumingContext, tls_context

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


@pytest.fixture(autouse=True)
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder whose certificate is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    tls_context.cache_clear()
    yield tmp_path
    tls_context.cache_clear()


class ReusingServer(RawServer):
    """Answers each connection once, and notes which of them resumed a session."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(self._answer, tls)
        self.reused: list[bool] = []

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.reused.append(writer.get_extra_info("ssl_object").session_reused)
        writer.write(ANSWER)
        await writer.drain()


async def ask(server: RawServer, host: str = "models.test") -> None:
    target = RequestTarget(Origin("https", host, server.port, addresses=("127.0.0.1",)), "/")
    async with get_once(target, {}, tls=tls_context(), connect_timeout=20) as reply:
        while await reply.read():
            pass


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_the_second_connection_to_a_host_resumes_its_session(trusted: Path, version: ssl.TLSVersion) -> None:
    _, context = certificate(trusted, "models.test")
    context.maximum_version = version
    async with ReusingServer(context) as server:
        for _ in range(3):
            await ask(server)
    assert server.reused == [False, True, True]


async def test_a_session_is_not_trust_in_another_certificate_or_name(trusted: Path) -> None:
    _, context = certificate(trusted, "models.test")
    async with ReusingServer(context) as server:
        await ask(server)
        with pytest.raises(UntrustedCertificate):
            await ask(server, "other.test")
    folder = trusted / "stranger"
    folder.mkdir()
    _, stranger = certificate(folder, "models.test")
    async with ReusingServer(stranger) as server:
        with pytest.raises(UntrustedCertificate):
            await ask(server)
    assert server.reused == []


async def test_few_sessions_are_remembered(trusted: Path) -> None:
    _, context = certificate(trusted, "models.test")
    async with ReusingServer(context) as server:
        await ask(server)
        shared = tls_context()
        assert isinstance(shared, ResumingContext)
        (session,) = shared.sessions.values()
        shared.sessions |= {f"{number}.test": session for number in range(MAX_SESSIONS)}
        await ask(server)
    assert len(shared.sessions) == MAX_SESSIONS
    assert list(shared.sessions)[-1] == "models.test"


def test_the_trust_is_that_of_the_standard_library(trusted: Path) -> None:
    certificate(trusted, "models.test")
    usual, shared = ssl.create_default_context(), tls_context()
    for name in ("verify_mode", "check_hostname", "verify_flags", "options", "protocol"):
        assert getattr(shared, name) == getattr(usual, name), name
    assert shared.get_ca_certs() == usual.get_ca_certs()
