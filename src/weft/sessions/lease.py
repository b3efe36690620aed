"""Leases: who may write a session. The epoch grows with each, and whoever has an older one is fenced off.

A lease that ran out may be taken; so may one whose holder was a process of this machine that is gone, or one of this
process that let it go.
"""

import os
import socket
from pathlib import Path

import msgspec

from weft.core.ids import new_id

SECONDS = 30.0
"""How long a lease lasts that is not renewed."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to write one session."""

    session: str
    epoch: int
    holder: str
    expires: float


class Holder(msgspec.Struct, frozen=True):
    """A process that writes, as others can recognise it."""

    host: str
    pid: int
    started: str
    """When the process began, in the machine's own count; empty where the machine does not say."""
    nonce: str

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.started}/{self.nonce}"


def this_holder() -> str:
    """A name for a writer in this process, unlike any other."""
    return str(Holder(socket.gethostname().replace("/", "_"), os.getpid(), _started(os.getpid()), new_id("w")))


_let_go: set[str] = set()


def let_go(holder: str) -> None:
    """The holder writes no more, though its lease could not be given back: this process may take it at once."""
    _let_go.add(holder)


def is_free(holder: str, expires: float, now: float) -> bool:
    """Whether a lease may be taken from its holder."""
    return not holder or expires <= now or holder in _let_go or _is_gone(holder)


def is_abandoned(holder: str, expires: float, updated: float, now: float) -> bool:
    """Whether nobody will finish what a holder began. One that has none yet may be about to get it."""
    return is_free(holder, expires, now) if holder else updated <= now - SECONDS


def _is_gone(holder: str) -> bool:
    host, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started = rest.partition("/")[0]
    if host != socket.gethostname().replace("/", "_") or not pid.isdecimal() or int(pid) < 1:
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return started != _started(int(pid))


def _started(pid: int) -> str:
    """From Linux's /proc; a process that is dead and only waits for its parent has no start."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
