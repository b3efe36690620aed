"""Explains errors of the network: what failed, and what to do."""

import os
import socket
import ssl
from urllib.parse import urlsplit

from heald.core.errors import ConnectionFailed, MalformedResponse, ProviderError, ProviderTimeout
from heald.http1.errors import (
    ConnectTimeout,
    NotHttp,
    NoTls,
    ProxyError,
    TlsRefused,
    Unreachable,
    UntrustedCertificate,
)


def network_error(error: BaseException, url: str) -> ProviderError:
    """Convert a network error to a `ProviderError`: where, what, what to do."""
    where = f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
    match error:
        case TimeoutError():
            message = f"{where} did not answer in time; check the network, or raise the timeouts."
            return ProviderTimeout(message, reached=not isinstance(error, ConnectTimeout))
        case NotHttp():
            return MalformedResponse(
                f"The answer of {where} cannot be read: {error}; check that the address is that of an API."
            )
        case Unreachable():
            return ConnectionFailed(_why_unreachable(error, where), reached=False)
        case _:
            return ConnectionFailed(f"The connection to {where} broke ({describe_os_error(error)}); try again.")


def _why_unreachable(fault: Unreachable, where: str) -> str:
    reason = describe_os_error(fault)
    match fault:
        case UntrustedCertificate():
            return (
                f"The TLS certificate of {where} is not trusted ({reason}); "
                "set SSL_CERT_FILE to the certificate of your authority."
            )
        case TlsRefused():
            return (
                f"{where} refused the TLS connection ({reason}); it may want another TLS version, another host name "
                "or a client's certificate."
            )
        case NoTls():
            return f"{where} does not speak TLS as it should ({reason}); check that it is not a plain http address."
        case ProxyError(status=int() as status):
            return f"The proxy to {where} failed (HTTP {status}); check HTTPS_PROXY and what it lets through."
        case ProxyError():
            return f"The proxy to {where} failed ({reason}); check HTTPS_PROXY or ALL_PROXY."
        case _:
            return f"Cannot connect to {where} ({reason}); check the address and that the server runs."


def describe_os_error(error: BaseException) -> str:
    """Return the operating system's description of a failure."""
    cause = getattr(error, "os_error", None) or error
    number = None if isinstance(cause, ssl.SSLError) else getattr(cause, "errno", None)
    text = os.strerror(number) if isinstance(number, int) and number > 0 else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = cause.verify_message
    elif isinstance(cause, ssl.SSLError):
        text = (cause.reason or "").replace("_", " ").lower()
    elif isinstance(cause, socket.gaierror):
        text = cause.strerror
    return (str(text or cause) or type(error).__name__).strip(" .")[:200]
