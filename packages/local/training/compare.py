"""Compares the local converter with and without the network, on pages that were rendered with their truth.

    python compare.py DATA NAME ...

DATA is the output of `make_pages.py`; each NAME is one of its pages, such as held/3. It prints how many controls became
inputs with the right state, and how many icons were read as letters.
"""

import io
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

from PIL import Image

from heald_local.arrange.nesting import nest
from heald_local.arrange.page import trim_pictures
from heald_local.arrange.part import Part
from heald_local.arrange.semantics import add_semantics
from heald_local.see import models
from heald_local.see.detect import detect_elements
from heald_local.see.detection_cache import clear_cache
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect, spanning

STATES = ("checkbox", "checkbox_on", "radio", "radio_on", "switch", "switch_on", "slider")


def kind_of(part: Part) -> str:
    """Return what an input is, in the words of the truth."""
    known = dict(part.attributes)
    kind = "switch" if known.get("role") == "switch" else known.get("type", "")
    return "slider" if kind == "range" else kind + ("_on" if "checked" in known else "")


def inputs(part: Part) -> list[Part]:
    return [part] * (part.tag == "input") + [found for child in part.children for found in inputs(child)]


def overlap(one: Rect, two: Rect) -> float:
    both = one.common(two)
    return both / max(one.area + two.area - both, 1.0)


def count(detection: Detection, truth: dict[str, Any]) -> Counter[str]:
    """Count controls with the right state, false ones, and icons that became text."""
    found = inputs(add_semantics(nest(trimmed := trim_pictures(detection)), trimmed))
    states = [each for each in found if kind_of(each).split("_")[0] in ("checkbox", "radio", "switch", "slider")]
    lines = [line.ink for text in detection.texts for line in text.lines]
    texts = [spanning(tuple(box)) for key in ("text", "over") for box in truth[key] if box[3] <= detection.height]
    figures: Counter[str] = Counter()
    for kind, *box in truth["parts"]:
        rect = spanning(tuple(box))
        if rect.bottom > detection.height:
            continue
        if kind == "icon":
            figures["icons"] += 1
            figures["icons read as text"] += any(line.common(rect) > 0.6 * min(line.area, rect.area) for line in lines)
        if kind in STATES:
            figures["controls"] += 1
            hit = next((each for each in states if overlap(each.rect, rect) > 0.3 and kind_of(each) == kind), None)
            figures["controls with their state"] += hit is not None
            if hit is not None:
                states.remove(hit)
    figures["false controls"] += len(states)
    figures["lines"] += len(texts)
    covered = [any(line.common(text) > 0.4 * min(text.area, line.area) for line in lines) for text in texts]
    figures["lines with text"] += sum(covered)
    return figures


def main() -> None:
    folder = Path(sys.argv[1])
    truth = json.loads((folder / "truth.json").read_text())
    for title, network in (("with", models.parts_network()), ("without", None)):
        figures: Counter[str] = Counter()
        for name in sys.argv[2:]:
            clear_cache()
            data = io.BytesIO()
            Image.open(folder / f"{name}.webp").save(data, "PNG")
            with mock.patch.object(models, "parts_network", return_value=network):
                figures += count(detect_elements(data.getvalue()), truth[name])
        print(title, dict(figures), flush=True)


if __name__ == "__main__":
    main()
