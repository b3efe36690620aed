"""Named places at which a test can let the process die.

`WEFT_FAULT=append.before` in the environment kills the process, as `kill -9` would, the first time it comes to that
place; `append.before:7` the seventh time. Without the variable a place costs one comparison. `WEFT_FAULT=count` kills
nothing and counts: `passages` says how often each place was come to.
"""

import os
import signal
from collections import Counter

POINTS = (
    "lease.taken",  # the epoch has grown; nothing of the log has been read yet
    "recovery.before",  # what was left open is known, its end is not stored yet
    "recovery.after",
    "append.before",  # a batch is about to be written
    "append.between",  # some of its events are written, the transaction is open
    "append.commit",  # all are written, the transaction is open
    "append.after",  # it is stored, and nobody knows yet
    "release.after",  # live subscribers have it
    "tool.before",  # its start is stored, its body did not run
    "tool.after",  # its body has run, its result is not stored
)

passages: Counter[str] = Counter()

_name = ""
_at = 1


def arm(fault: str) -> None:
    """Set the fault as the environment would; an empty one sets none."""
    global _name, _at
    name, _, number = fault.partition(":")
    if name not in ("", "count", *POINTS) or not (number or "1").isdecimal():
        raise ValueError(f"There is no fault {fault!r}; name one of {', '.join(POINTS)}, with :n for the n-th time.")
    _name, _at = name, int(number or 1)
    passages.clear()


def reach(point: str) -> None:
    """The process has come to a place, and goes no further if that was asked for."""
    if _name:
        _pass(point)


def _pass(point: str) -> None:
    passages[point] += 1
    if point == _name and passages[point] == _at:
        os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("WEFT_FAULT", ""))
