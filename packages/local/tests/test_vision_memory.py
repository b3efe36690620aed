"""What was freed goes back to the system."""

import ctypes
import os
from pathlib import Path

import pytest

from heald_local.see import memory
from heald_pictures import fonts

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
    memory.release_memory()
    assert resident() < before - 20_000
    libc.free(pin)


def test_elsewhere_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> object:
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", missing)
    memory._trim.cache_clear()  # pyright: ignore[reportPrivateUsage]
    memory.release_memory()
    memory._trim.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.skipif(
    not STATM.exists() or fonts.face("cjk").family != "cjk", reason="needs /proc and a font with Chinese letters"
)
def test_many_sizes_of_a_large_font_do_not_fill_the_memory() -> None:
    words = "在新的城市里开始生活需要时间我们为您准备了一切"
    fonts.face("cjk").draw(words, 11.0)
    before = resident()
    for step in range(60):
        fonts.face("cjk").draw(words, 12.0 + 0.41 * step)
    assert (resident() - before) * os.sysconf("SC_PAGE_SIZE") < 150_000_000
