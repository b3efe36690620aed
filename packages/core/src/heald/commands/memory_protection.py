"""Protects the memory of this process, which holds keys and tokens, from other programs of the same user."""

import resource
import sys

_PR_SET_DUMPABLE = 4


def protect_memory() -> None:
    """Let no program of this user read the memory of this process, and write no core dump of it.

    Linux gives the files of the process in /proc to root, and refuses ptrace and `process_vm_readv`. Programs that it
    starts are not affected: a new program is dumpable again, and can raise its core limit.
    """
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
