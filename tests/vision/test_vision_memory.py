"""What was freed goes back to the system."""

import ctypes
from pathlib import Path

import pytest

from weft.vision.see import models

STATM = Path("/proc/self/statm")


def resident() -> int:
    return int(STATM.read_text().split()[1])


@pytest.mark.skipif(not STATM.exists() or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs glibc")
def test_what_is_free_is_handed_back() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    pieces = [libc.malloc(60_000) for _ in range(3000)]  # below the size that is handed back at once
    for piece in pieces:
        ctypes.memset(piece, 1, 60_000)
    pin = libc.malloc(60_000)  # what lies above the freed pieces keeps them from going by themselves
    for piece in pieces:
        libc.free(piece)
    before = resident()
    models.release_memory()
    assert resident() < before - 20_000
    libc.free(pin)


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> object:
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", missing)
    models._trim.cache_clear()  # pyright: ignore[reportPrivateUsage]
    models.release_memory()
    models._trim.cache_clear()  # pyright: ignore[reportPrivateUsage]
