"""A loopback HTTP/1.1 server that speaks the four wires in streaming form and costs little.

The model's name chooses the scenario (see `scenarios`). Every response is built once and kept as bytes, one
HTTP chunk for each event; `paced` scenarios send their deltas at 50 a second (see `pacing`), all others go out
in one write. `GET /stats` tells what was received and how late the paced deltas were, since it was last asked.

    python -m benchmarks.mock_server [--port 8000]

It prints one line of JSON, `{"ready": true, "port": 8000}`, when it listens.
"""

import argparse
import asyncio
import json
import re
import ssl
import sys
from functools import cache
from typing import Protocol, cast

from benchmarks.earlier_exchanges import results_in
from benchmarks.pacing import Metronome, PacedStream
from benchmarks.scenarios import PROMPT, Call, Wire, scenario
from benchmarks.stamps import PLACEHOLDER
from benchmarks.streams import chat, gemini, messages, responses
from benchmarks.streams.stream import Stream

_PROMPT = json.dumps(PROMPT).encode()
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_MODEL = re.compile(rb'"model":\s*"([^"]+)"')
_GEMINI = re.compile(r"/v1(?:beta)?/models/([^/:]+):streamGenerateContent\?alt=sse")
_PATHS: dict[str, Wire] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}
_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
    b"Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_END = b"0\r\n\r\n"


class WireStreams(Protocol):
    """What a module of `streams` offers."""

    def text(self, model: str, deltas: tuple[str, ...]) -> Stream: ...
    def calls(self, model: str, calls: tuple[Call, ...]) -> Stream: ...
    def results(self, body: bytes, start: int = 0) -> int: ...


_STREAMS = cast(
    dict[Wire, WireStreams],
    {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini},
)


class BadRequestError(Exception):
    """The request names no wire, no model or no scenario, or lacks what was said before."""


class Stats:
    """What the server knows about itself."""

    def __init__(self, metronome: Metronome) -> None:
        self.requests = 0
        self.received = 0
        self._metronome = metronome

    def read_and_reset(self) -> bytes:
        """The figures since this was last asked."""
        late = sorted(self._metronome.late) or [0.0]
        figures = {
            "requests": self.requests,
            "received": self.received,
            "late": {"p50": late[len(late) // 2], "p99": late[len(late) * 99 // 100], "max": late[-1]},
        }
        self._metronome.late.clear()
        self.requests = self.received = 0
        return json.dumps(figures).encode()


class Connection(asyncio.Protocol):
    """One keep-alive connection: requests with a Content-Length in, chunked event streams out."""

    def __init__(self, metronome: Metronome, stats: Stats) -> None:
        self._metronome = metronome
        self._stats = stats
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._paced: PacedStream | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._paced is not None:
            self._metronome.remove(self._paced)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (request := self._next_request()) is not None:
            self._answer(*request)

    def _next_request(self) -> tuple[str, bytes] | None:
        """The target and body of the next whole request, or None while some of it is missing."""
        head_end = self._received.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        length = _LENGTH.search(self._received, 0, head_end)
        body_start = head_end + 4
        body_end = body_start + (int(length[1]) if length else 0)
        if len(self._received) < body_end:
            return None
        target = self._received[: self._received.find(b"\r\n")].split(b" ")[1].decode()
        body = bytes(self._received[body_start:body_end])
        del self._received[:body_end]
        return target, body

    def _answer(self, target: str, body: bytes) -> None:
        if target == "/stats":
            self._write(_plain(b"200 OK", self._stats.read_and_reset()))
            return
        self._stats.requests += 1
        self._stats.received += len(body)
        try:
            wire, model = _route(target, body)
            if scenario(model).kind == "paced":
                self._pace(wire, model)
                return
            self._write(_burst(wire, model, _results(wire, model, body)))
        except (BadRequestError, ValueError) as error:
            self._write(_refusal(str(error)))

    def _pace(self, wire: Wire, model: str) -> None:
        opening, deltas, closing = _paced(wire, model)
        self._write(opening)
        self._paced = PacedStream(deltas, closing, self._write)
        self._metronome.join(self._paced)

    def _write(self, content: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(content)


def _route(target: str, body: bytes) -> tuple[Wire, str]:
    gemini_model = _GEMINI.fullmatch(target)
    if gemini_model is not None:
        return "gemini", gemini_model[1]
    wire = _PATHS.get(target)
    if wire is None:
        raise BadRequestError(f"no wire at {target}")
    model = _MODEL.search(body)
    if model is None:
        raise BadRequestError("the request names no model")
    return wire, model[1].decode()


def _results(wire: Wire, model: str, body: bytes) -> int:
    """The tool results since the prompt. What was said before it must be there as well."""
    streams = _STREAMS[wire]
    since = streams.results(body, body.rfind(_PROMPT))
    before, expected = streams.results(body) - since, results_in(scenario(model).past)
    if before != expected:
        raise BadRequestError(f"the request holds {before} results of the past instead of {expected}")
    return since


@cache
def _stream(wire: Wire, model: str, results: int) -> Stream:
    load = scenario(model)
    calls = load.calls(results)
    return _STREAMS[wire].calls(model, calls) if calls else _STREAMS[wire].text(model, load.text)


@cache
def _burst(wire: Wire, model: str, results: int) -> bytes:
    return _HEAD + _chunked(_stream(wire, model, results).events) + _END


@cache
def _paced(wire: Wire, model: str) -> tuple[bytes, tuple[tuple[bytes, bytes], ...], bytes]:
    """The opening, the deltas cut where their time goes in, and the end."""
    if wire == "responses":
        raise BadRequestError("responses repeats its text at the end, which a paced text with its times in it cannot")
    stream = _STREAMS[wire].text(model, (PLACEHOLDER,) * scenario(model).size)
    cut = [_chunked((delta,)).partition(PLACEHOLDER.encode()) for delta in stream.deltas]
    return _HEAD + _chunked(stream.opening), tuple((a, b) for a, _, b in cut), _chunked(stream.closing) + _END


def _chunked(events: tuple[bytes, ...]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events)


def _refusal(message: str) -> bytes:
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return _plain(b"400 Bad Request", body)


def _plain(status: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


async def serve(port: int, *, until_eof: bool, certificate: str | None = None) -> None:
    """Listens until cancelled, or until standard input ends: no server outlives a killed benchmark."""
    loop = asyncio.get_running_loop()
    metronome = Metronome()
    stats = Stats(metronome)
    tls: ssl.SSLContext | None = None
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
    server = await loop.create_server(lambda: Connection(metronome, stats), "127.0.0.1", port, backlog=4096, ssl=tls)
    print(json.dumps({"ready": True, "port": server.sockets[0].getsockname()[1]}), flush=True)
    if until_eof:
        await loop.run_in_executor(None, sys.stdin.read)
        return
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description="A loopback server that speaks the four wires.")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (default: any free one)")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input ends")
    parser.add_argument("--certificate", metavar="FILE", help="speak TLS with this certificate and its key")
    options = parser.parse_args()
    asyncio.run(serve(options.port, until_eof=options.until_eof, certificate=options.certificate))


if __name__ == "__main__":
    main()
