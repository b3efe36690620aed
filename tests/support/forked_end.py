"""The end of a process that was forked from one that has loaded much.

Python clears all modules when it ends. In a fork that copies most of the memory that it shares with its host, which is
four fifths of the processor time of a short command.
"""

import atexit
import gc
import os
import sys
import threading


def end_process(code: int) -> int:
    """End as Python does, but do not clear the modules. Returns the code where Python has a failure to report."""
    threading._shutdown()  # type: ignore[attr-defined]  # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    gc.collect()  # warns of what was left open
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return code
    os._exit(code)


def exit_status(ended: SystemExit) -> int:
    """The exit status of a program. Raises what Python has to print."""
    if not isinstance(ended.code, int | None):
        raise ended
    return ended.code or 0
