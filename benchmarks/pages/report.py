"""The page of the documentation about the evaluation: `python -m benchmarks.pages.report REPORT [--docs docs]`.

REPORT is the folder of `heald eval -o REPORT`. It becomes docs/evaluation.md, with the bars and whether they are met,
every page's figures, and in docs/evaluation/ one small picture for each page: what was asked, and what was made of it.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image

from benchmarks.report import commit_name, machine
from heald_studio.evaluate.bars import BARS, Bar
from heald_studio.evaluate.columns import COLUMNS_BY_KEY

WIDTH, HEIGHT, SEAM = 400, 640, 8
SCORES = ("block", "text", "position", "colour", "text_style", "shapes", "ssim", "changed", "flatters")
SHOWN = (
    "block",
    "text",
    "position",
    "colour",
    "text_style",
    "shapes",
    "ssim",
    "changed",
    "own",
    "flatters",
    "positioned",
    "overflow",
    "overlaid",
    "once",
    "axe",
    "invalid",
    "links",
    "controls",
    "icons",
    "alts",
    "invented",
    "size",
)
TIMES = ("seconds", "cpu", "preview", "memory")
SEALED = "sealed"
PUBLIC = Path(__file__).parent.parent / "public_pages.md"
GROUPS = (SEALED, "open", "held", "tuning")
INTRODUCTION = """# How well the local converter does

`local/vision` builds a page from a screenshot without a language model. This page measures it on the pages in
[benchmarks/pages](../benchmarks/pages/README.md). Thirty of them are written by hand (tuning, held), the others are
generated from templates: news, shops, documentation, dashboards, landing pages, forms, tables and travel, light and
dark, on a phone, in seven languages, with web fonts and with text over photographs. The sealed pages were not looked
at while the converter was improved; all others were.

The reference is the document that was rendered: its lines of text with their positions and colours. Text is scored as
Design2Code does (block, text, position, colour) with the text of both documents, and by what is bold and italic. The
rest is scored by shapes (boxes, pictures, icons and lines, by place, size, colour and outline) and by SSIM where
either picture has content. 1 means identical. "Overall" is the mean of these figures less the share of the area that
changed, and at most 0.999 while the map of the differences shows red. No figure is rounded up. `python -m
benchmarks.blind FOLDER` removes one kind of element at a time from pages, and fails if the score falls by less than
the area that changed. Code is measured in a browser, by axe-core and by html-validate. `make eval` repeats all of it.

Links, controls with their state, icons and photographs are compared with the document's DOM: one is found if the copy
has the same in the same place. A link that looks like a button counts as found if the copy has either. "Invented" is
the share of the copy's links and buttons where the document has neither. There is no bar for them: many of the
hand-written pages have menus and buttons that are plain `span`, `div` and `li` elements. A picture does not show
that, and everything that the copy makes a link counts as invented there. Pages with real links show the true rate.

Icons are those that are vector graphics in the document. Small photographs, such as faces of 32 pixels, count as
photographs only. The stars of a rating are an icon each; one drawing with all of them counts for each that it covers.

Where there is only a picture, its text has to be read first, and text that is not read would not be missed. The score
therefore also looks for regions that look like text but have no line; they count as missing. "Overall, text unknown"
is that score, computed here as if the documents were not known, and "own above true" is how much higher it is.

The converter copies what is visible. It does not know what a control does, what opens on a click, or what the
words mean.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the folder with report.json")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="(%(default)s)")
    parser.add_argument("--note", default=_provenance(), help="a sentence about the run (%(default)s)")
    parser.add_argument("--without-times", action="store_true", help="the machine was busy: no seconds, no memory")
    options = parser.parse_args()
    source = options.report / "report.json"
    if not source.is_file():
        sys.exit(f"There is no {source.name} in {options.report.name}; run heald eval -o {options.report.name} first.")
    data: dict[str, Any] = msgspec.json.decode(source.read_bytes())
    pictures = _pictures(options.report, data["rows"], options.docs / "evaluation")
    hidden = TIMES if options.without_times else ()
    text = "\n".join(_lines(data, pictures, options.note, hidden))
    (options.docs / "evaluation.md").write_text(f"{text}\n", "utf-8")
    print(options.docs / "evaluation.md")


def _provenance() -> str:
    return f"Measured by `make eval` at commit {commit_name()} on {machine()}"


def _lines(data: dict[str, Any], pictures: dict[str, str], note: str, hidden: tuple[str, ...]) -> Iterator[str]:
    yield INTRODUCTION
    if note:
        yield f"{note}\n"
    yield from (f"{line}\n" for line in data["notes"])
    yield from ("## Bars", "", "| bar | " + " | ".join(GROUPS) + " | all |", "|---|" + "---:|" * (len(GROUPS) + 1))
    summaries = {line["group"]: line for line in data["summaries"]}
    present = {row["group"] for row in data["rows"]}
    if len(present) == 1:
        summaries |= dict.fromkeys(present, summaries["all"])
    for number, bar in enumerate(BARS):
        if bar.column in hidden:
            continue
        cells = [_verdict(summaries.get(group), number, bar) for group in (*GROUPS, "all")]
        yield f"| {bar.sentence} | {' | '.join(cells)} |"
    yield from (
        "",
        "Figures in bold miss their bar.",
        "",
        *_worst_pages(summaries),
        *_public_pages(),
        "## Pages",
        "",
    )
    yield "| page | " + " | ".join(COLUMNS_BY_KEY[key].label for key in SHOWN) + " |"
    yield "|---|" + "---:|" * len(SHOWN)
    rows = sorted(data["rows"], key=lambda row: (GROUPS.index(row["group"]), row["target"]))
    for row in rows:
        cells = [COLUMNS_BY_KEY[key].format(row["figures"][key]) for key in SHOWN]
        yield f"| {row['target']} | {' | '.join(cells)} |"
    open_rows = [row for row in rows if row["group"] != SEALED]
    if open_rows:
        yield from (
            "",
            "## Side by side",
            "",
            "Left: the given picture. Right: the built page. Tall pictures are cropped; sealed pages are not shown.",
        )
    for row in open_rows:
        name = row["target"]
        yield from ("", f"### {name}", "")
        yield row["error"] or f"![{name}: given and made]({pictures[name]})"


def _public_pages() -> Iterator[str]:
    """Repeat the last figures of public pages, which are measured apart: `make eval PAGES=folder`."""
    if PUBLIC.is_file():
        yield from ("## Public pages", "", *PUBLIC.read_text("utf-8").splitlines(), "")


def _worst_pages(summaries: dict[str, Any]) -> Iterator[str]:
    """Name the page with the worst value of each score, in the sealed set if there is one."""
    group = next((name for name in (*GROUPS, "all") if name in summaries), "all")
    parts = [
        f"{column.label} {column.format(figure['worst'])} ({figure['where']})"
        for figure in summaries[group]["figures"]
        if figure["column"] in SCORES and figure["where"] and (column := COLUMNS_BY_KEY[figure["column"]])
    ]
    if parts:
        yield from (f"The worst of {group}: {', '.join(parts)}.", "")


def _verdict(summary: dict[str, Any] | None, number: int, bar: Bar) -> str:
    if summary is None:
        return "–"
    verdict = summary["verdicts"][number]
    value = COLUMNS_BY_KEY[bar.column].format(verdict["value"])
    return f"**{value}**" if verdict["met"] is False else value


def _pictures(report: Path, rows: list[dict[str, Any]], folder: Path) -> dict[str, str]:
    """One picture for each row, target and result beside each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.webp"):
        old.unlink()
    paths: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        pair = [next(iter(report.glob(f"pictures/{number:03}-*-{kind}.webp")), None) for kind in ("target", "result")]
        name = f"{row['target'].replace('/', '-')}.webp"
        if all(pair) and row["group"] != SEALED:
            _beside([path for path in pair if path is not None]).save(folder / name, "WEBP", quality=58, method=6)
            paths[row["target"]] = f"evaluation/{name}"
    return paths


def _beside(paths: list[Path]) -> Image.Image:
    parts: list[Image.Image] = []
    for path in paths:
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        size = (min(WIDTH, picture.width), round(picture.height * min(WIDTH, picture.width) / picture.width))
        part = picture.resize(size, Image.Resampling.LANCZOS)
        parts.append(part.crop((0, 0, part.width, min(part.height, HEIGHT))))
    whole = Image.new("RGB", (sum(part.width for part in parts) + SEAM, max(part.height for part in parts)), "#9aa0a6")
    x = 0
    for part in parts:
        whole.paste(part, (x, 0))
        x += part.width + SEAM
    return whole


if __name__ == "__main__":
    main()
