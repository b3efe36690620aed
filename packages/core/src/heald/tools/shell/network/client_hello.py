"""Reads the server name that a TLS client asks for, from the first message that it sends (RFC 8446, RFC 6066)."""

from dataclasses import dataclass

MAX_HELLO = 64 * 1024
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D


class NotTls(Exception):
    """The bytes are not the beginning of a TLS connection."""


@dataclass(frozen=True, slots=True)
class ClientHello:
    """What a client says before the connection is encrypted."""

    server_name: str
    """Lower-case; empty if the client names none."""
    is_encrypted: bool = False
    """Whether the name that the server will use is in an encrypted part (ECH), so that it cannot be seen."""


def parse_client_hello(data: bytes) -> ClientHello | None:
    """Parse the first bytes of a connection. None: more bytes are needed. Raises NotTls."""
    message = _handshake_message(data)
    if message is None:
        return None
    try:
        return _read_hello(message)
    except (IndexError, UnicodeDecodeError):
        raise NotTls("the first TLS message is damaged") from None


def _handshake_message(data: bytes) -> bytes | None:
    """Join the records of the first handshake message and return its body, or None if it is incomplete."""
    joined, at = b"", 0
    while True:
        head = data[at : at + 5]
        if head and (head[0] != _HANDSHAKE or (len(head) > 1 and head[1] != 3)):
            raise NotTls("the connection is not encrypted with TLS")
        if len(head) < 5:
            return None
        size = int.from_bytes(head[3:5])
        if not 0 < size <= 16384 + 256:
            raise NotTls("the first TLS record is damaged")
        joined += data[at + 5 : at + 5 + size]
        if joined and joined[0] != _CLIENT_HELLO:
            raise NotTls("the connection does not begin with a TLS ClientHello")
        if len(joined) >= 4:
            length = int.from_bytes(joined[1:4])
            if length > MAX_HELLO:
                raise NotTls("the first TLS message is too long")
            if len(joined) >= 4 + length:
                return joined[4 : 4 + length]
        at += 5 + size
        if at > len(data):
            return None


class _Fields:
    """Reads fields of a message. Raises IndexError beyond its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def has_more(self) -> bool:
        return self._at < len(self._data)

    def read(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise IndexError
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.read(size))

    def vector(self, size: int) -> bytes:
        """A field that begins with its length, which has `size` bytes."""
        return self.read(self.number(size))


def _read_hello(message: bytes) -> ClientHello:
    fields = _Fields(message)
    fields.read(2 + 32)  # version, random
    fields.vector(1)  # session id
    fields.vector(2)  # cipher suites
    fields.vector(1)  # compression methods
    if not fields.has_more:
        return ClientHello("")
    extensions = _Fields(fields.vector(2))
    names: list[str] = []
    is_encrypted = False
    while extensions.has_more:
        kind, body = extensions.number(2), extensions.vector(2)
        is_encrypted = is_encrypted or kind == _ENCRYPTED_HELLO
        if kind == _SERVER_NAME:
            names += _server_names(body)
    if len(names) > 1:  # servers differ in which of them they take
        raise NotTls("the TLS client names several servers")
    return ClientHello(names[0] if names else "", is_encrypted)


def _server_names(body: bytes) -> list[str]:
    entries = _Fields(_Fields(body).vector(2))
    names: list[str] = []
    while entries.has_more:
        kind, name = entries.number(1), entries.vector(2)
        if kind == 0:
            names.append(name.decode("ascii").lower())
    return names
