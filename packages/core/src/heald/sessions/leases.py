"""Leases: the right to write one session, and how a dead holder is recognised."""

import os
import socket
from functools import cache
from pathlib import Path

import msgspec

from heald.core.ids import new_id

LEASE_SECONDS = 30.0
"""The duration of a lease that is not renewed."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to write one session."""

    session: str
    epoch: int
    holder: str
    expires: float


class Holder(msgspec.Struct, frozen=True):
    """A writing process, in a form that other processes can recognise."""

    host: str
    pid: int
    started: str
    """The start time of the process in the units of the system; empty if it is not known."""
    nonce: str

    def __str__(self) -> str:
        return f"{self.host}/{self.pid}/{self.started}/{self.nonce}"


def new_holder() -> str:
    """Return a unique name for a writer in this process."""
    return str(Holder(_host(), os.getpid(), _own_start(os.getpid()), new_id("w")))


@cache
def _host() -> str:
    """Return a name of the machine since its start, and of the namespace that process ids belong to. Two containers may
    share a host name and have processes of the same id."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{socket.gethostname()}~{boot[:8]}~{namespace.strip('pid:[]')}".replace("/", "_")


_dead_holders: set[str] = set()


def mark_dead(holder: str) -> None:
    """Mark a holder that stopped writing without releasing its lease, so that this process can acquire it at once."""
    _dead_holders.add(holder)


def is_marked_dead(holder: str) -> bool:
    return holder in _dead_holders


def is_free(holder: str, expires: float, now: float) -> bool:
    """Return whether a lease may be acquired from its holder."""
    return not holder or expires <= now or holder in _dead_holders or _is_dead(holder)


def is_abandoned(holder: str, expires: float, updated: float, now: float) -> bool:
    """Return whether a draft will not be finished. A new draft without a holder may still get one."""
    return is_free(holder, expires, now) if holder else updated <= now - LEASE_SECONDS


def _is_dead(holder: str) -> bool:
    host, _, rest = holder.partition("/")
    pid, _, rest = rest.partition("/")
    started = rest.partition("/")[0]
    if host != _host() or not pid.isdecimal() or int(pid) < 1:
        return False
    if int(pid) == os.getpid():
        return started != _own_start(os.getpid())
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return started != _process_start(int(pid))


@cache
def _own_start(pid: int) -> str:
    """The start time of this process; it does not change."""
    return _process_start(pid)


def _process_start(pid: int) -> str:
    """Read the start time from /proc. A zombie process has none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
