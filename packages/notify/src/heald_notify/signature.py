"""Signatures of Standard Webhooks 1.0.0: HMAC-SHA256 over the id, the time of the attempt and the body."""

import base64
import hmac
import secrets
from collections.abc import Sequence

from heald.core.errors import ConfigurationError

PREFIX = "whsec_"
_MIN_BYTES, _MAX_BYTES, _NEW_BYTES = 24, 64, 32


def new_secret() -> str:
    """Return a new secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_NEW_BYTES)).decode()


def parse_secret(secret: str) -> bytes:
    """Return the key of a secret. Raises ConfigurationError if it is not one of Standard Webhooks."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        key = b""
    if not _MIN_BYTES <= len(key) <= _MAX_BYTES:
        raise ConfigurationError(
            f"The secret is not valid: write {PREFIX} and {_MIN_BYTES} to {_MAX_BYTES} random bytes in base64, or "
            "leave it out to get a new one."
        )
    return key


def mask_secret(secret: str) -> str:
    """Return a secret for lists: its last four characters."""
    return f"…{secret[-4:]}" if secret else ""


def signature_headers(message: str, moment: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """Return the headers of an attempt at a time in seconds, signed with each of these secrets."""
    signed = f"{message}.{moment}.".encode() + body
    signatures = [base64.b64encode(hmac.digest(parse_secret(secret), signed, "sha256")).decode() for secret in keys]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }
