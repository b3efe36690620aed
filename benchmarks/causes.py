"""How well the place of a text in its screenshot is found: the intersection over union with its true place.

`python -m benchmarks.causes FOLDER [--count 20]` takes pages NAME.html that we did not make. Each is rendered, its
picture is the screenshot, and the places of its text nodes are the truth. Two pages stand for what is built from the
screenshot: the converter's page, and the document itself in another style (`restyled`), whose text nodes are the same
ones in other places, as in the page of a model. Figures are the shares of the text nodes of the built pages whose place
has an intersection over union of at least 0.8. The height of a text's rectangle is that of its font, which a picture
does not show where no letter is; so the same is counted for the ink in both rectangles. `--detections` is a folder that
stores what was read in the pictures. It writes
benchmarks/results/causes.json.

`python -m benchmarks.public_pages draw DATASET TO --count 20 --seed 383` draws the pages; FOLDER is TO/measured.
"""

import argparse
import asyncio
import math
import pickle
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.report import commit_name, machine
from heald_local.arrange.page import arrange
from heald_local.write.stacks import write_files
from heald_pictures.detector import find_detector
from heald_pictures.elements import Detection
from heald_pictures.rect import Rect, hull
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import ORIGIN, Rendering, TextBlock, Viewport, serve_files
from heald_studio.browser.render import RenderRequest, render_page
from heald_studio.browser.tab import Tab
from heald_studio.causes.folded_text import fold_text
from heald_studio.causes.picture_parts import picture_lines
from heald_studio.causes.rendered_texts import PageWord, RenderedTexts, TextNode, read_texts
from heald_studio.causes.text_places import TextPlace, place_texts
from heald_studio.score.page_image import Pixels, decode_pixels

RESULTS = Path(__file__).parent / "results" / "causes.json"
KINDS = ("converted", "restyled")
LEAST = 0.8
WINDOW = Viewport(1280, 800)
TALLEST = 12_000  # pixels of a window
TRIES = 3  # a page may be as high as a part of its window
SEED = 38
ROW = 1.8  # the height of letters of one row, in heights of the highest
ROWS = 3.6  # the same of two rows
INK = 0.3  # the share of the contrast from which on a pixel is ink
FLAT = 8  # levels of 255 by which the pixels of a text that can be seen differ
FONTS = ("Georgia, serif", "Verdana, sans-serif", "'Courier New', monospace", "Arial, sans-serif", "system-ui")


class Figures(msgspec.Struct):
    nodes: int = 0
    hits: int = 0
    ink_hits: int = 0
    by_text: int = 0
    overlaps: list[float] = []

    def add(self, place: TextPlace, rect: Rect | None, pixels: Pixels) -> float:
        """Count a place beside the true one, and return their intersection over union."""
        score = overlap(place.rect, rect) if rect is not None else 0.0
        ink = overlap(ink_of(place.rect, pixels), ink_of(rect, pixels)) if rect is not None else 0.0
        self.nodes += 1
        self.hits += score >= LEAST
        self.ink_hits += ink >= LEAST
        self.by_text += place.found_by == "text"
        self.overlaps.append(score)
        return score


class BuiltPages(msgspec.Struct, kw_only=True):
    """The text nodes of all built pages of one kind."""

    kind: str
    nodes: int
    hits: int
    """Those with an intersection over union of at least the bar."""
    share: float
    ink_hits: int
    """Those whose ink, which is what can be seen in both rectangles, has an intersection over union of the bar."""
    ink_share: float
    mean: float
    by_text: int
    pages: dict[str, tuple[int, int]]
    """Hits and text nodes of each page."""


class CauseResults(msgspec.Struct):
    command: str
    commit: str
    machine: str
    bar: float
    built: list[BuiltPages]


def overlap(rect: Rect, other: Rect) -> float:
    common = rect.common(other)
    return common / (rect.area + other.area - common) if common else 0.0


async def render(
    files: Mapping[str, str | bytes], name: str, window: Viewport = WINDOW
) -> tuple[Rendering, RenderedTexts]:
    """Render a page: its picture with its lines of text, and its text nodes."""

    async def work(tab: Tab, request: RenderRequest) -> tuple[Rendering, RenderedTexts]:
        return await render_page(tab, request), await read_texts(tab)

    return await shared_browser().examine(serve_files(files), RenderRequest(ORIGIN + name, window), work)


async def render_screenshot(files: Mapping[str, bytes], name: str) -> tuple[Rendering, RenderedTexts]:
    """Render a page in a window that shows all of it: what a picture shows beyond its window may be elsewhere."""
    window = WINDOW
    rendered = await render(files, name)
    for _ in range(TRIES):
        height = min(math.ceil(rendered[1].height), TALLEST)
        if height <= window.height:
            break
        window = Viewport(window.width, height)
        rendered = await render(files, name, window)
    return rendered


def restyle(html: str, seed: str) -> str:
    """Return the document in another style: other letters, sizes, distances and widths."""
    draw = random.Random(f"{SEED} {seed}")
    font, size = draw.choice(FONTS), draw.choice((88, 94, 106, 112))
    height, space, pad = draw.choice((1.3, 1.6, 1.9)), draw.choice((6, 14, 22)), draw.choice((0, 20, 60))
    style = (
        f"body, body * {{ font-family: {font} !important; line-height: {height} !important }}"
        f"body {{ zoom: {size}% !important; padding: {pad}px !important; box-sizing: border-box !important }}"
        f"p, li, h1, h2, h3, h4, ul, section, article {{ margin-top: {space}px !important }}"
    )
    return f"{html}\n<style>{style}</style>\n"


def is_visible(pixels: Pixels, rect: Rect) -> bool:
    """Whether a place is in the picture, and its pixels are not all of one colour."""
    if rect.right <= 0 or rect.bottom <= 0:
        return False
    area = pixels[max(0, int(rect.y)) : round(rect.bottom), max(0, int(rect.x)) : round(rect.right)].reshape(-1, 3)
    return area.size > 0 and int((area.max(axis=0) - area.min(axis=0)).max()) >= FLAT


def ink_of(rect: Rect, pixels: Pixels) -> Rect:
    """Return the part of a rectangle that the pixels take that differ from its ground."""
    top, left = max(0, round(rect.y)), max(0, round(rect.x))
    area = pixels[top : max(0, round(rect.bottom)), left : max(0, round(rect.right))].astype(np.int16)
    if area.size == 0:
        return rect
    difference = np.abs(area - np.median(area.reshape(-1, 3), axis=0)).max(axis=2)
    if difference.max() < FLAT:
        return rect
    rows, columns = np.nonzero(difference >= INK * difference.max())
    x, y = left + int(columns.min()), top + int(rows.min())
    return Rect(x, y, left + int(columns.max()) + 1 - x, top + int(rows.max()) + 1 - y)


def numbered(texts: Sequence[TextNode]) -> dict[tuple[str, str, int], TextNode]:
    """Return text nodes by their path, letters and number among those that have the same."""
    nodes: dict[tuple[str, str, int], TextNode] = {}
    for node in texts:
        letters = fold_text(node.text)
        number = 0
        while (node.path, letters, number) in nodes:
            number += 1
        nodes[node.path, letters, number] = node
    return nodes


class Truth:
    """The places of the texts of a document: of its text nodes, and of the texts that its fields and buttons show."""

    def __init__(self, page: RenderedTexts, lines: Sequence[TextBlock]) -> None:
        self._rects: list[Rect] = []
        self._letters = ""
        for node in page.texts:
            for word in node.words:
                self._add(word.text, word.rect)
        for line in lines:
            self._add("\n", Rect(0, 0, 0, 0))
            self._add(line.text, Rect(line.x, line.y, line.w, line.h))

    def _add(self, text: str, rect: Rect) -> None:
        letters = fold_text(text) or "\n"
        width = rect.w / len(letters)
        self._letters += letters
        self._rects += [Rect(rect.x + at * width, rect.y, width, rect.h) for at in range(len(letters))]

    def find(self, node: TextNode) -> Rect | None:
        """Return the place of the text that a node shows, row by row."""
        rows: list[list[PageWord]] = []
        for word in node.words:
            if rows and abs(rows[-1][-1].y - word.y) < word.h / 2:
                rows[-1].append(word)
            else:
                rows.append([word])
        places = [(row, self._find_row(row)) for row in rows]
        present = [place for _, place in places if place is not None]
        is_whole = all(place is not None or not _has_letters(row) for row, place in places)
        return hull(present) if present and is_whole else None

    def _find_row(self, words: Sequence[PageWord]) -> Rect | None:
        """Return the place of a row: of the same letters, of letters that are alike, or of its parts one by one."""
        letters = "".join(fold_text(word.text) for word in words)
        row = hull(word.rect for word in words)
        place = self._nearest(letters, row)
        if place is not None:
            return place
        places = self._alike(letters)
        parts = list(self._find_parts(words, (0.0, 0.0)))
        present = [part for part in parts if part is not None]
        # The rows of the document may end elsewhere, so the parts may stand in two of them.
        if present and len(present) == len(parts) and hull(present).h <= ROWS * max(part.h for part in present):
            places.append(hull(present))
        return max(places, key=lambda rect: overlap(rect, row), default=None)

    def _find_parts(self, words: Sequence[PageWord], shift: tuple[float, float]) -> Iterator[Rect | None]:
        """Yield the places of the parts of a row: the longest one that is in the document, and beside it the others.
        `shift` is the way from the page to the document of what is beside these words."""
        for count in range(len(words), 0, -1):
            for start in range(len(words) - count + 1):
                part = words[start : start + count]
                near = hull(word.rect for word in part)
                expected = Rect(near.x + shift[0], near.y + shift[1], near.w, near.h)
                place = self._nearest("".join(fold_text(word.text) for word in part), expected)
                is_there = _has_letters(part) or place is None or abs(place.y - expected.y) < expected.h
                if place is not None and is_there:
                    way = (place.x - near.x, place.y - near.y)
                    yield from self._find_parts(words[:start], way)
                    yield place
                    yield from self._find_parts(words[start + count :], way)
                    return
        if _has_letters(words):
            yield None

    def _nearest(self, letters: str, near: Rect) -> Rect | None:
        """Return the place of these letters in one row that is nearest to a place; None if there is none."""
        places: list[Rect] = []
        at = self._letters.find(letters) if letters else -1
        while at >= 0:
            rects = self._rects[at : at + len(letters)]
            place = hull(rects)
            if _is_row(place, rects):
                places.append(place)
            at = self._letters.find(letters, at + 1)
        return min(
            places,
            key=lambda rect: abs(rect.middle[0] - near.middle[0]) + abs(rect.middle[1] - near.middle[1]),
            default=None,
        )

    def _alike(self, letters: str) -> list[Rect]:
        """Return the places of texts that differ in a few letters, which were misread."""
        longest = SequenceMatcher(None, self._letters, letters, autojunk=False).find_longest_match()
        start = max(0, longest.a - longest.b)
        end = min(len(self._letters), start + len(letters))
        window = self._letters[start:end]
        if not window or SequenceMatcher(None, window, letters, autojunk=False).ratio() < 0.6:
            return []
        rects = self._rects[start:end]
        return [hull(rects)] if hull(rects).h <= ROWS * max(rect.h for rect in rects) else []


def _has_letters(words: Sequence[PageWord]) -> bool:
    """Whether words have letters or digits: signs may be none of the document's text, but content of its style."""
    return any(letter.isalnum() for word in words for letter in word.text)


def _is_row(place: Rect, parts: Sequence[Rect]) -> bool:
    """Whether letters stand in one row, as those of a row of the built page do."""
    return place.h <= ROW * max(part.h for part in parts)


async def measure(path: Path, files: Mapping[str, bytes], detections: Path | None, verbose: bool) -> list[Figures]:
    rendering, original = await render_screenshot(files, path.name)
    picture = rendering.picture
    stored = detections / f"{path.stem}.pickle" if detections is not None else None
    detection: Detection
    if stored is not None and stored.is_file():
        same, detection = pickle.loads(stored.read_bytes())
        if same != picture:
            print(f"{path.name} is rendered otherwise than when it was read; it is read anew", file=sys.stderr)
            detection = await asyncio.to_thread(find_detector(), picture)
    else:
        detection = await asyncio.to_thread(find_detector(), picture)
        if stored is not None:
            stored.parent.mkdir(parents=True, exist_ok=True)
            stored.write_bytes(pickle.dumps((picture, detection)))
    pixels = decode_pixels(picture)
    lines = picture_lines(detection, pixels)
    seen = [node for node in original.texts if is_visible(pixels, node.rect)]
    converted, restyled = Figures(), Figures()

    page = write_files(arrange(detection), "html_css")
    _, built = await render(page, "index.html")
    truth = Truth(original, rendering.texts)
    for node, place in zip(built.texts, place_texts(built, lines, original.height).places, strict=True):
        rect = truth.find(node)
        score = converted.add(place, rect, pixels)
        if verbose and score < LEAST:
            print(f"  converted {score:.2f} {place.found_by} {node.text[:50]!r} {place.rect} {rect}")

    text = restyle(files[path.name].decode("utf-8", "replace"), path.stem)
    _, built = await render({**files, path.name: text}, path.name)
    places = numbered(seen)
    estimates = dict(zip(numbered(built.texts), place_texts(built, lines, original.height).places, strict=True))
    for key, node in places.items():
        if key not in estimates:
            continue  # the other style hides it
        score = restyled.add(estimates[key], node.rect, pixels)
        if verbose and score < LEAST:
            print(
                f"  restyled {score:.2f} {estimates[key].found_by} {node.text[:50]!r} {estimates[key].rect} {node.rect}"
            )
    return [converted, restyled]


def tabulate(pages: Mapping[str, Sequence[Figures]]) -> list[BuiltPages]:
    """Return the figures of all pages together, for each kind of built page."""
    built: list[BuiltPages] = []
    for at, kind in enumerate(KINDS):
        figures = [page[at] for page in pages.values()]
        nodes, hits = sum(part.nodes for part in figures), sum(part.hits for part in figures)
        ink_hits = sum(part.ink_hits for part in figures)
        overlaps = [overlap for part in figures for overlap in part.overlaps]
        built.append(
            BuiltPages(
                kind=kind,
                nodes=nodes,
                hits=hits,
                share=round(hits / max(nodes, 1), 4),
                ink_hits=ink_hits,
                ink_share=round(ink_hits / max(nodes, 1), 4),
                mean=round(sum(overlaps) / max(len(overlaps), 1), 4),
                by_text=sum(part.by_text for part in figures),
                pages={name: (page[at].hits, page[at].nodes) for name, page in pages.items()},
            )
        )
    return built


async def main(files: Mapping[str, bytes], names: Sequence[Path], detections: Path | None, verbose: bool) -> None:
    pages: dict[str, list[Figures]] = {}
    print(f"| page | {' | '.join(KINDS)} |\n|---|---:|---:|")
    for path in names:
        figures = pages[path.stem] = await measure(path, files, detections, verbose)
        print(f"| {path.stem} | {' | '.join(f'{part.hits} of {part.nodes}' for part in figures)} |", flush=True)
    command = f"python -m benchmarks.causes FOLDER --count {len(names)}"
    results = CauseResults(command, commit_name(), machine(), LEAST, tabulate(pages))
    for built in results.built:
        words = f"{built.hits} of {built.nodes} text nodes ({100 * built.share:.1f} %) have at least {LEAST}"
        ink = f"the ink of {built.ink_hits} ({100 * built.ink_share:.1f} %)"
        print(f"{built.kind}: {words}, {ink}; mean {built.mean:.3f}; {built.by_text} found by their text")
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    shared_browser().close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--detections", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    served = {path.name: path.read_bytes() for path in options.folder.iterdir() if path.suffix != ".png"}
    drawn = sorted(options.folder.glob("*.html"))[: options.count]
    asyncio.run(main(served, drawn, options.detections, options.verbose))
