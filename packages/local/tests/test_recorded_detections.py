"""The whole detection of each fixture page, compared with a recording.

`HEALD_RECORD_DETECTIONS=1 pytest packages/local/tests/test_recorded_detections.py` records the pages anew. Places may
differ by a pixel and colours by a few levels, so that another version of a library does not need new recordings. What
depends on the installed fonts is compared only where the same fonts are installed. A page is not detected again while
nothing that its detection depends on has changed; with `HEALD_ALL_CHECKS` set, all are.
"""

import hashlib
import io
import json
import os
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from recorded_pages import DRAWN_WITH_FONTS, PICTURES, PREVIEWED

from heald_local.see.detect import detect_elements
from heald_local.see.models import available
from heald_pictures.colours import colour_distance
from heald_pictures.detector import Progress
from heald_pictures.elements import Box, Detection, PictureElement, TextElement
from heald_pictures.fonts import faces
from heald_pictures.rect import Rect
from passed_checks import PassedChecks, digest_files
from repository import ROOT

RECORDINGS = Path(__file__).parent / "recorded_detections"
RECORD = os.environ.get("HEALD_RECORD_DETECTIONS") == "1"
PAGES = PICTURES | DRAWN_WITH_FONTS
PIXELS = 1.0  # by which places, sizes and radii may differ
LEVELS = 3  # by which colours may differ
KINDS = ("boxes", "texts", "pictures", "preview")
FONT_KEYS = ("place", "family", "size", "weight", "align")  # of a text, which the installed fonts decide
Value = str | bool | float | list[float]
Element = dict[str, Value]

pytestmark = pytest.mark.skipif(not available(), reason="the models of heald[local] are not installed")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_detected_as_recorded(name: str) -> None:
    file = RECORDINGS / f"{name}.json"
    if name in DRAWN_WITH_FONTS and not RECORD and not _has_fonts(json.loads(file.read_text("utf-8"))):
        pytest.skip("the page is drawn with other fonts than those that are installed")
    digest = f"{name}-{_digest_inputs()}"
    passed = PassedChecks("detections")
    if digest in passed and not RECORD:
        pytest.skip("nothing has changed since the page was detected as recorded")
    previews: list[Detection] = []
    detection = _describe(detect_elements(PAGES[name](), lambda progress: previews.extend(_preview_of(progress))))
    if name in PREVIEWED:
        detection["preview"] = [_describe_box(box) for box in previews[0].boxes]
    if RECORD:
        file.write_text(_write(detection), "utf-8")
    recording = json.loads(file.read_text("utf-8"))
    ignored = () if _has_fonts(recording) else FONT_KEYS
    assert {key: detection[key] for key in ("page", "notes")} == {key: recording[key] for key in ("page", "notes")}
    for kind in (kind for kind in KINDS if kind in recording):
        missing, surplus = _compare(recording[kind], detection[kind], ignored if kind == "texts" else ())
        assert not missing, f"{kind} that were recorded and are not detected: {missing}; detected instead: {surplus}"
        assert not surplus, f"{kind} that are detected and were not recorded: {surplus}"
    if digest == f"{name}-{_digest_inputs.__wrapped__()}":  # nobody has edited it meanwhile
        passed.add(digest)


@cache
def _digest_inputs() -> str:
    """The digest of all that a detection depends on: sources, networks, drawings, recordings, libraries and fonts."""
    here = Path(__file__).parent
    folders = [ROOT / "packages" / name / "src" for name in ("local", "pictures")] + [RECORDINGS, here / "pictures"]
    files = {path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    drawings = {
        here / "recorded_pages.py",
        here / "vision_drawing.py",
        ROOT / "tests" / "support" / "sketch_drawing.py",
    }
    libraries = [f"{name} {version(name)}" for name in ("numpy", "onnxruntime", "pillow")]
    return digest_files({*files, *drawings, Path(__file__)}, sys.version, *libraries, _faces_digest())


def _preview_of(progress: Progress) -> list[Detection]:
    return [progress.detection] if progress.detection is not None else []


def _faces_digest() -> str:
    names = sorted(f"{face.family} {face.bold} {face.italic} {Path(face.path).name}" for face in faces())
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def _has_fonts(recording: dict[str, Any]) -> bool:
    return recording["faces"] == _faces_digest()


def _describe(detection: Detection) -> dict[str, Any]:
    page = {
        "size": [detection.width, detection.height],
        "ratio": detection.ratio,
        "lossy": detection.lossy,
        "background": detection.background,
        "source": detection.source,
    }
    return {
        "page": page,
        "notes": list(detection.notes),
        "boxes": [_describe_box(box) for box in detection.boxes],
        "texts": [_describe_text(text) for text in detection.texts],
        "pictures": [_describe_picture(picture) for picture in detection.pictures],
        "faces": _faces_digest(),
    }


def _place(rect: Rect) -> list[float]:
    return [round(edge, 1) for edge in (rect.x, rect.y, rect.w, rect.h)]


def _describe_box(box: Box) -> Element:
    element: Element = {"place": _place(box.rect), "fill": box.fill, "radius": round(box.radius, 1)}
    if box.border is not None:
        element |= {"border": list(box.border.widths), "border_colour": box.border.colour}
        element |= {"dashed": True} if box.border.dashed else {}
    if box.shadow is not None:
        element["shadow"] = [box.shadow.y, box.shadow.blur]
    if box.gradient is not None:
        element["gradient"] = [round(box.gradient.angle), len(box.gradient.steps)]
        element |= {"gradient_start": box.gradient.start, "gradient_end": box.gradient.end}
    if box.control is not None:
        element["control"] = f"{box.control.kind}{' on' if box.control.on else ''}"
    if box.image:
        element["image"] = box.image
    return element


def _describe_text(text: TextElement) -> Element:
    style = text.style
    return {
        "text": text.text,
        "lines": len(text.lines),
        "place": _place(text.rect),
        "family": style.family,
        "size": round(style.size, 1),
        "weight": style.weight,
        "colour": style.colour,
        "align": text.align,
    }


def _describe_picture(picture: PictureElement) -> Element:
    element: Element = {"place": _place(picture.rect), "kind": picture.kind, "shapes": len(picture.shapes)}
    named = {"icon": picture.icon, "label": picture.label, "colour": picture.colour}
    if picture.kind == "ground":  # its text is painted over
        with Image.open(io.BytesIO(picture.data)) as image:
            grey = np.asarray(image.convert("L"))
        element["levels"] = [float(grey.min()), float(grey.max())]
    return element | {key: value for key, value in named.items() if value}


def _compare(
    recorded: list[Element], detected: list[Element], ignored: tuple[str, ...]
) -> tuple[list[Element], list[Element]]:
    """Return the recorded elements without a detected one that is like them, and the detected ones that are left."""
    missing: list[Element] = []
    surplus = list(detected)
    for element in recorded:
        alike = next((other for other in surplus if _are_alike(element, other, ignored)), None)
        if alike is None:
            missing.append(element)
        else:
            surplus.remove(alike)
    return missing, surplus


def _are_alike(element: Element, other: Element, ignored: tuple[str, ...]) -> bool:
    return element.keys() == other.keys() and all(
        _is_near(value, other[key]) for key, value in element.items() if key not in ignored
    )


def _is_near(value: Value, other: Value) -> bool:
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_is_near, value, other))
    if isinstance(value, str) and isinstance(other, str):
        are_colours = value.startswith("#") and other.startswith("#")
        return colour_distance(value, other) <= LEVELS if are_colours else value == other
    if isinstance(value, float | int) and isinstance(other, float | int):
        return abs(value - other) <= (0 if isinstance(value, bool) else PIXELS)
    return False


def _write(detection: dict[str, Any]) -> str:
    """Return a detection as JSON with one element in a line."""
    parts = [f'"{key}": {json.dumps(detection[key], ensure_ascii=False)}' for key in ("faces", "page", "notes")]
    for kind in (kind for kind in KINDS if kind in detection):
        lines = ",\n".join(json.dumps(element, ensure_ascii=False) for element in detection[kind])
        parts.append(f'"{kind}": [\n{lines}\n]')
    return "{\n" + ",\n".join(parts) + "\n}\n"
