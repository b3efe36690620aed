"""What the tests of servers share: the process that forks servers, and a schema for the tests of a module."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from crash_parts import Host

from postgres_schema import own_schema


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    host = Host()
    yield host
    host.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_schema(postgres_server: str) -> AsyncIterator[str]:
    """The address of a schema that is empty before the first test of a module."""
    async with own_schema(postgres_server) as url:
        yield url
