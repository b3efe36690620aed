"""How the network fails. A fault says what happened; whoever asked says it to a person.

No fault quotes what a server sent: servers repeat what they were told, and that includes keys.
"""


class Fault(Exception):
    """The network failed, or what came over it was no HTTP."""

    def __init__(self, what: str = "", os_error: BaseException | None = None) -> None:
        super().__init__(what or str(os_error))
        self.os_error = os_error


class Unreachable(Fault):
    """There never was a connection."""


class Untrusted(Unreachable):
    """The server's certificate is signed by nobody we know, or belongs to another host."""


class NoTls(Unreachable):
    """The server does not speak TLS."""


class ConnectTimeout(Unreachable, TimeoutError):
    """The connection was neither made nor refused in time."""


class ProxyFault(Unreachable):
    """The proxy on the way could not be reached, or refused with a status."""

    def __init__(self, what: str = "", os_error: BaseException | None = None, *, status: int | None = None) -> None:
        super().__init__(f"HTTP {status}" if status is not None else what, os_error)
        self.status = status


class NotHttp(Fault):
    """The answer began in a way that cannot be read. Asking again would bring the same."""


class Broken(Fault):
    """The connection, or the framing of the answer's body, broke."""
