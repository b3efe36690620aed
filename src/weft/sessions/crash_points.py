"""Named points at which a test can kill the process.

`WEFT_FAULT=append.before` in the environment kills the process, as `kill -9` would, when it first reaches that point;
`append.before:7` the seventh time. `WEFT_FAULT=count` only counts, in `passages`, how often each point is reached.
"""

import os
import signal
from collections import Counter

POINTS = (
    "lease.taken",  # the epoch has grown; nothing of the log has been read yet
    "recovery.before",  # the open exchange is known, its end is not stored yet
    "recovery.after",
    "append.before",  # a batch is about to be written
    "append.between",  # some of its events are written, the transaction is open
    "append.commit",  # all are written, the transaction is open
    "append.after",  # it is stored, and not delivered yet
    "release.after",  # live subscribers have it
    "tool.before",  # its start is stored, its body did not run
    "tool.after",  # its body has run, its result is not stored
)

passages: Counter[str] = Counter()

_name = ""
_at = 1


def arm(fault: str) -> None:
    """Set the fault, as the environment variable does. An empty one disarms."""
    global _name, _at
    name, _, number = fault.partition(":")
    if name not in ("", "count", *POINTS) or not (number or "1").isdecimal():
        raise ValueError(f"There is no fault {fault!r}; name one of {', '.join(POINTS)}, with :n for the n-th time.")
    _name, _at = name, int(number or 1)
    passages.clear()


def reach(point: str) -> None:
    """Count a point, and kill the process if it is armed for it."""
    if _name:
        _pass(point)


def _pass(point: str) -> None:
    passages[point] += 1
    if point == _name and passages[point] == _at:
        os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("WEFT_FAULT", ""))
