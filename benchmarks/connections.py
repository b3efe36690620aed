"""What a connection to a provider costs over TLS: a new one, one that resumes a session, and HTTP/2 for many streams.

    python -m benchmarks.connections [--rounds 5] [--streams 1,10,50] [--deltas 100] [--json FILE]

The server is a process of its own on this machine. Rounds of all rows alternate; the figures are medians. HTTP/2 is the
package h2 with as little around it as possible: a whole client would cost more.
"""

import argparse
import asyncio
import json
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import h2.config
import h2.connection
import h2.events

from benchmarks.connection_server import DELTA
from benchmarks.first_token_table import make_certificate
from benchmarks.report import commit_name, machine
from benchmarks.server import start_program
from heald.http1.pool import ConnectionPool, get_once
from heald.http1.request import Origin, RequestTarget
from heald.http1.tls import ResumingContext

_PAUSE = 20
"""Milliseconds between two deltas of a stream."""


class Provider:
    """Where the server is, and the trust in its certificate."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.port = port
        self._certificate = certificate

    def trust(self, protocol: str = "http/1.1") -> ResumingContext:
        context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self._certificate)
        context.set_alpn_protocols([protocol])
        return context

    def target(self, deltas: int) -> RequestTarget:
        return RequestTarget(Origin("https", "localhost", self.port), f"/{deltas}/{_PAUSE}")


async def measure_new_connections(provider: Provider, count: int) -> dict[str, float]:
    """The milliseconds until the first delta on a new connection, with a whole handshake and with a resumed session."""
    resuming = provider.trust()
    waits: dict[str, list[float]] = {"whole handshake": [], "resumed session": []}
    for number in range(count + 1):
        for row, tls in (("whole handshake", provider.trust()), ("resumed session", resuming)):
            begin = time.perf_counter()
            async with get_once(provider.target(1), {}, tls=tls, connect_timeout=30) as reply:
                await reply.read()
                if number:  # the first one has nothing to resume
                    waits[row].append((time.perf_counter() - begin) * 1000)
                while await reply.read():
                    pass
    return {row: round(median(values), 2) for row, values in waits.items()}


class Http1Client:
    """Reads streams with the client of Heald, each on a connection of its own."""

    def __init__(self, provider: Provider, deltas: int) -> None:
        self._pool = ConnectionPool()
        self._tls = provider.trust()
        self._target = provider.target(deltas)
        self._size = deltas * len(DELTA)

    async def read(self, streams: int) -> list[float]:
        """Read streams at once. Returns the seconds until each first delta."""
        return await asyncio.gather(*(self._read(time.perf_counter()) for _ in range(streams)))

    async def _read(self, begin: float) -> float:
        head = self._target.encode_head("GET", {})
        reply = await self._pool.send(self._target.origin, head, b"", tls=self._tls, connect_timeout=30)
        size = len(await reply.read())
        first = time.perf_counter() - begin
        while data := await reply.read():
            size += len(data)
        assert size == self._size
        return first

    async def close(self) -> None:
        await self._pool.close()


class Http2Client:
    """Reads all streams on one connection of HTTP/2."""

    def __init__(self, provider: Provider, deltas: int) -> None:
        self._provider = provider
        self._path = provider.target(deltas).path
        self._size = deltas * len(DELTA)
        self._connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def read(self, streams: int) -> list[float]:
        begin = time.perf_counter()
        connection = self._connection
        if self._streams is None:
            tls = self._provider.trust("h2")
            self._streams = await asyncio.open_connection("localhost", self._provider.port, ssl=tls)
            connection.initiate_connection()
        reader, writer = self._streams
        for _ in range(streams):
            number = connection.get_next_available_stream_id()
            head = [(":method", "GET"), (":authority", "localhost"), (":scheme", "https"), (":path", self._path)]
            connection.send_headers(number, head, end_stream=True)
        writer.write(connection.data_to_send())
        first: dict[int, float] = {}
        size, open_streams = 0, streams
        while open_streams:
            for event in connection.receive_data(await reader.read(65536)):
                if isinstance(event, h2.events.DataReceived):
                    first.setdefault(event.stream_id, time.perf_counter() - begin)
                    size += len(event.data)
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    open_streams -= 1
            writer.write(connection.data_to_send())
        assert size == streams * self._size
        return list(first.values())

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()


ROWS: dict[str, Callable[[Provider, int], Http1Client | Http2Client]] = {
    "HTTP/1.1 (heald)": Http1Client,
    "HTTP/2 (h2)": Http2Client,
}


async def measure_streams(provider: Provider, streams: int, deltas: int, rounds: int) -> dict[str, dict[str, float]]:
    """The time until the last of the first streams has its first delta, and the CPU of the client for each delta of the
    second streams, on connections that are open."""
    cpu: dict[str, list[float]] = {row: [] for row in ROWS}
    waits: dict[str, list[float]] = {row: [] for row in ROWS}
    for _ in range(rounds):
        for row, make in ROWS.items():
            client = make(provider, deltas)
            waits[row].append(max(await client.read(streams)) * 1000)
            begin = time.process_time()
            await client.read(streams)
            cpu[row].append((time.process_time() - begin) / streams / deltas * 1e6)
            await client.close()
    return {row: {"cpu_us": round(median(cpu[row]), 1), "first_ms": round(median(waits[row]), 1)} for row in ROWS}


async def measure(arguments: argparse.Namespace) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder))
        if certificate is None:
            sys.exit("There is no openssl to make a certificate with; install it.")
        async with start_program("benchmarks.connection_server", str(certificate)) as server:
            provider = Provider(int(server.url.rpartition(":")[2]), certificate)
            new = await measure_new_connections(provider, arguments.rounds * 10)
            streams = {
                count: await measure_streams(provider, count, arguments.deltas, arguments.rounds)
                for count in arguments.streams
            }
    command = f"python -m benchmarks.connections {' '.join(sys.argv[1:])}".strip()
    return {"command": command, "commit": commit_name(), "machine": machine(), "new_ms": new, "streams": streams}


def print_tables(new: dict[str, float], streams: dict[int, dict[str, dict[str, float]]]) -> None:
    print("| a new connection | first delta after |\n|---|---:|")
    for row, wait in new.items():
        print(f"| {row} | {wait:.1f} ms |")
    print("\n| streams | row | CPU a delta | all have their first delta after |\n|---:|---|---:|---:|")
    for count, rows in streams.items():
        for row, figures in rows.items():
            print(f"| {count} | {row} | {figures['cpu_us']:.0f} µs | {figures['first_ms']:.0f} ms |")


def main(words: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.connections", description=__doc__)
    options.add_argument("--rounds", type=int, default=5, help="rounds of each row (default: %(default)s)")
    options.add_argument("--streams", default="1,10,50", help="streams at the same time (default: %(default)s)")
    options.add_argument("--deltas", type=int, default=100, help="deltas of each stream (default: %(default)s)")
    options.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = options.parse_args(words)
    arguments.streams = [int(count) for count in arguments.streams.split(",")]
    figures = asyncio.run(measure(arguments))
    print_tables(figures["new_ms"], figures["streams"])  # type: ignore[arg-type]
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
