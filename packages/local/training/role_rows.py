"""Writes the rows that `train_roles.py` trains on: features of texts and pictures, and what the document says they are.

    python role_rows.py ROWS FOLDER… [--read 20] [--every 4 --rest 1]

A folder holds pictures NAME.png with their documents NAME.html. `--read N` also reads the pictures of the first N pages
with the converter itself (ten seconds each). `--every 4 --rest 1` uses only pages whose number modulo 4 is 1, in the
first folder: the others are for measuring.
"""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from role_documents import PROBE, Document, detect_document

from heald_local.arrange.nesting import nest
from heald_local.arrange.page import trim_pictures
from heald_local.arrange.paragraphs import join_paragraphs
from heald_local.arrange.role_features import Item, describe_items, list_items
from heald_local.arrange.semantics import mark_by_rules
from heald_local.see.detect import detect_elements
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport
from heald_studio.evaluate.page_document import serve_folder

READ_WEIGHT = 2.0  # as in train_roles.py
LEAST_COMMON = 0.3  # of an item, which elements of the document must cover
WINDOW_HEIGHT = 720
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


async def read_pages(pictures: Sequence[Path], read: int) -> Columns:
    names = ("features", "link", "heading", "link_usable", "heading_usable", "weights", "pages")
    columns: Columns = {name: [] for name in names}
    probe = (Path(__file__).parent / PROBE).read_text("utf-8").partition("\n")[2].rstrip()
    browser = Browser(pages=1)
    try:
        for number, path in enumerate(pictures):
            with Image.open(path) as image:
                size = image.size
            view = Viewport(size[0], min(size[1], WINDOW_HEIGHT))
            rendering = await browser.render(serve_folder(path.parent), f"{path.stem}.html", view, probe=probe)
            name = f"{path.parent.name}/{path.stem}"
            add_rows(columns, name, detect_document(rendering.probed), rendering.probed, 1.0)
            if number < read:
                detection = detect_elements(rendering.picture, lambda _: None)
                add_rows(columns, name, detection, rendering.probed, READ_WEIGHT)
            print(f"{number + 1} of {len(pictures)}: {name}, {len(columns['pages'])} rows", flush=True)
    finally:
        browser.close()
    return columns


def list_pictures(folders: Sequence[Path], every: int, rest: int) -> list[Path]:
    pictures: list[Path] = []
    for number, folder in enumerate(folders):
        numbered = (path for path in folder.glob("*.png") if path.stem.isdecimal())
        paired = (path for path in numbered if path.with_suffix(".html").is_file())
        pictures += [path for path in sorted(paired) if number or int(path.stem) % every == rest]
    return pictures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--read", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rest", type=int, default=0)
    options = parser.parse_args()
    columns = asyncio.run(read_pages(list_pictures(options.folders, options.every, options.rest), options.read))
    np.savez(options.rows, **{name: np.array(column) for name, column in columns.items()})


if __name__ == "__main__":
    main()
