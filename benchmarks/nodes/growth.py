"""What a streamed event costs on 1, 2 and 3 nodes, with PostgreSQL.

    python -m benchmarks.nodes.growth --quick
    python -m benchmarks.nodes.growth --before ../heald-before --output benchmarks/results/growth.json

Agents stream deltas at a steady pace, one answer after the other; each has a reader, on another node where there is
one. The processor time of the nodes and of the database is that of /proc, commits are those of `pg_stat_database`, and
bytes of WAL those of `pg_current_wal_lsn`. Figures are for each delta that the model has sent: deltas that come
together are one event in the log, so the number of events depends on how busy the machine is. PostgreSQL counts a
commit for each node that a notice wakes, beside those that nodes ask for. Nodes send events directly from half a minute
after their start on: `--warm 33` measures that.

`--before` names a checkout of another version: each cell is measured with both, one after the other, and with `--nats`
also with news by NATS, whose processor time counts as that of the database. The figures of a machine that does other
work are comparable with one another only.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

REPOSITORY = Path(__file__).parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from benchmarks.nodes.chaos import percentile  # noqa: E402
from benchmarks.nodes.cluster import ChaosNode  # noqa: E402
from benchmarks.nodes.local import node_command  # noqa: E402
from nats_server import NatsServer, find_nats  # noqa: E402
from postgres_server import PostgresServer, running_postgres  # noqa: E402

_AGENTS_PER_PROCESS = 50
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class GrowthCell:
    """What one version has used in one cell."""

    version: str
    nodes: int
    agents: int
    deltas_per_second: float
    """Those that readers got."""
    events_per_second: float
    """Those that were stored."""
    node_us: float
    """Processor time of all nodes for each delta, in microseconds."""
    database_us: float
    commits_per_second: float
    wal_bytes: float
    """Bytes of WAL for each delta."""
    event_wal_bytes: float
    """Bytes of WAL for each stored event."""
    page_images: int
    """Whole pages in the WAL, which PostgreSQL writes after a checkpoint."""
    lag_p50_ms: float | None
    lag_p99_ms: float | None
    session_kb: float
    """Memory of the nodes for each session, in KiB."""
    missed: int
    """Events that a reader did not get in their order."""
    silent: int
    """Readers that got nothing: on a machine that is too busy, the first answer comes after the end."""

    @property
    def total_us(self) -> float:
        return self.node_us + self.database_us


@dataclass(frozen=True)
class _Sample:
    moment: float
    nodes: float
    database: float
    commits: int
    wal: int
    page_images: int
    events: int


def _process_seconds(pid: int, *, with_ended: bool = False) -> float:
    """The processor time of a process, also that of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(field) for field in fields[11 : 15 if with_ended else 13]) / _TICK


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().partition("PPid:")[2].split()[0])


def _database_seconds(postmaster: int) -> float:
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return _process_seconds(postmaster, with_ended=True) + sum(_process_seconds(int(pid)) for pid in children)


class GrowthDatabase:
    """The database of one cell, and what PostgreSQL has counted in it."""

    def __init__(self, url: str, name: str) -> None:
        self._server_url = url
        self._name = name
        self.url = url.removesuffix("/postgres") + f"/{name}"
        self._postmaster = 0
        self.nats_pid = 0
        self._counts: Any = None  # a connection to the server's own database, which is not counted
        self._cell: Any = None

    async def open(self) -> None:
        asyncpg: Any = import_module("asyncpg")
        self._counts = await asyncpg.connect(self._server_url)
        await self._counts.execute(f"CREATE DATABASE {self._name}")
        self._cell = await asyncpg.connect(self.url)
        self._postmaster = _parent(await self._counts.fetchval("SELECT pg_backend_pid()"))

    async def close(self) -> None:
        await self._cell.close()
        await self._counts.execute(f"DROP DATABASE {self._name} WITH (FORCE)")
        await self._counts.close()

    async def sample(self, nodes: Sequence[ChaosNode]) -> _Sample:
        events = await self._cell.fetchval("SELECT coalesce(sum(last_seq), 0)::bigint FROM sessions")
        counts = await self._counts.fetchrow(
            "SELECT xact_commit, (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint, (SELECT wal_fpi FROM pg_stat_wal)"
            " FROM pg_stat_database WHERE datname = $1",
            self._name,
        )
        return _Sample(
            time(),
            sum(node.cpu_seconds() for node in nodes),
            _database_seconds(self._postmaster) + (_process_seconds(self.nats_pid) if self.nats_pid else 0.0),
            counts[0],
            counts[1],
            counts[2],
            events,
        )


class GrowthRun:
    """Measures cells, one after the other, on one PostgreSQL."""

    def __init__(self, options: argparse.Namespace, server: PostgresServer) -> None:
        self._options = options
        self._server = server
        self._count = 0

    async def measure(
        self, version: str, source: Path, nodes: int, agents: int, nats: NatsServer | None = None
    ) -> GrowthCell:
        self._count += 1
        options = self._options
        database = GrowthDatabase(self._server.url, f"cell_{self._count}")
        models = [self._start_model()]
        port = int(models[0].stdout.readline())  # pyright: ignore[reportOptionalMemberAccess]
        models += [self._start_model(port) for _ in range((agents - 1) // _AGENTS_PER_PROCESS)]
        await database.open()
        command = node_command(database.url)
        if nats is not None:
            command += f" --news {nats.url}"
            database.nats_pid = nats.pid
        members = [
            ChaosNode(f"n{number}", command, f"http://127.0.0.1:{port}/v1", options.log) for number in range(nodes)
        ]
        loads: list[subprocess.Popen[bytes]] = []
        os.environ["PYTHONPATH"] = _python_path(source)
        try:
            for node in members:
                node.start()
            for node in members:
                await node.wait_ready()
            idle_memory = sum(node.memory_bytes() for node in members)
            begin = time() + options.warm + options.length + agents * 0.03
            end = begin + options.seconds
            loads = self._start_loads(members, agents, begin, end)
            await asyncio.sleep(begin - time())
            first = await database.sample(members)
            await asyncio.sleep(end - 0.2 - time())
            last = await database.sample(members)
            memory = sum(node.memory_bytes() for node in members) - idle_memory
            outputs = [await asyncio.to_thread(load.communicate, None, 60) for load in loads]
        finally:
            for node in members:
                node.kill()
            for process in (*models, *loads):
                process.kill()
                process.wait()
            await database.close()
        return _cell(version, nodes, agents, first, last, memory, [json.loads(output) for output, _ in outputs])

    def _start_model(self, port: int = 0) -> subprocess.Popen[bytes]:
        pieces = int(self._options.rate * self._options.length)
        arguments = [sys.executable, "-m", "benchmarks.nodes.growth_model", str(port), str(pieces)]
        return subprocess.Popen([*arguments, str(self._options.rate)], stdout=subprocess.PIPE, cwd=REPOSITORY)

    def _start_loads(
        self, nodes: Sequence[ChaosNode], agents: int, begin: float, end: float
    ) -> list[subprocess.Popen[bytes]]:
        step = (agents - 1) // _AGENTS_PER_PROCESS + 1
        common = ["--urls", *(node.url for node in nodes), "--step", str(step), "--agents", str(agents)]
        times = ["--begin", str(begin), "--end", str(end), "--length", str(self._options.length)]
        times += ["--near"] if self._options.near else []
        return [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.nodes.growth_load", "--first", str(first), *common, *times],
                stdout=subprocess.PIPE,
                cwd=REPOSITORY,
            )
            for first in range(step)
        ]


def _cell(
    version: str, nodes: int, agents: int, first: _Sample, last: _Sample, memory: int, outputs: list[Any]
) -> GrowthCell:
    seconds, events = last.moment - first.moment, max(last.events - first.events, 1)
    lags = sorted(lag for output in outputs for lag in output["lags"])
    deltas = max(len(lags), 1)
    return GrowthCell(
        version=version,
        nodes=nodes,
        agents=agents,
        deltas_per_second=round(deltas / seconds, 1),
        events_per_second=round(events / seconds, 1),
        node_us=round((last.nodes - first.nodes) / deltas * 1e6, 1),
        database_us=round((last.database - first.database) / deltas * 1e6, 1),
        commits_per_second=round((last.commits - first.commits) / seconds, 1),
        wal_bytes=round((last.wal - first.wal) / deltas, 1),
        event_wal_bytes=round((last.wal - first.wal) / events, 1),
        page_images=last.page_images - first.page_images,
        lag_p50_ms=percentile(lags, 50, 1000),
        lag_p99_ms=percentile(lags, 99, 1000),
        session_kb=round(memory / agents / 1024, 1),
        missed=sum(output["missed"] for output in outputs),
        silent=sum(output["silent"] for output in outputs),
    )


def _python_path(source: Path) -> str:
    return os.pathsep.join(str(folder) for folder in sorted((source / "packages").glob("*/src")))


@dataclass(frozen=True)
class GrowthFit:
    """Processor seconds a second = `per_delta` x deltas a second + `per_node` x nodes."""

    per_delta_us: float
    per_node_ms: float


def fit(cells: Sequence[GrowthCell], seconds: Sequence[float]) -> GrowthFit:
    """Fit processor seconds a second to deltas a second and nodes, by least squares."""
    points = [(cell.deltas_per_second, float(cell.nodes), used) for cell, used in zip(cells, seconds, strict=True)]
    dd = sum(deltas * deltas for deltas, _, _ in points)
    dn = sum(deltas * nodes for deltas, nodes, _ in points)
    nn = sum(nodes * nodes for _, nodes, _ in points)
    du = sum(deltas * used for deltas, _, used in points)
    nu = sum(nodes * used for _, nodes, used in points)
    determinant = dd * nn - dn * dn
    if abs(determinant) < 1e-9 * dd * nn:
        return GrowthFit(round(du / dd * 1e6, 1), 0.0)
    per_delta, per_node = (du * nn - nu * dn) / determinant, (dd * nu - dn * du) / determinant
    return GrowthFit(round(per_delta * 1e6, 1), round(per_node * 1000, 1))


def fit_version(cells: Sequence[GrowthCell]) -> dict[str, GrowthFit]:
    """The fits of one version, for the nodes and for the database."""
    return {
        "nodes": fit(cells, [cell.node_us * cell.deltas_per_second / 1e6 for cell in cells]),
        "database": fit(cells, [cell.database_us * cell.deltas_per_second / 1e6 for cell in cells]),
    }


_HEAD = (
    "version nodes agents deltas/s events/s  nodes us  db us  total us  commits/s  WAL B  (event)"
    "  lag p50/p99  KiB/session"
)


def _line(cell: GrowthCell) -> str:
    missed = (f"  {cell.missed} MISSED" if cell.missed else "") + (f"  {cell.silent} silent" if cell.silent else "")
    lag = f"{cell.lag_p50_ms or 0:.0f}/{cell.lag_p99_ms or 0:.0f}"
    return (
        f"{cell.version:8} {cell.nodes:4} {cell.agents:6} {cell.deltas_per_second:8.0f} {cell.events_per_second:8.0f}"
        f" {cell.node_us:9.0f} {cell.database_us:6.0f} {cell.total_us:9.0f} {cell.commits_per_second:10.0f}"
        f" {cell.wal_bytes:6.0f} {cell.event_wal_bytes:8.0f} {lag:>12} {cell.session_kb:12.0f}{missed}"
    )


def _commit(source: Path) -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(source), *arguments], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + (", with uncommitted changes" if git("status", "--short") else "")


def _machine() -> dict[str, Any]:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 1),
    }


@contextmanager
def _running_nats(is_used: bool) -> Generator[NatsServer | None]:
    program = find_nats() if is_used else None
    if program is None:
        yield None
        return
    server = NatsServer(program)
    server.start()
    try:
        yield server
    finally:
        server.stop()


async def _measure_all(options: argparse.Namespace, server: PostgresServer) -> list[GrowthCell]:
    versions = {"before": options.before} if options.before else {}
    versions["now"] = REPOSITORY
    if options.nats:
        versions["NATS"] = REPOSITORY
    run = GrowthRun(options, server)
    cells: list[GrowthCell] = []
    print(_HEAD, flush=True)
    for agents in options.agents:
        for nodes in options.nodes:
            for version, source in versions.items():
                try:
                    with _running_nats(version == "NATS") as nats:
                        cell = await run.measure(version, source, nodes, agents, nats)
                except Exception as error:
                    print(f"{version:8} {nodes:5} {agents:6}  failed: {error}", flush=True)
                    continue
                cells.append(cell)
                print(_line(cell), flush=True)
                _store(options, cells)
    return cells


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 agents for 6 seconds, on 1 and 3 nodes")
    parser.add_argument("--before", type=Path, help="checkout of the version to compare with")
    parser.add_argument("--nats", action="store_true", help="also with news by NATS")
    parser.add_argument("--near", action="store_true", help="readers on the node that is asked, not on another one")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--agents", type=int, nargs="+", default=[10, 30, 100, 300])
    parser.add_argument("--rate", type=float, default=50.0, help="deltas a second and agent")
    parser.add_argument("--length", type=float, default=5.0, help="seconds of one answer")
    parser.add_argument("--seconds", type=float, default=15.0, help="duration of a measurement")
    parser.add_argument(
        "--warm",
        type=float,
        default=3.0,
        help="seconds after the first answers have begun, before anything is counted (default: %(default)s)",
    )
    parser.add_argument("--output", type=Path, help="file for the result, as JSON")
    parser.add_argument("--log", default="/dev/null", help="file for the output of the nodes")
    options = parser.parse_args()
    if options.quick:
        options.nodes, options.agents, options.seconds = [1, 3], [30], 6.0
    began = time()
    with running_postgres(fsync=True) as server:
        cells = asyncio.run(_measure_all(options, server))
    for version, parts in _fits(cells).items():
        for part, line in parts.items():
            print(f"{version}: {part} {line.per_delta_us:.0f} us a delta, {line.per_node_ms:.0f} ms a second and node")
    print(f"{time() - began:.0f} s, load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    return 1 if any(cell.missed for cell in cells if cell.version == "now") else 0


def _fits(cells: Sequence[GrowthCell]) -> dict[str, dict[str, GrowthFit]]:
    versions = dict.fromkeys(cell.version for cell in cells)
    return {version: fit_version([cell for cell in cells if cell.version == version]) for version in versions}


def _store(options: argparse.Namespace, cells: Sequence[GrowthCell]) -> None:
    """Write what was measured so far."""
    if options.output is None:
        return
    fits = _fits(cells)
    result = {
        "command": " ".join(["python -m benchmarks.nodes.growth", *_public_arguments(options)]),
        "commit": _commit(REPOSITORY),
        "before": _commit(options.before) if options.before else None,
        "machine": _machine(),
        "cells": [asdict(cell) for cell in cells],
        "fits": {version: {part: asdict(line) for part, line in parts.items()} for version, parts in fits.items()},
    }
    options.output.write_text(json.dumps(result, indent=1) + "\n")


def _public_arguments(options: argparse.Namespace) -> list[str]:
    """The arguments of the run, without paths."""
    arguments = ["--nodes", *map(str, options.nodes), "--agents", *map(str, options.agents)]
    arguments += ["--rate", f"{options.rate:g}", "--length", f"{options.length:g}", "--seconds", f"{options.seconds:g}"]
    arguments += ["--warm", f"{options.warm:g}"]
    arguments += [*(["--near"] if options.near else []), *(["--nats"] if options.nats else [])]
    return [*arguments, *(["--before", "CHECKOUT"] if options.before else [])]


if __name__ == "__main__":
    sys.exit(main())
