"""The errors of the operating system, as path faults."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

from heald.tools.workspace.paths import PathFault, quote_path

ADVICE_TO_MODEL = " Try again, or tell the user."
"""Ends the message of a fault that the model cannot correct. People do not get it."""


@contextmanager
def as_path_faults(path: str) -> Generator[None]:
    """Convert an OSError to a PathFault of this path."""
    try:
        yield
    except OSError as error:
        raise to_path_fault(path, error) from None


def to_path_fault(path: str, error: OSError) -> PathFault:
    name = quote_path(path)
    match error.errno:
        case errno.ENOENT:
            return PathFault(f"{name} does not exist; list its folder to see what does.", "not_found")
        case errno.ENOTDIR:
            return PathFault(f"{name} needs a folder where there is a file; check the path.", "not_a_folder")
        case errno.EISDIR:
            return PathFault(f"{name} is a folder; name a file in it.", "is_a_folder")
        case errno.EXDEV:
            return PathFault(
                f"{name} leads out of the workspace through a link; such links are not followed.",
                "path_outside_workspace",
            )
        case errno.ELOOP:
            return PathFault(
                f"{name} is, or goes through, a link that cannot be followed; use the path it stands for.",
                "path_outside_workspace",
            )
        case errno.ENXIO | errno.ENODEV:
            return not_regular(path)
        case errno.ENAMETOOLONG:
            return PathFault(f"{name} is too long for this disk; shorten it.", "invalid_path")
        case errno.EEXIST:
            return PathFault(f"{name} exists already; read it, then edit it or choose another name.", "exists")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return PathFault(f"The system does not permit this on {name}; ask the user to allow it.", "not_permitted")
        case number:
            return PathFault(
                f"{name} could not be used: {os.strerror(number or errno.EIO)}.{ADVICE_TO_MODEL}",
                "io_error",
            )


def not_regular(path: str) -> PathFault:
    return PathFault(
        f"{quote_path(path)} is not a regular file but a pipe, socket or device; it is neither read nor written.",
        "not_a_regular_file",
    )
