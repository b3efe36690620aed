"""Pictures as text, for tools that write text: an SVG file around each, or its bytes in the page itself.

A page with many photographs must still fit through events, so that large ones are compressed, all alike.
"""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image

MOST_TEXT = 2_400_000
"""Characters of all pictures together."""
MOST_FILES = 24
"""More are written into the page, the smallest first."""
_SMALL = 24_000
"""Bytes of a PNG that stays as it is."""
_QUALITIES = (90, 75, 55, 35)


@dataclass(frozen=True, slots=True)
class Carried:
    """How a page comes to its pictures: files to write beside it, and what stands in it instead of their paths."""

    files: dict[str, str]
    places: dict[str, str]

    def fill(self, page: str) -> str:
        """The page with the places of its pictures."""
        for path, place in self.places.items():
            page = page.replace(path, place)
        return page


def as_files(assets: Mapping[str, bytes]) -> Carried:
    """Each picture as an SVG file; the smallest in the page where there are too many."""
    encoded = _encoded(assets)
    largest = sorted(encoded, key=lambda path: -len(encoded[path][0]))[:MOST_FILES]
    files: dict[str, str] = {}
    places: dict[str, str] = {}
    for path, (uri, size) in encoded.items():
        if path not in largest:
            places[path] = uri
            continue
        name = f"{path.rpartition('.')[0]}.svg"
        places[path] = name
        files[name] = _svg(uri, *size)
    return Carried(files, places)


def as_text(assets: Mapping[str, bytes]) -> Carried:
    """All of them in the page."""
    return Carried({}, {path: uri for path, (uri, _) in _encoded(assets).items()})


def _svg(uri: str, width: int, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'preserveAspectRatio="none">\n  <image width="{width}" height="{height}" href="{uri}"/>\n</svg>\n'
    )


def _encoded(assets: Mapping[str, bytes]) -> dict[str, tuple[str, tuple[int, int]]]:
    """A data URI and the size of each, at the best quality at which all of them fit."""
    found: dict[str, tuple[str, tuple[int, int]]] = {}
    for quality in _QUALITIES:
        found = {path: _uri(data, quality) for path, data in assets.items()}
        if sum(len(uri) for uri, _ in found.values()) <= MOST_TEXT:
            break
    return found


def _uri(data: bytes, quality: int) -> tuple[str, tuple[int, int]]:
    with Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
        size = picture.size
        if len(data) <= _SMALL:
            return f"data:image/png;base64,{base64.b64encode(data).decode()}", size
        out = io.BytesIO()
        picture.save(out, "WEBP", quality=quality, method=2)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}", size
