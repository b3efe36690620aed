"""What an append writes to the WAL of PostgreSQL, by kind of record.

    python -m benchmarks.nodes.wal --output benchmarks/results/wal.json

Sessions of one node get a delta each, all in one commit, 20 times a second or as often as the machine can. The bytes
are those that `pg_walinspect` (PostgreSQL 15 or newer) finds between two positions of the WAL. `--touch` is how often
the time of the last change of a session is written; on a busier machine, fewer appends share it.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "support"))

from benchmarks.report import commit_name, machine
from heald.core.envelope import Event, new_event
from heald.core.events import TextDelta
from heald.sessions.leases import Lease
from heald.sessions.session_info import SessionInfo
from heald_nodes.postgres import writer
from heald_nodes.postgres.driver import asyncpg
from heald_nodes.postgres.store import PostgresStore
from postgres_server import running_postgres

_PACE = 0.05
_FIRST_ROUNDS = 20
"""Rounds before anything is counted: the first pages of tables and indexes are written."""


def _delta(lease: Lease, seq: int) -> Event:
    return new_event(
        seq=seq,
        id=f"{lease.epoch}-{seq}",
        session=lease.session,
        exchange="exc_0123456789",
        type=TextDelta.type,
        layer=TextDelta.layer,
        time=1.7e9 + seq,
        epoch=lease.epoch,
        data=TextDelta(index=0, block="blk_0123456789", text="some words"),
    )


async def _append_rounds(store: PostgresStore, leases: list[Lease], first: int, rounds: int) -> None:
    for seq in range(first, first + rounds):
        began = monotonic()
        await asyncio.gather(*(store.append(lease, [_delta(lease, seq)], work="running") for lease in leases))
        await asyncio.sleep(max(_PACE - (monotonic() - began), 0))


async def measure(url: str, sessions: int, rounds: int) -> dict[str, Any]:
    """Return the bytes and the records of an append, by kind."""
    store = PostgresStore(url, node="node")
    connection: Any = await asyncpg.connect(url)
    await connection.execute("CREATE EXTENSION pg_walinspect")
    await store.heartbeat()
    leases: list[Lease] = []
    for number in range(sessions):
        session = f"ses_{number:024d}"
        await store.create(SessionInfo(id=session, title="A page with a form"))
        leases.append(await store.acquire(session, f"node/{number}"))
    await _append_rounds(store, leases, 1, _FIRST_ROUNDS)
    begin = await connection.fetchval("SELECT pg_current_wal_lsn()")
    began, commits = monotonic(), store.commits
    await _append_rounds(store, leases, 1 + _FIRST_ROUNDS, rounds)
    seconds, commits = monotonic() - began, store.commits - commits
    end = await connection.fetchval("SELECT pg_current_wal_flush_lsn()")
    rows = await connection.fetch(
        'SELECT "resource_manager/record_type", count, combined_size FROM pg_get_wal_stats($1, $2, true)'
        " WHERE count > 0 ORDER BY combined_size DESC",
        begin,
        end,
    )
    await connection.close()
    await store.close()
    appends = sessions * rounds
    return {
        "appends": appends,
        "appends_per_commit": round(appends / commits, 1),
        "rounds_per_second": round(rounds / seconds, 1),
        "bytes": round(sum(row[2] for row in rows) / appends, 1),
        "records": {
            row[0]: {"count": round(row[1] / appends, 3), "bytes": round(float(row[2]) / appends, 1)} for row in rows
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=200, help="appends of each session (default: %(default)s)")
    parser.add_argument(
        "--touch", type=float, nargs="+", default=[writer.TOUCH_SECONDS], help="seconds (default: that of the store)"
    )
    parser.add_argument("--output", type=Path, help="file for the figures, as JSON")
    options = parser.parse_args()
    statement = writer.APPEND
    cells: list[dict[str, Any]] = []
    for touch in options.touch:
        writer.APPEND = statement.replace(f"> {writer.TOUCH_SECONDS} THEN", f"> {touch} THEN")
        with running_postgres() as server:
            cell = {"touch_seconds": touch, **asyncio.run(measure(server.url, options.sessions, options.rounds))}
        cells.append(cell)
        print(f"touch {touch:g} s: {cell['bytes']} bytes an append, {cell['rounds_per_second']} rounds a second")
        for kind, share in cell["records"].items():
            print(f"  {kind:24} {share['count']:6.3f} records {share['bytes']:7.1f} bytes")
    touches = " ".join(f"{touch:g}" for touch in options.touch)
    command = (
        f"python -m benchmarks.nodes.wal --sessions {options.sessions} --rounds {options.rounds} --touch {touches}"
    )
    if options.output is not None:
        figures = {"command": command, "commit": commit_name(), "machine": machine(), "cells": cells}
        options.output.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
