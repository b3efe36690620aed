"""A row of `heald doctor`. Distributions return rows from the functions that they offer in the group `heald.checks`."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

import msgspec


class DoctorFinding(msgspec.Struct, frozen=True):
    """The outcome of one check. Heald works without what is missing, not with what is wrong."""

    name: str
    state: Literal["ok", "missing", "wrong", "skipped"]
    text: str
    fix: str = ""
    """How to get it, if it is missing or wrong."""


Findings = Iterable[DoctorFinding]
Check = Callable[[], "Findings | Awaitable[Findings]"]
"""A function of the group `heald.checks`."""
FROM_CHECKOUT = "From a checkout: make made; a wheel includes it."
"""How to get a file that a build makes."""


def ok(name: str, text: str) -> DoctorFinding:
    return DoctorFinding(name, "ok", text)


def missing(name: str, text: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(name, "missing", text, fix)


def wrong(name: str, text: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(name, "wrong", text, fix)
