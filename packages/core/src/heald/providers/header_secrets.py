"""Secrets in the headers of a request, which are redacted from errors and recordings."""

from collections.abc import Mapping

MIN_SECRET = 8
"""Characters of the shortest secret. Local servers accept any word as a key."""
_NAME_PARTS = ("key", "secret", "token", "auth", "cookie", "password")


def find_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of headers that are named like a key, if they are long enough to be one."""
    named = (value for name, value in headers.items() if any(word in name.lower() for word in _NAME_PARTS))
    return tuple(value for value in named if len(value) >= MIN_SECRET)
