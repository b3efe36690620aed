"""The table of `benchmarks.first_token`: how long a client waits for the first token, by row, with and without TLS."""

import asyncio
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from urllib.parse import urlsplit

from benchmarks.report import commit_name, machine
from benchmarks.served_figures import BASELINE
from benchmarks.served_path import CLIENTS, Client, measure
from benchmarks.server import Process, percentile, start_program
from benchmarks.server_worker import TOKEN

_MODEL = "bench-text-1"
_TOKEN_TEXT = b'"The"'
"""The text of the answer, as every dialect sends it."""
_LIMIT = 30.0
_WAITS_PER_LAG = 3
"""A lag takes half a second, so there are fewer of them than waits."""
_SETTLED = 0.3
"""Seconds until a stream has read the stored events."""


@dataclass(frozen=True)
class Wait:
    """How long clients of a row waited for the first token, in milliseconds."""

    row: str
    tls: bool
    """Whether the provider is behind TLS."""
    cold: float
    warm: float
    warm_p99: float
    lag: float
    """From the provider's first token to that of the client, warm."""


@dataclass(frozen=True)
class WaitTable:
    """The waits of all rows, and how they were measured."""

    command: str
    commit: str
    machine: str
    waits: Sequence[Wait]

    def as_markdown(self) -> str:
        """A row of the table for each row, with what it adds to the bare proxy."""
        lines = [
            "| row | provider | first request | later requests | p99 | above the proxy | after the provider's first |"
            " above the proxy |",
            "|---|---|---:|---:|---:|---:|---:|---:|",
        ]
        for wait in self.waits:
            proxy = next((other for other in self.waits if (other.row, other.tls) == (BASELINE, wait.tls)), None)
            above, lag_above = "–", "–"
            if proxy is not None:
                above, lag_above = f"{wait.warm - proxy.warm:+.1f} ms", f"{wait.lag - proxy.lag:+.1f} ms"
            lines.append(
                f"| {wait.row} | {'TLS' if wait.tls else 'plain'} | {wait.cold:.1f} ms | {wait.warm:.1f} ms | "
                f"{wait.warm_p99:.1f} ms | {above} | {wait.lag:.1f} ms | {lag_above} |"
            )
        return "\n".join([*lines, "", self.machine])

    def store(self, place: Path) -> None:
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")


def rows_of(parts: Sequence[str]) -> list[str]:
    """The proxy, and the rows of Heald with a store in a file; those alone whose names contain one of the texts."""
    rows = [row for row, client in CLIENTS.items() if client.server in ("proxy", "sqlite")]
    return [row for row in rows if not parts or any(part in row for part in parts)]


async def measure_table(rows: Sequence[str], *, cold: int, warm: int, command: str) -> WaitTable:
    """Measure all rows, one after the other in each round. A server process answers one round."""
    waits: list[Wait] = []
    with tempfile.TemporaryDirectory() as folder:
        for certificate in (None, make_certificate(Path(folder))):
            if certificate is None and waits:
                print("not measured: TLS (there is no openssl to make a certificate with)", file=sys.stderr)
                break
            waits += await _measure_provider(rows, certificate, cold, warm)
    return WaitTable(command, commit_name(), machine(), waits)


async def _measure_provider(rows: Sequence[str], certificate: Path | None, cold: int, warm: int) -> list[Wait]:
    first: dict[str, list[float]] = {row: [] for row in rows}
    later: dict[str, list[float]] = {row: [] for row in rows}
    lags: dict[str, list[float]] = {row: [] for row in rows}
    async with AsyncExitStack() as stack:
        program = ["benchmarks.mock_server", *(["--certificate", str(certificate)] if certificate else [])]
        provider = (await stack.enter_async_context(start_program(*program))).url
        if certificate is not None:
            os.environ["SSL_CERT_FILE"] = str(certificate)  # servers inherit it
            provider = f"https://localhost:{urlsplit(provider).port}"
        for number in range(cold):
            print(f"round {number + 1} of {cold}{' over TLS' if certificate else ''}", file=sys.stderr, flush=True)
            for row in rows:
                seconds, server_lags = await _measure_server(CLIENTS[row], provider, warm)
                first[row].append(seconds[0])
                later[row] += seconds[1:]
                lags[row] += server_lags
    return [
        Wait(
            row,
            certificate is not None,
            round(median(first[row]) * 1000, 3),
            round(median(later[row]) * 1000, 3),
            round(percentile(later[row], 0.99), 3),
            round(median(lags[row]) * 1000, 3),
        )
        for row in rows
    ]


async def _measure_server(client: Client, provider: str, warm: int) -> tuple[list[float], list[float]]:
    """Start a server and ask it one question after the other. Returns the seconds until each first token, and those
    that first tokens of a provider that answers later take to the client."""
    with tempfile.TemporaryDirectory() as folder:
        program = ["benchmarks.rival_servers", client.server, provider]
        if client.server == "sqlite":
            program = ["benchmarks.server_worker", "live", folder, provider]
        async with start_program(*program) as server:
            waits = [await _wait_for_token(client, server) for _ in range(warm + 1)]
            lags: list[float] = []
            for _ in range(max(warm // _WAITS_PER_LAG, 1)):
                lags += (await measure(client, server, agents=1, deltas=1))[0]
            return waits, lags


async def _wait_for_token(client: Client, server: Process) -> float:
    address = urlsplit(server.url)
    session = await server.session(_MODEL) if client.has_session else ""
    reader, answer = await asyncio.open_connection(address.hostname, address.port)
    _, question = await asyncio.open_connection(address.hostname, address.port)
    try:
        async with asyncio.timeout(_LIMIT):
            request = client.request(address.netloc, _MODEL, session)
            if client.has_session:  # its stream is open before the question
                answer.write(request)
                await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(_SETTLED)
            start = perf_counter()
            if client.has_session:
                question.write(_question(address.netloc, session))
            else:
                answer.write(request)
            await _read_until_token(reader)
            return perf_counter() - start
    finally:
        answer.close()
        question.close()


async def _read_until_token(reader: asyncio.StreamReader) -> None:
    received = b""
    while _TOKEN_TEXT not in received:
        data = await reader.read(65536)
        if not data:
            raise RuntimeError(f"the server closed the connection after {received[-300:]!r}")
        received += data


def _question(host: str, session: str) -> bytes:
    body = b'{"text": "Go."}'
    return (
        f"POST /sessions/{session}/messages HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def make_certificate(folder: Path) -> Path | None:
    """Make a certificate for this machine, in one file with its key. None if there is no openssl."""
    if shutil.which("openssl") is None:
        return None
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + key.read_text())
    ssl.create_default_context(cafile=str(certificate))  # it can be read
    return certificate
