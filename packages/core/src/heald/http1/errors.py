"""Network errors. No error quotes what a server sent: servers echo requests, and requests hold keys."""


class NetworkError(Exception):
    """The network failed, or the response was not HTTP."""

    def __init__(self, what: str = "", os_error: BaseException | None = None) -> None:
        super().__init__(what or str(os_error))
        self.os_error = os_error


class Unreachable(NetworkError):
    """No connection was made."""


class UntrustedCertificate(Unreachable):
    """The server's certificate is signed by an unknown authority, or belongs to another host."""


class NoTls(Unreachable):
    """The server does not speak TLS."""


class TlsRefused(NoTls):
    """The server speaks TLS and ended the handshake: with an alert, or by closing the connection."""


class ConnectTimeout(Unreachable, TimeoutError):
    """The connection was neither made nor refused in time."""


class ProxyError(Unreachable):
    """The proxy could not be reached, or refused with a status."""

    def __init__(self, what: str = "", os_error: BaseException | None = None, *, status: int | None = None) -> None:
        super().__init__(f"HTTP {status}" if status is not None else what, os_error)
        self.status = status


class NotHttp(NetworkError):
    """The head of the response cannot be parsed. A retry would have the same result."""


class ConnectionBroken(NetworkError):
    """The connection, or the framing of the body, broke."""


class CompressionBroken(ConnectionBroken):
    """The body cannot be decompressed."""
