"""Loads the known icons: their normal forms, and the shapes of single icons.

Both files are data of the `heald-local` distribution. `models/icons.jsonl` is made of the packages of the sets when it
is built, `icons.bin` is kept with it and has the normal form of each line: 16 levels of grey, compressed.
"""

import hashlib
import json
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from heald_local.see.icon_plates import SIDE, Cover, describe
from heald_local.see.models import DATA

SHAPES, FORMS = "models/icons.jsonl", "icons.bin"
DIGESTS = {
    SHAPES: "75141029211152233f56519e09f1d9e7788ca22b867bd53aa69ada31455f6f39",
    FORMS: "6241197150bad724ca2305bde4b55135e2ea7cce4adfa5fd753f55ff94867af9",
}
USUAL_WIDTHS = {"lucide": 2.0, "heroicons": 1.5}
GREYS, GREY_BITS = 15, 4  # levels of a normal form above white, and the bits of one
SMALLEST = 9  # the slowest compression
Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon of a set: its name there, its name in words, the side of its view, how it is painted, its shapes."""

    set: str
    name: str
    label: str
    view: int
    kind: str  # stroke, fill or both
    shapes: tuple[tuple[str, Attributes], ...]

    @property
    def width(self) -> float:
        """The usual width of its strokes, in units."""
        return USUAL_WIDTHS.get(self.set, 2.0) if self.kind != "fill" else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How much a drawing is like each icon."""

    values: NDArray[np.float32]

    def nearest(self, most: int, least: float, less: float) -> Iterator[int]:
        """Yield the icons that are most alike, the first one first, as long as they are not much less so than it."""
        least = max(least, float(self.values.max()) - less)
        first = np.argpartition(-self.values, most)[:most]
        for at in first[np.argsort(-self.values[first])]:
            if float(self.values[at]) >= least:
                yield int(at)


class IconSet:
    """All icons of the sets."""

    def __init__(self, lines: list[bytes], vectors: NDArray[np.float32]) -> None:
        self._lines, self._vectors = lines, vectors

    def compare(self, vector: NDArray[np.float32]) -> Likeness:
        """Compare the vector of a normal form with those of all icons."""
        return Likeness(np.einsum("ij,j->i", self._vectors, vector))  # on one core, unlike @

    def __len__(self) -> int:
        return len(self._lines)

    def icon(self, number: int) -> Icon:
        return read_icon(self._lines[number])


_loading = threading.Lock()


def find_icon_set() -> IconSet | None:
    """Return the known icons; None where they are not installed."""
    with _loading:
        return _load()


def forget_icon_set() -> None:
    """Clear the cache, so that the next use reads the files."""
    _load.cache_clear()


@cache
def _load() -> IconSet | None:
    shapes, forms = _read_file(SHAPES), _read_file(FORMS)
    if shapes is None or forms is None:
        return None
    lines = shapes.splitlines()
    covers = unpack_forms(forms)
    return IconSet(lines, describe(covers)) if len(lines) == len(covers) else None


def _read_file(name: str) -> bytes | None:
    """Return a file of the distribution; None if it is missing or not the one that belongs to this version."""
    file = DATA / name
    data = file.read_bytes() if file.is_file() else b""
    return data if hashlib.sha256(data).hexdigest() == DIGESTS[name] else None


def pack_forms(covers: NDArray[np.float32]) -> bytes:
    """Encode normal forms: two pixels in a byte, all compressed."""
    levels = np.clip(covers.reshape(-1, 2) * GREYS + 1 / 2, 0, GREYS).astype(np.uint8)
    return zlib.compress((levels[:, 0] << GREY_BITS | levels[:, 1]).tobytes(), SMALLEST)


def unpack_forms(data: bytes) -> Cover:
    """Decode normal forms."""
    packed = np.frombuffer(zlib.decompress(data), np.uint8)
    levels = np.stack((packed >> GREY_BITS, packed & GREYS), axis=1)
    return (levels.astype(np.float32) / np.float32(GREYS)).reshape(-1, SIDE, SIDE).astype(np.float32)


def read_icon(line: bytes) -> Icon:
    """Decode a line of the shapes."""
    group, name, label, view, kind, shapes = json.loads(line)
    return Icon(group, name, label, view, kind, tuple((tag, tuple(attributes.items())) for tag, attributes in shapes))
