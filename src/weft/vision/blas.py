"""Small products of matrices on one thread: OpenBLAS' threads wait for each other by spinning, which costs more than it
gains here and takes the processor from everybody else. Where another library multiplies nothing is changed.
"""

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_ENDS = ("", "64_")
_lock = threading.Lock()
_inside = [0, 0]
"""How many are in it, and how many threads there were before."""


@contextmanager
def one_thread() -> Generator[None]:
    """While any is in it, numpy multiplies on the thread that asks."""
    found = _library()
    if found is None:
        yield
        return
    count, limit = found
    with _lock:
        if not _inside[0]:
            _inside[1] = int(count())
            limit(1)
        _inside[0] += 1
    try:
        yield
    finally:
        with _lock:
            _inside[0] -= 1
            if not _inside[0]:
                limit(_inside[1])


@cache
def _library() -> tuple[Any, Any] | None:
    """The functions that tell and set the threads of the OpenBLAS in numpy's wheel."""
    for file in (Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"):
        try:
            library = ctypes.CDLL(str(file))
        except OSError:
            continue
        for start in ("scipy_openblas", "openblas"):
            for end in _ENDS:
                names = (f"{start}_get_num_threads{end}", f"{start}_set_num_threads{end}")
                if all(hasattr(library, name) for name in names):
                    return getattr(library, names[0]), getattr(library, names[1])
    return None
