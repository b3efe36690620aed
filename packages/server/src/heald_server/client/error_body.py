"""The errors in the responses of a server."""

import ssl

from heald.core.json import JsonObject, as_object, loads
from heald.http1.errors import NoTls, UntrustedCertificate
from heald.http1.errors import Unreachable as NoConnection


def read_error(content: bytes) -> JsonObject:
    try:
        return as_object(as_object(loads(content)).get("error"))
    except ValueError:
        return {}


def read_error_code(content: bytes) -> str:
    code = read_error(content).get("code")
    return code if isinstance(code, str) else ""


def read_error_message(content: bytes) -> str:
    message = read_error(content).get("message")
    return message if isinstance(message, str) else ""


def describe_fault(error: Exception) -> str:
    """Describe a network error without the address and other details that it may hold."""
    match error:
        case UntrustedCertificate() | NoTls() | ssl.SSLError():
            return "its certificate cannot be trusted"
        case TimeoutError():
            return "no answer in time"
        case NoConnection() | OSError():
            return "no connection"
        case _:
            return "the connection broke"
