"""What storing a delta costs: SQLite and PostgreSQL in one run, with the events of streamed prose.

    python -m benchmarks.nodes.costs

An append has 3 deltas, as a watched agent brings them in 50 ms, or 13, as an unwatched one does in 250 ms.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "support"))

from heald.core.envelope import Event, new_event
from heald.core.events import TextDelta
from heald.sessions.leases import Lease
from heald.sessions.session_info import SessionInfo
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import Store
from heald_nodes.postgres.store import PostgresStore
from postgres_server import running_postgres

WORDS = ("the", "of", "and", "to", "in", "that", "for", "it", "as", "was", "with", "not", "his", "but", "this", "have")
EXCHANGE = "ex_0123456789abcdef0123"
Measure = Callable[[], Awaitable[dict[str, int]]]


def deltas(session: str, first: int, count: int, source: random.Random) -> list[Event]:
    """Deltas of eight characters or so, as a model streams them."""
    events: list[Event] = []
    for seq in range(first, first + count):
        payload = TextDelta(0, f"msg_{session[4:24]}.0", " ".join(source.choices(WORDS, k=2)))
        name = f"{session}-1-{seq}"
        time = 1_790_000_000.0 + seq / 50
        events.append(new_event(seq, name, session, EXCHANGE, payload.type, payload.layer, time, 1, payload))
    return events


async def measure_store(name: str, store: Store, sizes: Measure, sessions: int, appends: int, events: int) -> None:
    source = random.Random(7)
    leases: list[Lease] = []
    for number in range(sessions):
        session = f"ses_{source.getrandbits(80):020x}{number:02d}"
        await store.create(SessionInfo(id=session))
        leases.append(await store.acquire(session, "bench"))
    batches = [
        [deltas(lease.session, 1 + index * events, events, source) for index in range(appends)] for lease in leases
    ]
    before = await sizes()

    async def write(index: int) -> None:
        for batch in batches[index]:
            await store.append(leases[index], batch, work="running")

    began, cpu = perf_counter(), process_time()
    await asyncio.gather(*(write(index) for index in range(sessions)))
    took, cpu = perf_counter() - began, process_time() - cpu
    after = await sizes()
    total = sessions * appends * events
    stored = ", ".join(f"{key} {(after[key] - before[key]) / total:.0f} B/event" for key in after)
    commits = f", {store.commits} commits" if isinstance(store, PostgresStore) else ""
    print(
        f"{name:9} {events:3} events: {sessions * appends / took:7.0f} appends/s, {total / took:8.0f} events/s, "
        f"{cpu / total * 1e6:5.0f} us CPU/event, {stored}{commits}",
        flush=True,
    )


async def run(options: argparse.Namespace, url: str) -> None:
    asyncpg: Any = import_module("asyncpg")
    for events in (3, 13):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sessions.db"
            sqlite = SqliteStore(file)

            async def sqlite_sizes(file: Path = file) -> dict[str, int]:
                return {"file": sum(part.stat().st_size for part in file.parent.glob("sessions.db*") if part.is_file())}

            await measure_store("sqlite", sqlite, sqlite_sizes, options.sessions, options.appends, events)
            await sqlite.close()
        connection = await asyncpg.connect(url)
        await connection.execute("DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench")

        async def postgres_sizes(connection: Any = connection) -> dict[str, int]:
            wal = await connection.fetchval("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
            tables = await connection.fetchval(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
                " WHERE nspname = 'bench' AND relkind = 'r'"
            )
            return {"WAL": int(wal), "tables": int(tables or 0)}

        postgres = PostgresStore(f"{url}?search_path=bench")
        await measure_store("postgres", postgres, postgres_sizes, options.sessions, options.appends, events)
        await postgres.close()
        await connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--appends", type=int, default=100)
    options = parser.parse_args()
    with running_postgres(fsync=True) as database:
        asyncio.run(run(options, database.url))
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
