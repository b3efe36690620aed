"""Headers: what a request said, and what every answer says."""

from collections.abc import Iterable, Sequence

from starlette.types import Scope

RawHeaders = Sequence[tuple[bytes, bytes]]

SECURITY: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""On every answer that does not say otherwise."""


def values(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, as they were sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def only(scope: Scope, name: bytes) -> str | None:
    """The value of a header that may be there once. Sent twice it is as good as a lie: the value is then empty."""
    found = values(scope, name)
    if len(found) > 1:
        return ""
    return found[0] if found else None


def with_security(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    named = {name.lower() for name, _ in given}
    return [*given, *((name, value) for name, value in SECURITY if name not in named)]
