"""A PostgreSQL with TLS: its certificate is verified, and whatever is wrong is said in one sentence, at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald.sessions.session_info import SessionInfo
from heald.sessions.store_errors import StoreError
from heald_nodes.postgres.store import PostgresStore
from postgres_server import PostgresServer, running_postgres
from postgres_tls import Authority, TlsServer, running_tls_postgres
from shared_store_contract import events

Tls = tuple[TlsServer, Authority]


@pytest.fixture(scope="module")
def tls() -> Iterator[Tls]:
    with running_tls_postgres() as tls:
        yield tls


@pytest.fixture(scope="module")
def strict_tls() -> Iterator[Tls]:
    """It accepts clients with a certificate only."""
    with running_tls_postgres(verifies_clients=True) as tls:
        yield tls


def url(server: PostgresServer, **parameters: object) -> str:
    return f"{server.url}?{'&'.join(f'{name}={value}' for name, value in parameters.items())}"


async def works(address: str, session: str) -> bool:
    """Write and read a session."""
    store = PostgresStore(address)
    await store.create(SessionInfo(id=session))
    lease = await store.acquire(session, "test")
    await store.append(lease, events(session, 1, 2))
    count = len(await store.read(session))
    await store.close()
    return count == 2


async def refusal(address: str) -> str:
    """The sentence with which a store refuses an address. It is raised at once: nobody waits for a database that would
    refuse again."""
    store = PostgresStore(address)
    with pytest.raises(StoreError) as refused:
        await store.info("ses_a")
    await store.close()
    assert "test" not in str(refused.value)  # the password
    return str(refused.value)


async def test_a_verified_certificate(tls: Tls) -> None:
    server, authority = tls
    assert await works(url(server, sslmode="verify-full", sslrootcert=authority.certificate), "ses_a")


async def test_a_certificate_of_another_authority_is_refused(tls: Tls, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    said = await refusal(url(tls[0], sslmode="verify-full", sslrootcert=stranger.certificate))
    assert "is not trusted" in said
    assert "sslrootcert=" in said


async def test_a_certificate_for_another_host_is_refused() -> None:
    with running_tls_postgres(name="db.example.org") as (server, authority):
        said = await refusal(url(server, sslmode="verify-full", sslrootcert=authority.certificate))
        assert "is not trusted (IP address mismatch" in said
        assert await works(url(server, sslmode="verify-ca", sslrootcert=authority.certificate), "ses_a")


async def test_an_expired_certificate_is_refused() -> None:
    with running_tls_postgres(is_expired=True) as (server, authority):
        said = await refusal(url(server, sslmode="verify-full", sslrootcert=authority.certificate))
        assert "is not trusted (certificate has expired)" in said


async def test_a_client_certificate(strict_tls: Tls) -> None:
    server, authority = strict_tls
    certificate, key = authority.sign("client", "heald")
    verified = {"sslmode": "verify-full", "sslrootcert": authority.certificate}
    assert await works(url(server, **verified, sslcert=certificate, sslkey=key), "ses_a")
    assert "name one with sslcert=" in await refusal(url(server, **verified))
    certificate, key = authority.sign("other", "somebody")
    assert "is for this user" in await refusal(url(server, **verified, sslcert=certificate, sslkey=key))


async def test_a_client_certificate_of_another_authority_is_refused(strict_tls: Tls, tmp_path: Path) -> None:
    server, authority = strict_tls
    certificate, key = Authority(tmp_path, "stranger").sign("client", "heald")
    verified = {"sslmode": "verify-full", "sslrootcert": authority.certificate}
    assert "refuses the client certificate (unknown ca)" in await refusal(
        url(server, **verified, sslcert=certificate, sslkey=key)
    )


async def test_a_connection_without_tls_is_refused_by_the_database(tls: Tls) -> None:
    assert "refuses the connection (no pg_hba.conf entry" in await refusal(url(tls[0], sslmode="disable"))


async def test_a_database_without_tls_is_refused() -> None:
    with running_postgres() as server:
        assert "does not offer TLS" in await refusal(url(server, sslmode="require"))


async def test_a_file_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"sslrootcert=/nowhere/ca\.crt; there is no such file"):
        PostgresStore("postgresql://heald@db/heald?sslmode=verify-full&sslrootcert=/nowhere/ca.crt")
