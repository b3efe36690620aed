"""Brings the schema of a database to the newest version."""

from heald_nodes.postgres.driver import PostgresConnection
from heald_nodes.postgres.schema import KNOWN, MIGRATIONS, PACKED_SCHEMA, check_version

_LOCK = 0x57454654
"""The key of the advisory lock under which one node migrates. All versions must use the same."""


async def read_version(connection: PostgresConnection) -> tuple[int, int]:
    """Return the version of the schema, and the oldest version whose Heald may use it. 0 for an empty database."""
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0, 0
    row = await connection.fetchrow("SELECT version, readable_by FROM schema_version ORDER BY version DESC LIMIT 1")
    return (row[0], row[1]) if row is not None else (0, 0)


async def migrate_schema(connection: PostgresConnection) -> int:
    """Bring the schema to the newest known version, in one transaction. Returns its version."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))", _LOCK)
        version, readable_by = await read_version(connection)
        check_version(version, readable_by)
        if version == 0:
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_version"
                " (version integer PRIMARY KEY, readable_by integer NOT NULL, applied timestamptz NOT NULL)"
            )
        for migration in MIGRATIONS:
            if migration.version <= version:
                continue
            for statement in migration.statements:
                await connection.execute(statement)
            # what older schemas cannot read is still there
            readable_by = max(readable_by, migration.readable_by)
            await connection.execute(
                "INSERT INTO schema_version VALUES ($1, $2, now())", migration.version, readable_by
            )
        if version == 0:  # nobody has used it yet
            await allow_newest(connection)
        return max(version, KNOWN)


async def allow_newest(connection: PostgresConnection) -> None:
    """Let nodes write rows, and packed tails, from now on. A Heald that cannot read them refuses to start."""
    await connection.execute("UPDATE schema_version SET readable_by = greatest(readable_by, $1)", PACKED_SCHEMA)
