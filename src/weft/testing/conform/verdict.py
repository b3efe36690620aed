"""What a check says: one outcome, what was seen, and what would be right."""

from dataclasses import dataclass
from typing import Literal

from weft.wires.faults import mask

Outcome = Literal["ok", "wrong", "skipped"]

_SHOWN = 100


@dataclass(frozen=True)
class Finding:
    """What a judge saw. `case` names the conformance case where it is not the check's own."""

    outcome: Outcome
    seen: str
    case: str = ""


@dataclass(frozen=True)
class Verdict:
    """A finding under the name of its check."""

    outcome: Outcome
    check: str
    seen: str
    right: str
    case: str = ""


def ok(seen: str) -> Finding:
    return Finding("ok", seen)


def wrong(seen: str, case: str = "") -> Finding:
    return Finding("wrong", seen, case)


def skipped(seen: str) -> Finding:
    return Finding("skipped", seen)


def printable(text: str) -> str:
    """Without what a terminal would obey or an encoding refuse."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def excerpt(text: str | bytes, shown: int = _SHOWN) -> str:
    """What a stranger sent, fit for one line of a terminal: short, printable, without keys."""
    if isinstance(text, bytes):
        text = text[: 8 * shown].decode("utf-8", "replace")
    line = printable(" ".join(mask(text[: 8 * shown]).split()))
    return line if len(line) <= shown else f"{line[: shown - 1]}…"


def quoted(text: str | bytes, shown: int = _SHOWN) -> str:
    return f"“{excerpt(text, shown)}”"
