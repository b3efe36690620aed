"""Renders icons with Chromium as pages show them, each with its name: what the recognition of icons is measured on.

    python icon_samples.py OUT --known ICONS.jsonl --others FOLDER… [--sheets 3] [--seed 1]

OUT gets `N.png` and `N.jpg`: sheets of icons in sizes from 12 to 48 pixels, in many widths of strokes and colours, on tinted
grounds, at fractions of pixels; `truth.json` has the icon of each cell. Icons of the other folders are in no set that Heald
knows: they must not be recognised, unless they look like one that is.
"""

import argparse
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

CELL, COLUMNS, ROWS = 64, 30, 24
SIZES = (12, 14, 16, 16, 16, 18, 20, 20, 20, 24, 24, 24, 28, 32, 40, 48)


def read_known(file: Path) -> list[dict[str, Any]]:
    """Return the icons of Heald's own file, as markup."""
    found: list[dict[str, Any]] = []
    for line in file.read_text("utf-8").splitlines():
        group, name, _, view, kind, shapes = json.loads(line)
        inside = "".join(
            f"<{tag} " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>"
            for tag, attributes in shapes
        )
        found.append({"set": group, "name": name, "kind": kind, "view": view, "inside": inside})
    return found


def read_others(folder: Path) -> list[dict[str, Any]]:
    """Return the icons of a folder of SVG files."""
    found: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.svg")):
        text = re.sub(r"<!--.*?-->|<\?xml.*?\?>", "", file.read_text("utf-8"), flags=re.S)
        head, _, rest = text.partition(">")
        view = re.search(r'viewBox="0 0 (\d+) \1"', head)
        if view is not None:
            kind = "stroke" if "stroke=" in head else "fill"
            inside = rest.rpartition("</svg>")[0]
            found.append({"set": "other", "name": file.stem, "kind": kind, "view": int(view[1]), "inside": inside})
    return found


def draw_cell(icon: dict[str, Any], dice: Random, number: int) -> tuple[str, dict[str, Any]]:
    """Return the markup of a cell, and its truth."""
    size = dice.choice(SIZES)
    room = CELL - size - 8
    left, top = 4 + dice.randint(0, room), 4 + dice.randint(0, room)
    if dice.random() < 0.4:
        left, top = left + dice.choice((0.25, 0.5, 0.75)), top + dice.choice((0, 0.25, 0.5, 0.8))
    x, y = number % COLUMNS * CELL, number // COLUMNS * CELL
    usual = 2.0 if icon["set"] != "heroicons" else 1.5
    width = usual if dice.random() < 0.6 else dice.choice((1.0, 1.25, 1.5, 1.75, 2.0, 2.5))
    dark = dice.random() < 0.35
    ground = [dice.randint(0, 60) if dark else dice.randint(225, 255) for _ in range(3)]
    if dice.random() < 0.4:
        ground = [255] * 3
        dark = False
    ink = [dice.randint(150, 255) if dark else dice.randint(0, 130) for _ in range(3)]
    paint = {
        "stroke": f'fill="none" stroke="currentColor" stroke-width="{width}"',
        "fill": 'fill="currentColor"',
        "both": f'fill="currentColor" stroke="currentColor" stroke-width="{width}"',
    }[icon["kind"]]
    markup = (
        f'<div style="position:absolute;left:{x}px;top:{y}px;width:{CELL}px;height:{CELL}px;background:rgb{tuple(ground)}">'
        f'<svg style="position:absolute;left:{left}px;top:{top}px;color:rgb{tuple(ink)}" width="{size}" height="{size}" '
        f'viewBox="0 0 {icon["view"]} {icon["view"]}" stroke-linecap="round" stroke-linejoin="round" {paint}>'
        f"{icon['inside']}</svg></div>"
    )
    truth = {key: icon[key] for key in ("set", "name", "kind")}
    truth |= {"size": size, "x": left, "y": top, "width": width, "ground": ground, "ink": ink}
    return markup, truth


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--known", type=Path, required=True)
    parser.add_argument("--others", type=Path, nargs="*", default=[])
    parser.add_argument("--sheets", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    dice = Random(chosen.seed)
    known = read_known(chosen.known)
    common = [icon for icon in known if icon["set"] != "simple-icons"]
    others = [icon for folder in chosen.others for icon in read_others(folder)]
    chosen.out.mkdir(parents=True, exist_ok=True)
    truth: dict[str, Sequence[Any]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": CELL * COLUMNS, "height": CELL * ROWS})
        for sheet in range(2 * chosen.sheets if others else chosen.sheets):
            pool = others if sheet >= chosen.sheets else known if sheet % 3 == 2 else common
            cells = [draw_cell(dice.choice(pool), dice, number) for number in range(COLUMNS * ROWS)]
            page.set_content("<body style='margin:0'>" + "".join(markup for markup, _ in cells))
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            image.save(chosen.out / f"{sheet}.png")
            image.save(chosen.out / f"{sheet}.jpg", quality=85)
            truth[str(sheet)] = [each for _, each in cells]
        browser.close()
    (chosen.out / "truth.json").write_text(json.dumps(truth, separators=(",", ":")))


if __name__ == "__main__":
    main()
