"""The outcome of a check."""

from typing import Literal

import msgspec

Outcome = Literal["ok", "wrong", "skipped"]


class CheckFinding(msgspec.Struct, frozen=True):
    """The outcome of a judge. `case` names the conformance case if it is not the one of the check."""

    outcome: Outcome
    seen: str
    case: str = ""


def ok(seen: str) -> CheckFinding:
    return CheckFinding("ok", seen)


def wrong(seen: str, case: str = "") -> CheckFinding:
    return CheckFinding("wrong", seen, case)


def skipped(seen: str) -> CheckFinding:
    return CheckFinding("skipped", seen)
