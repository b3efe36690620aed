"""A schema of its own for each test, in a database that all tests of a process share."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4


def with_schema(url: str, schema: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}search_path={schema}"


@asynccontextmanager
async def own_schema(url: str) -> AsyncGenerator[str]:
    """Create a schema for the duration of the block. Yields the address with it."""
    asyncpg: Any = import_module("asyncpg")
    schema = f"heald_{uuid4().hex}"
    connection = await asyncpg.connect(url)
    await connection.execute(f"CREATE SCHEMA {schema}")
    try:
        yield with_schema(url, schema)
    finally:
        await connection.execute("SET client_min_messages = warning")
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
        await connection.close()
