"""Writes the rows that `train_roles.py` trains on: features of texts and pictures, and what the document says they are.

    python role_rows.py ROWS DOCUMENTS… [--pictures FOLDER --detections KEPT]

DOCUMENTS are folders that `role_pages.py` wrote. With `--pictures`, the converter also reads the pictures of pages that
FOLDER has as PAGE.png (ten seconds each), and keeps what it detected in KEPT; a picture that is there is not read again.
"""

import argparse
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from role_documents import Document, detect_document

from heald_local.arrange.nesting import nest
from heald_local.arrange.page import trim_pictures
from heald_local.arrange.paragraphs import join_paragraphs
from heald_local.arrange.role_features import Item, describe_items, list_items
from heald_local.arrange.semantics import mark_by_rules
from heald_local.see.detect import detect_elements
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect

READ_WEIGHT = 2.0  # as in train_roles.py
MOST_ALIKE, MOST_SHARED = 0.8, 0.4  # of the lines of two pages of one site, and of two sites; more, and one is a copy
LEAST_COMMON = 0.3  # of an item, which elements of the document must cover
Columns = dict[str, list[Any]]


def add_rows(columns: Columns, page: str, detection: Detection, document: Document, weight: float) -> None:
    """Add a row for each text, run and picture of a page."""
    detection = trim_pictures(detection)
    items = list_items(mark_by_rules(nest(join_paragraphs(detection)), detection))
    for item, features in zip(items, describe_items(items, detection), strict=True):
        shares = _shares(item, document)
        is_pressed = any(part.tag == "button" for part in item.around)
        usable = shares is not None and shares["button"] < 0.5 and not is_pressed
        columns["features"].append(features)
        columns["link"].append(shares is not None and shares["link"] >= 0.5)
        columns["heading"].append(shares is not None and shares["heading"] >= 0.5 and item.sentence is None)
        columns["link_usable"].append(usable)
        columns["heading_usable"].append(usable and item.text is not None and item.sentence is None)
        columns["weights"].append(weight)
        columns["pages"].append(page)
        columns["sites"].append(page.partition("/")[0])


def _shares(item: Item, document: Document) -> dict[str, float] | None:
    """Return how much of an item lies in links, headings and buttons; None if the document has nothing there."""
    is_text = item.text is not None
    areas = [line.ink for line in item.text.lines] if item.text is not None else [item.part.rect]
    covered = {"link": 0.0, "heading": 0.0, "button": 0.0}
    total = 0.0
    for source in document["lines"] if is_text else document["pictures"]:
        rect = Rect(*source["box"])
        for area in areas:
            common = rect.common(area)
            if not is_text and common <= 0.5 * min(area.area, rect.area):
                continue
            total += common
            for role in covered:
                covered[role] += common * source[role]
    if is_text:
        for field in document["fields"]:
            common = sum(Rect(*field["box"]).common(area) for area in areas)
            if common > 0.5 * sum(area.area for area in areas):
                total, covered["button"] = total + common, covered["button"] + common
    if total < LEAST_COMMON * sum(area.area for area in areas):
        return None
    return {role: share / total for role, share in covered.items()}


class PageCopies:
    """Tells pages that repeat another one."""

    def __init__(self) -> None:
        self._pages: list[tuple[str, frozenset[str]]] = []

    def has(self, site: str, lines: Sequence[Document]) -> bool:
        texts = frozenset(str(line["text"]) for line in lines)
        for other, others in self._pages:
            most = MOST_ALIKE if other == site else MOST_SHARED
            if len(texts & others) > most * min(len(texts), len(others)):
                return True
        self._pages.append((site, texts))
        return False


def read_documents(paths: Sequence[Path], pictures: Path | None, detections: Path | None) -> Columns:
    names = ("features", "link", "heading", "link_usable", "heading_usable", "weights", "pages", "sites")
    columns: Columns = {name: [] for name in names}
    copies = PageCopies()
    for number, path in enumerate(paths):
        document = json.loads(path.read_text("utf-8"))
        page = document["page"]
        if copies.has(page.partition("/")[0], document["lines"]):
            continue
        add_rows(columns, page, detect_document(document), document, 1.0)
        picture = (pictures / page).with_suffix(".png") if pictures is not None else None
        if picture is not None and detections is not None and picture.is_file():
            add_rows(columns, page, _read(picture, detections / f"{picture.stem}.pickle"), document, READ_WEIGHT)
        print(f"{number + 1} of {len(paths)}: {page}, {len(columns['pages'])} rows", flush=True)
    return columns


def _read(picture: Path, detected: Path) -> Detection:
    """Return what the converter detects on a picture, or detected before."""
    if not detected.is_file():
        detected.parent.mkdir(parents=True, exist_ok=True)
        detected.write_bytes(pickle.dumps(detect_elements(picture.read_bytes(), lambda _: None)))
    return pickle.loads(detected.read_bytes())


def list_documents(folders: Sequence[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.glob("*/*.json"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--detections", type=Path)
    options = parser.parse_args()
    columns = read_documents(list_documents(options.documents), options.pictures, options.detections)
    np.savez(options.rows, **{name: np.array(column) for name, column in columns.items()})


if __name__ == "__main__":
    main()
