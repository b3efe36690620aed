"""Writes pages and pictures through tools."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from PIL import Image

from heald.core.json import JsonObject, as_object
from heald.core.messages import ToolDefinition
from heald.providers.scripted import ScriptedCall
from heald_local.page import Page
from heald_local.request import LocalRequest

MOST_TEXT = 2_400_000  # characters of all pictures together
MOST_FILES = 24  # more are written into the page, the smallest first
_SMALL = 24_000  # bytes of a PNG that stays as it is
_QUALITIES = (90, 75, 55, 35)


@dataclass(frozen=True, slots=True)
class PictureFiles:
    """Files to write beside a page, and the text that replaces each picture's path in it."""

    files: dict[str, str]
    places: dict[str, str]

    def with_prefix(self, prefix: str) -> "PictureFiles":
        """Return the same with paths that begin with the prefix instead of their folder."""
        paths = {path: prefix + path.rpartition("/")[2] for path in self.files}
        places = {path: paths.get(place, place) for path, place in self.places.items()}
        return PictureFiles({paths[path]: text for path, text in self.files.items()}, places)

    def fill(self, page: str) -> str:
        """Replace the paths of pictures in a page."""
        for path, place in self.places.items():
            page = page.replace(path, place)
        return page


def encode_as_files(assets: Mapping[str, bytes]) -> PictureFiles:
    """Encode each picture as an SVG file; if there are too many, put the smallest into the page."""
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
        files[name] = assets[path].decode() if path.endswith(".svg") else _svg(uri, *size)
    return PictureFiles(files, places)


def embed_in_page(assets: Mapping[str, bytes]) -> PictureFiles:
    return PictureFiles({}, {path: uri for path, (uri, _) in _encoded(assets).items()})


def _svg(uri: str, width: int, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'preserveAspectRatio="none">\n  <image width="{width}" height="{height}" href="{uri}"/>\n</svg>\n'
    )


def _encoded(assets: Mapping[str, bytes]) -> dict[str, tuple[str, tuple[int, int]]]:
    """Encode each picture as a data URI with its size, at the best quality at which all fit."""
    encoded: dict[str, tuple[str, tuple[int, int]]] = {}
    for quality in _QUALITIES:
        encoded = {
            path: _vector_uri(data) if path.endswith(".svg") else _uri(data, quality) for path, data in assets.items()
        }
        if sum(len(uri) for uri, _ in encoded.values()) <= MOST_TEXT:
            break
    return encoded


def _vector_uri(data: bytes) -> tuple[str, tuple[int, int]]:
    return f"data:image/svg+xml;base64,{base64.b64encode(data).decode()}", (0, 0)


def _uri(data: bytes, quality: int) -> tuple[str, tuple[int, int]]:
    with Image.open(io.BytesIO(data), formats=("PNG",)) as picture:
        size = picture.size
        if len(data) <= _SMALL:
            return f"data:image/png;base64,{base64.b64encode(data).decode()}", size
        out = io.BytesIO()
        picture.save(out, "WEBP", quality=quality, method=2)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}", size


_MOST_EDITS = 150

Span = tuple[int, int, int, int]  # first line and the line after the last, in the old text, then in the new one


def edits_between(old: str, new: str) -> list[JsonObject]:
    """Compute edits that turn one text into another, in order. Each old text is whole lines and occurs once."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    spans = [(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    if len(spans) > _MOST_EDITS:
        spans = [(spans[0][0], spans[-1][1], spans[0][2], spans[-1][3])]
    edits: list[JsonObject] = []
    while spans:
        start, end, new_start, new_end = _unique_span(before, spans)
        edits.append({"old_text": "".join(before[start:end]), "new_text": "".join(after[new_start:new_end])})
        before[start:end] = after[new_start:new_end]
        grown = (new_end - new_start) - (end - start)
        spans = [(a + grown, b + grown, c, d) for a, b, c, d in spans]
    return edits


def _unique_span(before: list[str], spans: list[Span]) -> Span:
    """Pop the first span, and widen it by lines until its text occurs once. The next span may join it."""
    text = "".join(before)
    start, end, new_start, new_end = spans.pop(0)
    while True:
        part = "".join(before[start:end])
        if part and text.find(part) == text.rfind(part):
            return start, end, new_start, new_end
        if start > 0:
            start, new_start = start - 1, new_start - 1
        if spans and spans[0][0] <= end:
            _, end, _, new_end = spans.pop(0)
        elif end < len(before):
            end, new_end = end + 1, new_end + 1
        elif start == 0:
            return start, end, new_start, new_end


TOOL = "extract_assets"
_MOST_CROPS = 40  # pictures of one call


def extract_calls(request: LocalRequest, page: Page) -> list[ScriptedCall]:
    """Make the calls with which the tool cuts out all pictures; none without pictures, or if it accepts no boxes."""
    tool = next((candidate for candidate in request.tools if candidate.name == TOOL), None)
    if tool is None or not page.assets or request.calls_of(TOOL) or request.stack == "svg" or not _accepts_boxes(tool):
        return []
    detection = page.detection
    crops: list[JsonObject] = []
    for picture in (candidate for candidate in detection.pictures if not candidate.vector):
        x, y = int(picture.rect.x), int(picture.rect.y)
        box = (x, y, max(round(picture.rect.right) - x, 1), max(round(picture.rect.bottom) - y, 1))
        crops.append({"name": picture.name, "box": [side * detection.ratio for side in box]})
    chunks = [crops[at : at + _MOST_CROPS] for at in range(0, len(crops), _MOST_CROPS)]
    return [ScriptedCall(TOOL, {"assets": chunk, "seen_width": detection.width * detection.ratio}) for chunk in chunks]


def extracted_paths(request: LocalRequest, page: Page) -> set[str]:
    """Return the pictures that the tool has saved."""
    results = "\n".join(finished.result.text for finished in request.calls_of(TOOL) if finished.ok)
    return {path for path, _ in page.assets if path in results}


def _accepts_boxes(tool: ToolDefinition) -> bool:
    schema = tool.input_schema
    arguments = as_object(schema.get("properties"))
    assets = as_object(arguments.get("assets"))
    options: list[Any] = [assets, *(assets.get("anyOf") or [])]
    lists = [as_object(option) for option in options if as_object(option).get("type") == "array"]
    item = as_object(lists[0].get("items")) if lists else assets
    if isinstance(reference := item.get("$ref"), str):
        item = as_object(as_object(schema.get("$defs")).get(reference.rpartition("/")[2]))
    return "seen_width" in arguments and {"name", "box"} <= as_object(item.get("properties")).keys()
