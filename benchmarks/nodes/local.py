"""Runs the chaos driver against nodes on a PostgreSQL of its own, which has a fault at the end.

python -m benchmarks.nodes.local --seconds 180
python -m benchmarks.nodes.local --seconds 180 --stall 4
python -m benchmarks.nodes.local --seconds 60 --database pgbouncer

| --database | the nodes use | the fault at the end |
|---|---|---|
| plain | one server | it crashes and is started |
| pgbouncer | a server through PgBouncer in transaction mode, with news by polling | both crash and are started |
| pgbouncer-direct | the same, with a direct address for news | both crash and are started |
| standby | a primary with a synchronous standby | the primary crashes, and the standby is promoted |
| small-disk | a server on a small disk | the disk is full for 10 s |
| tls | a server with TLS, with client certificates | it crashes, and is started with a new certificate |
| two | two servers with half of the sessions each | the second one crashes and is started |
"""

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import sleep

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "support"))

from benchmarks.nodes import chaos
from pgbouncer_server import PgBouncer, running_pgbouncer
from postgres_server import PostgresServer, running_postgres
from postgres_small_disk import SmallDiskServer, running_on_small_disk
from postgres_standby import running_pair
from postgres_tls import Authority, TlsServer, running_tls_postgres

_FULL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ChaosDatabase:
    """A database for the driver: its address, that of its news, its fault, and the server that a stall freezes."""

    url: str
    fault: Callable[[], object]
    server: PostgresServer
    news: str = ""


def node_command(store: str, news: str = "") -> str:
    """The command that starts a node, for the drivers of this folder."""
    start = f"{sys.executable} -m heald_cli.main serve --store '{store}' --node {{node}} --port {{port}}"
    options = f" --news '{news}'" if news else ""
    return f"{start}{options} --base-url {{model}} --model m --no-open --tools none --max-exchanges 1000"


@contextmanager
def running_database(kind: str) -> Generator[ChaosDatabase]:
    """A database of a kind, for the duration of the block."""
    match kind:
        case "pgbouncer" | "pgbouncer-direct":
            with running_postgres() as server, running_pgbouncer(server, sessions=20) as pooler:
                news = server.url if kind == "pgbouncer-direct" else ""
                yield ChaosDatabase(pooler.url, partial(_restart_both, pooler, server), server, news)
        case "standby":
            with running_pair() as pair:
                yield ChaosDatabase(pair.url, pair.take_over, pair.primary)
        case "small-disk":
            with running_on_small_disk() as server:
                yield ChaosDatabase(server.url, partial(_fill, server), server)
        case "tls":
            with running_tls_postgres(verifies_clients=True) as (server, authority):
                yield ChaosDatabase(_tls_url(server, authority), partial(_renew, server, authority), server)
        case "two":
            with running_postgres() as first, running_postgres() as second:
                yield ChaosDatabase(f"{first.url},{second.url}", partial(_restart, second), second)
        case _:
            with running_postgres() as server:
                yield ChaosDatabase(server.url, partial(_restart, server), server)


def main() -> int:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--database", default="plain", choices=KINDS)
    options, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    with running_database(options.database) as database:
        command = node_command(database.url, database.news)
        return chaos.main(command, database.fault, partial(stall, database.server))


KINDS = ("plain", "pgbouncer", "pgbouncer-direct", "standby", "small-disk", "tls", "two")


def stall(database: PostgresServer, seconds: float) -> None:
    """Freeze all processes of the database for some seconds."""
    database.freeze()
    try:
        sleep(seconds)
    finally:
        database.thaw()


def _restart(database: PostgresServer) -> None:
    database.stop(kill=True)
    database.start()


def _restart_both(pooler: PgBouncer, database: PostgresServer) -> None:
    pooler.stop()
    _restart(database)
    pooler.start()


def _fill(database: SmallDiskServer) -> None:
    database.fill()
    try:
        sleep(_FULL_SECONDS)
    finally:
        database.make_room()


def _renew(database: TlsServer, authority: Authority) -> None:
    database.stop(kill=True)
    database.renew(authority)
    database.start()


def _tls_url(database: TlsServer, authority: Authority) -> str:
    certificate, key = authority.sign("client", "heald")
    files = f"sslrootcert={authority.certificate}&sslcert={certificate}&sslkey={key}"
    return f"{database.url}?sslmode=verify-full&{files}"


if __name__ == "__main__":
    sys.exit(main())
