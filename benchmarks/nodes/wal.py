"""What an append writes to the WAL of PostgreSQL, by kind of record.

    python -m benchmarks.nodes.wal --output benchmarks/results/wal.json

Sessions of one node get a delta each, all in one commit, 20 times a second or as often as the machine can. A delta is
the next words of a text, two on average: what a model writes from one commit to the next. The bytes are those that
`pg_walinspect` (PostgreSQL 15 or newer) finds between two positions of the WAL. `--touch` is how often the time of the
last change of a session is written; on a busier machine, fewer appends share it.
"""

import argparse
import asyncio
import json
import random
import re
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
_WORDS = re.findall(r"\s*\S+", (Path(__file__).parent.parent.parent / "docs" / "decisions.md").read_text())
_FIRST_ROUNDS = 20
"""Rounds before anything is counted: the first pages of tables and indexes are written."""


class _ProseAgent:
    """Appends the words of a text to the log of a session."""

    def __init__(self, lease: Lease, source: random.Random) -> None:
        self._lease = lease
        self._source = source
        self._word = source.randrange(len(_WORDS))
        self._seq = 0
        self._time = 1.7e9

    def next_delta(self) -> Event:
        count = self._source.choice((1, 2, 2, 3))
        text = "".join(_WORDS[(self._word + number) % len(_WORDS)] for number in range(count))
        self._word += count
        self._seq += 1
        self._time = round(self._time + _PACE + self._source.uniform(-0.01, 0.01), 6)
        return new_event(
            seq=self._seq,
            id=f"{self._lease.session}-{self._seq}",
            session=self._lease.session,
            exchange="ex_0123456789abcdef0123",
            type=TextDelta.type,
            layer=TextDelta.layer,
            time=self._time,
            epoch=self._lease.epoch,
            data=TextDelta(index=0, block="msg_0123456789abcdef0123.0", text=text),
        )

    async def append(self, store: PostgresStore) -> None:
        await store.append(self._lease, [self.next_delta()], work="running")


async def _append_rounds(store: PostgresStore, agents: list[_ProseAgent], rounds: int) -> None:
    for _ in range(rounds):
        began = monotonic()
        await asyncio.gather(*(agent.append(store) for agent in agents))
        await asyncio.sleep(max(_PACE - (monotonic() - began), 0))


async def measure(url: str, sessions: int, rounds: int) -> dict[str, Any]:
    """Return the bytes and the records of an append, by kind."""
    store = PostgresStore(url, node="node")
    connection: Any = await asyncpg.connect(url)
    await connection.execute("CREATE EXTENSION pg_walinspect")
    await store.heartbeat()
    source = random.Random(1)
    agents: list[_ProseAgent] = []
    for number in range(sessions):
        session = f"ses_{number:024d}"
        await store.create(SessionInfo(id=session, title="A page with a form"))
        agents.append(_ProseAgent(await store.acquire(session, f"node/{number}"), source))
    await _append_rounds(store, agents, _FIRST_ROUNDS)
    begin = await connection.fetchval("SELECT pg_current_wal_lsn()")
    began, commits = monotonic(), store.commits
    await _append_rounds(store, agents, rounds)
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
