"""Checks the parameters of paths and queries."""

from collections.abc import Sequence

from starlette.requests import Request

from heald_server.http.errors import ApiError


def check_parameters(request: Request, allowed: Sequence[str]) -> None:
    """Raise for a query parameter that does not exist."""
    unknown = next((name for name in request.query_params if name not in allowed), None)
    if unknown is not None:
        names = f"there are {', '.join(allowed)}" if allowed else "there are none"
        raise ApiError("invalid", f"There is no parameter {unknown[:40]!r} here; {names}.")


def check_text(name: str, value: str) -> str:
    """Text that can be stored and compared has no NUL and no unpaired surrogate."""
    if "\0" in value or (not value.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ApiError("invalid", f"The parameter {name[:40]!r} holds characters that no text has.")
    return value
