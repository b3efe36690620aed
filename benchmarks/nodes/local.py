"""Runs the chaos driver against nodes on a PostgreSQL of its own, which crashes at the end.

python -m benchmarks.nodes.local --seconds 180
python -m benchmarks.nodes.local --seconds 180 --stall 4
"""

import sys
from functools import partial
from pathlib import Path
from time import sleep

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "support"))

from benchmarks.nodes import chaos
from postgres_server import PostgresServer, running_postgres


def node_command(store: str) -> str:
    """The command that starts a node, for the drivers of this folder."""
    start = f"{sys.executable} -m heald_cli.main serve --store '{store}' --node {{node}} --port {{port}}"
    return f"{start} --base-url {{model}} --model m --no-open --tools none --max-exchanges 1000"


def main() -> int:
    with running_postgres() as database:
        return chaos.main(node_command(database.url), lambda: _restart(database), partial(stall, database))


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


if __name__ == "__main__":
    sys.exit(main())
