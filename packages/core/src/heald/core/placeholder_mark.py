"""The mark of an empty file or folder that protects a name of a workspace while a command runs: its sticky bit."""

import os
import stat

PLACEHOLDER_MARK = stat.S_ISVTX


def has_placeholder_mark(status: os.stat_result) -> bool:
    """Return whether a file is empty and has the mark, or a folder has it."""
    if not status.st_mode & PLACEHOLDER_MARK:
        return False
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_size == 0)


def is_there(path: str) -> bool:
    """Return whether a path exists, and not as a placeholder."""
    try:
        return not has_placeholder_mark(os.lstat(path))
    except OSError:
        return False
