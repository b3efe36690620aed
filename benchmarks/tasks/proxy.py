"""A proxy before an endpoint that counts requests and tokens, so that every agent is measured alike."""

import http.client
import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_USAGE = re.compile(rb'"(prompt_tokens|completion_tokens|input_tokens|output_tokens)"\s*:\s*(\d+)')
_SKIPPED = ("host", "content-length", "connection", "accept-encoding", "transfer-encoding")
_BYTES_PER_TOKEN = 3.5
_PATIENCE = 5.0  # seconds that a request which an agent has left may take to end


@dataclass
class Counts:
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


class CountingProxy:
    """Listens on a free port of the loopback and passes every request on."""

    def __init__(self, base_url: str, transcript: Path | None = None) -> None:
        self._target = urlsplit(base_url)
        self._transcript = transcript
        self.counts = Counts()
        self._open = 0  # requests that are being passed on
        self._changed = threading.Condition()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                proxy.forward(self, b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                proxy.forward(self, _ask_usage(body) if "completions" in self.path else body)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._target.path}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> Counts:
        """Return the counts so far and begin anew. A request counts a moment after its agent has the answer."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0, _PATIENCE)
            counts, self.counts = self.counts, Counts()
        return counts

    def forward(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        """Pass a request on, and count it."""
        with self._changed:
            self._open += 1
        try:
            self._exchange(handler, body)
        finally:
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def _exchange(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        kind = http.client.HTTPSConnection if self._target.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._target.hostname or "", self._target.port, timeout=1800)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in _SKIPPED}
        read, is_answered = b"", False
        try:
            connection.request(handler.command, handler.path, body or None, headers)
            answer = connection.getresponse()
            handler.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _SKIPPED:
                    handler.send_header(name, value)
            handler.send_header("connection", "close")
            handler.end_headers()
            is_answered = answer.status == 200
            while piece := answer.read1(65536):
                read += piece
                handler.wfile.write(piece)
                handler.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass  # an agent that stops an answer has had what came before
        finally:
            connection.close()
            handler.close_connection = True
        if body and is_answered and "completions" in handler.path:
            self._count(body, read)

    def _count(self, body: bytes, read: bytes) -> None:
        usage = {name.decode(): int(number) for name, number in _USAGE.findall(read)}
        if self._transcript is not None:
            with self._transcript.open("ab") as file:
                file.write(body + b"\n" + read + b"\n\n")
        self.counts.requests += 1
        self.counts.tokens_in += usage.get("prompt_tokens") or usage.get("input_tokens") or _estimate(body)
        self.counts.tokens_out += usage.get("completion_tokens") or usage.get("output_tokens") or _count_pieces(read)


def _ask_usage(body: bytes) -> bytes:
    """Let a streamed answer end with its usage, also for an agent that does not ask for it; where the server can do
    that, each piece has it, so that an answer that is stopped is counted too."""
    request = json.loads(body)
    if request.get("stream"):
        request["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
    return json.dumps(request).encode()


def _estimate(body: bytes) -> int:
    request = json.loads(body)
    return round(len(json.dumps([request.get("messages"), request.get("tools")])) / _BYTES_PER_TOKEN)


def _count_pieces(read: bytes) -> int:
    """The pieces of a stream that was stopped before its usage: about a token each."""
    return sum(b'"content":' in line for line in read.split(b"\n") if line.startswith(b"data:"))
