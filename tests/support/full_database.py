"""A PostgreSQL table that has no room."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any


@asynccontextmanager
async def no_room(url: str, table: str) -> AsyncGenerator[None]:
    """Have every change of a table fail as it does on a full disk, for the duration of the block."""
    asyncpg: Any = import_module("asyncpg")
    connection = await asyncpg.connect(url)
    await connection.execute(
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;"
        f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        yield
    finally:
        await connection.execute(f"DROP TRIGGER full_disk ON {table}")
        await connection.close()
