"""Writes the rows that `train_fields.py` trains on: features of boxes, and whether the document has a field there.

    python field_rows.py ROWS DOCUMENTS… [--detections KEPT]

DOCUMENTS are folders that `role_pages.py` wrote. With `--detections`, pages of which KEPT has PAGE.pickle, as
`role_rows.py` writes it, are also described as they were read from their pictures.
"""

import argparse
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from role_documents import Document, detect_document
from role_rows import READ_WEIGHT, PageCopies, list_documents

from heald_local.arrange.field_features import describe_boxes, find_candidates
from heald_local.arrange.page import trim_pictures
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect

OTHERS = frozenset({"hidden", "submit", "button", "reset", "image", "checkbox", "radio", "range", "file", "color"})
SAME, DOUBTFUL = 0.6, 0.3  # common part of a box and a field, from which on it is the field, and it may be
NAMES = ("features", "field", "field_usable", "weights", "pages", "sites")


def add_rows(columns: dict[str, list[Any]], detection: Detection, document: Document, weight: float) -> None:
    """Add a row for each box of a page that is as large as a field."""
    detection = trim_pictures(detection)
    fields = [Rect(*field["box"]) for field in document["fields"] if field["type"] not in OTHERS]
    boxes = find_candidates(detection)
    for box, features in zip(boxes, describe_boxes(boxes, detection), strict=True):
        share = max((_common_part(box.rect, field) for field in fields), default=0.0)
        page = document["page"]
        values = (features, share >= SAME, not DOUBTFUL < share < SAME, weight, page, page.partition("/")[0])
        for name, value in zip(NAMES, values, strict=True):
            columns[name].append(value)


def _common_part(rect: Rect, other: Rect) -> float:
    """Return the area that two places have in common, as a part of that of both together."""
    common = rect.common(other)
    return common / (rect.area + other.area - common) if common else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--detections", type=Path)
    options = parser.parse_args()
    columns: dict[str, list[Any]] = {name: [] for name in NAMES}
    copies = PageCopies()
    for path in list_documents(options.documents):
        document = json.loads(path.read_text("utf-8"))
        page = Path(document["page"])
        if copies.has(page.parts[0], document["lines"]):
            continue
        add_rows(columns, detect_document(document), document, 1.0)
        kept = options.detections / f"{page.stem}.pickle" if options.detections is not None else None
        if kept is not None and page.stem.isdecimal() and kept.is_file():
            add_rows(columns, pickle.loads(kept.read_bytes()), document, READ_WEIGHT)
    np.savez(options.rows, **{name: np.array(column) for name, column in columns.items()})
    print(f"{len(columns['field'])} boxes of {len(set(columns['pages']))} pages, {sum(columns['field'])} fields")


if __name__ == "__main__":
    main()
