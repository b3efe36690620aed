"""Things that no client should send: made from what one would, and from nothing. The same seed makes the same."""

import random
from collections.abc import Callable
from typing import Any

from heald.core.json import encode
from raw_bytes import frame

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1.5,
    2**63,
    -(2**70),
    1e308,
    "",
    " ",
    "\0",
    "now",
    "x" * 5000,
    "\u202e\u0000\ud800",
    "ses_" + "0" * 32,
    "../../etc/passwd",
    "'; DROP TABLE sessions; --",
    [],
    {},
    [[]] * 20,
    {"a": {"b": {}}},
    "﷽" * 200,
]
TYPES = ["subscribe", "unsubscribe", "send", "cancel", "approve", "deny", "answer", "ping", "auth", "config.apply", ""]
NAMES = [
    *("type", "session", "id", "resume", "text", "content", "client_request_id", "when_busy", "exchange", "approval"),
    *("digest", "always", "arguments", "reason", "question", "scopes", "dialect", "project", "__proto__"),
]


class Malformed:
    """Makes them."""

    def __init__(self, seed: str, sessions: list[str]) -> None:
        self.chance = random.Random(seed)
        self._sessions = sessions

    def message(self) -> bytes:
        """What may stand in a WebSocket message."""
        makers: list[Callable[[], bytes]] = [self._command, self._command, self._bent, self._noise, self._deep]
        return self.chance.choice(makers)()

    def frames(self) -> bytes:
        """Some bytes of a WebSocket, frames or not."""
        pick = self.chance.random()
        if pick < 0.75:
            return frame(self.chance.choice((1, 1, 1, 2)), self.message())
        if pick < 0.85:
            opcode, bits = self.chance.randrange(16), self.chance.choice((0, 0, 0x10, 0x20, 0x40))
            return frame(opcode, self._noise()[:200], fin=self.chance.random() < 0.7, bits=bits)
        if pick < 0.95:
            whole = frame(1, self.message())
            return whole[: self.chance.randrange(len(whole) + 1)]
        return self.chance.randbytes(self.chance.randrange(1, 300))

    def request(self, port: int, token: str) -> bytes:
        """Some bytes of a connection for HTTP."""
        pick = self.chance.random()
        if pick < 0.2:
            return self.chance.randbytes(self.chance.randrange(1, 400))
        whole = self._request(port, token)
        if pick < 0.5:
            return whole
        data = bytearray(whole)
        for _ in range(self.chance.randrange(1, 6)):
            at = self.chance.randrange(len(data))
            match self.chance.randrange(4):
                case 0:
                    data[at] = self.chance.randrange(256)
                case 1:
                    del data[at : at + self.chance.randrange(1, 9)]
                case 2:
                    data[at:at] = self.chance.choice((b"\r\n", b"\0", b":", b" ", b"\xff", b"\r\n\r\n", b"%00"))
                case _:
                    data[at:at] = data[at : at + 20]
            if not data:
                return b"\n"
        return bytes(data)

    def cursor(self) -> str:
        """What may stand where a cursor belongs, in a header."""
        session = self.chance.choice(self._sessions)
        cursors = [
            "0",
            "1",
            "-1",
            "now",
            "9" * 30,
            f"{session}-1-2",
            f"{session}-x-y",
            "ses_x-1-1",
            "1e3",
            "0x1",
            "٣",
            "²",
        ]
        odd = "".join(
            chr(self.chance.choice((*range(33, 127), *range(161, 255)))) for _ in range(self.chance.randrange(1, 40))
        )
        return self.chance.choice([*cursors, odd, "+1", "1 ", "-", "--", f"{session}-1-999999", "9" * 18, "00001"])

    # --- of what they are made ---------------------------------------------------------------------------------------

    def _command(self) -> bytes:
        command: dict[str, Any] = {"type": self.chance.choice(TYPES)}
        if self.chance.random() < 0.7:
            command["session"] = self.chance.choice(self._sessions)
        for _ in range(self.chance.randrange(4)):
            command[self.chance.choice(NAMES)] = self.chance.choice(ODD)
        return encode(command)

    def _bent(self) -> bytes:
        data = bytearray(self._command())
        for _ in range(self.chance.randrange(1, 5)):
            data[self.chance.randrange(len(data))] = self.chance.randrange(256)
        return bytes(data[: self.chance.randrange(1, len(data) + 1)])

    def _noise(self) -> bytes:
        return self.chance.randbytes(self.chance.randrange(300))

    def _deep(self) -> bytes:
        depth = self.chance.choice((10, 300, 5000, 20_000))
        return b'{"type":' * depth if self.chance.random() < 0.5 else b"[" * depth + b"]" * depth

    def _request(self, port: int, token: str) -> bytes:
        session = self.chance.choice(self._sessions)
        method = self.chance.choice(["GET", "GET", "POST", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "HEAD", "BREW"])
        if method == "DELETE":
            session = "ses_none"
        path = self.chance.choice(
            [
                *("/sessions", f"/sessions/{session}", f"/sessions/{session}/messages", f"/sessions/{session}/log"),
                *(f"/sessions/{session}/files/{self._name()}", f"/sessions/{session}/revisions/{self._name()}"),
                *(f"/sessions/{session}/blobs/{self._name()}", f"/sessions/{session}/cancel", "/api/chat", "/agui"),
                *("/v1/chat/completions", "/login", "/health", f"/assets/{self._name()}", f"/preview/{self._name()}/x"),
                *(f"/sessions/{session}/approvals/{self._name()}", f"/{self._name()}", "/projects", "/sessions/import"),
                *(f"/api/chat/{self._name()}/stream", "/openapi.json", "//", "/%2e%2e/", f"/sessions/{session}/rewind"),
            ]
        )
        query = self.chance.choice(["", "", "?after=%00", "?limit=-1", "?limit=1&limit=2", "?" + "a" * 3000, "?x[y]=1"])
        body = self.chance.choice([b"", b"{}", self._command(), self._noise(), self._deep(), self._chat()])
        lines = [f"{method} {path}{query} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token}"]
        lines += [f"Content-Type: {self.chance.choice(['application/json'] * 4 + ['image/png', 'text/plain'])}"]
        size = len(body) + self.chance.choice([0] * 8 + [1, -1, 10**9])
        lines += ["Transfer-Encoding: chunked"] if self.chance.random() < 0.05 else [f"Content-Length: {max(size, 0)}"]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body

    def _chat(self) -> bytes:
        part: Any = self.chance.choice(ODD)
        message: dict[str, Any] = {"role": self.chance.choice(["user", "assistant", "system", "tool", "x", part])}
        message[self.chance.choice(["content", "parts", "toolCalls", "tool_calls"])] = self.chance.choice(
            [part, [part]]
        )
        return encode({"messages": [message] * self.chance.randrange(3), "id": self.chance.choice(ODD), "stream": part})

    def _name(self) -> str:
        return self.chance.choice(
            ["x", "%00", "..%2f..%2fetc%2fpasswd", "%ff%fe", "a" * 300, "%ed%a0%80", ".", "a%0d%0ab"]
        )
