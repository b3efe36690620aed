"""A scripted model that polishes drafts well: it knows the page that the picture shows.

It renders the draft and the reference beside each other, and computes what differs: words, colours, fonts, sizes and
places of texts, texts that are missing or should not be there, and drawings. Parts that are off by the same way are
moved by their container. Each kind of correction is kept if the page then scores higher, and a correction that raises
the score less than its tokens are worth (`_PRICE`) is left out, as it could hardly be seen. Styles are written as one
call of `edit_styles`, words and elements as one of `edit_file`, and drawings are cut out of the picture by
`extract_assets`; then the page is compared once more.
"""

import asyncio
import io
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from heald.providers.base import OnEvent
from heald.providers.scripted import Script, ScriptDecoder, ScriptedRequest
from heald.testing import ScriptedModel
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import MOBILE, ORIGIN, Rendering, Viewport, serve_files
from heald_studio.browser.render import RenderRequest, render_page
from heald_studio.browser.tab import Tab
from heald_studio.score.page_image import PageImage, decode_pixels
from heald_studio.score.score import score
from heald_studio.score.scoring import render_project
from heald_studio.stacks.stack import Stack
from heald_studio.visual.merged_rules import merge_rules

Box = tuple[float, float, float, float]
Files = Mapping[str, bytes]
_PROBE = (Path(__file__).parent / "page_texts.js").read_text("utf-8").partition("\n")[2].rstrip()
_PAGE = "index.html"
_ALIKE = 0.55  # the likeness of a text that was misread
_FAR = 200.0  # pixels; a text so far away loses half a likeness
_LEAST_MOVE = 0.75  # pixels
_PRICE = 0.00002  # of the score, that a correction must gain for each of its tokens
_DIFFERENT = 8.0  # the mean difference of the pixels of a drawing, of 255 levels
_LEAST_OVERLAP = 0.5  # of two boxes that are the same one
_SMALLEST = 6  # pixels, the side of a drawing
_CELL = 16  # pixels
_MOST_TRIES = 10  # corrections of a kind that are tried one by one, if all together are not worth it
_MOST_DOUBTED = 24  # corrections, the longest ones, that are left out if they are not worth their tokens
_SAME_MOVE = 1.2  # pixels, by which the moves of the texts in one container differ at most


class ShownText(msgspec.Struct, frozen=True, rename="camel"):
    """A text node of a page with its place and its style."""

    text: str
    box: Box
    line: Box
    """Its first line."""
    lines: int
    colour: str
    size: float
    weight: int
    slant: str
    family: str
    is_alone: bool
    """Whether its element has nothing else in it."""
    is_inline: bool
    selectors: list[tuple[str, list[int]]]
    """Selectors of its element, each with the numbers of all texts that it selects."""
    containers: list[tuple[str, list[int]]]
    """Selectors of the elements around it, each with the numbers of all texts in what it selects."""


class PaintedBox(msgspec.Struct, frozen=True, rename="camel"):
    """An element with a background, a border or a shadow."""

    box: Box
    background: str
    borders: list[str]
    """At the top, right, bottom and left."""
    radius: str
    shadow: str
    is_inline: bool
    selectors: list[tuple[str, list[int]]]


class PageProbe(msgspec.Struct, frozen=True):
    texts: list[ShownText]
    boxes: list[PaintedBox]
    drawings: list[Box]


class Edit(msgspec.Struct, frozen=True):
    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class Corrections:
    """Corrections of a draft, as far as they are known."""

    words: tuple[Edit, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    """Selectors with declarations."""
    elements: tuple[str, ...] = ()
    """Elements at the end of the body."""
    cuts: tuple[Box, ...] = ()
    """The places of drawings, in CSS pixels."""

    def merge(self, other: "Corrections") -> "Corrections":
        return Corrections(
            self.words + other.words,
            self.rules + other.rules,
            self.elements + other.elements,
            self.cuts + other.cuts,
        )

    def parts(self) -> "list[Corrections]":
        """Return the single corrections, the longest first."""
        parts = [Corrections(words=(word,)) for word in self.words]
        parts += [Corrections(rules=(rule,)) for rule in self.rules]
        parts += [Corrections(elements=(element,)) for element in self.elements]
        parts += [Corrections(cuts=(cut,)) for cut in self.cuts]
        return sorted(parts, key=lambda part: -part.tokens)

    def without(self, part: "Corrections") -> "Corrections":
        return Corrections(
            tuple(word for word in self.words if word not in part.words),
            tuple(rule for rule in self.rules if rule not in part.rules),
            tuple(element for element in self.elements if element not in part.elements),
            tuple(cut for cut in self.cuts if cut not in part.cuts),
        )

    @property
    def tokens(self) -> float:
        """About how many tokens it takes to write them."""
        words = sum(len(edit.old_text) + len(edit.new_text) + 30 for edit in self.words)
        return (words + len(self.css()) + len(self.content()) + 32 * len(self.cuts)) / 4

    def css(self) -> str:
        styles: dict[str, str] = {}
        for selector, style in self.rules:
            styles[selector] = f"{styles[selector]};{style}" if selector in styles else style
        selectors: dict[str, list[str]] = {}
        for selector, style in styles.items():
            selectors.setdefault(style, []).append(selector)
        return "".join(f"{','.join(names)}{{{style}}}" for style, names in selectors.items())

    def content(self) -> str:
        return "".join((*self.elements, *(_picture(number, cut) for number, cut in enumerate(self.cuts))))

    def edits(self) -> list[Edit]:
        """Return the edits of words and elements."""
        content = self.content()
        return [*self.words, Edit("</body>", f"{content}</body>")] if content else list(self.words)


@dataclass(frozen=True, slots=True)
class Draft:
    """The page as far as it is corrected: its source, what is on it, and its picture."""

    page: str
    probe: PageProbe
    picture: bytes


class PageEditor(ScriptedModel):
    """Polishes one draft. `reference` are the files of the page that the picture shows, `files` those of the draft."""

    def __init__(self, name: str, stack: Stack, reference: Files, target: bytes, window: Viewport) -> None:
        super().__init__([], name=name, piece=400)
        self._stack = stack
        self._reference = reference
        self._target = target
        self._pixels = decode_pixels(target)
        self._window = window
        self._ratio = self._pixels.shape[1] / window.width
        self._goal: PageImage | None = None
        self.draft_score = 0.0
        self.read_draft: asyncio.Future[Callable[[], Awaitable[Files]]] = asyncio.get_running_loop().create_future()
        """Reads the files of the variant, once it is there."""

    def next_script(self, request: ScriptedRequest) -> Script:
        self.requests.append(request)
        return ""

    async def play(self, decoder: ScriptDecoder, script: Script, on_event: OnEvent) -> None:
        await super().play(decoder, await self._next_turn(), on_event)

    async def _next_turn(self) -> Script:
        if len(self.requests) == 2:
            return ScriptedModel.call("compare_with_target")
        if len(self.requests) > 2:
            return "Done."
        corrections = await self.correct(await (await self.read_draft)())
        boxes = [[round(side * self._ratio) for side in cut] for cut in corrections.cuts]
        assets = [{"name": f"cut{number}", "box": box} for number, box in enumerate(boxes)]
        edits = [msgspec.to_builtins(edit) for edit in corrections.edits()]
        css = corrections.css()
        calls: list[Any] = []
        if assets:
            calls.append(ScriptedModel.call("extract_assets", assets=assets))
        if css:
            calls.append(ScriptedModel.call("edit_styles", css=css))
        if edits:
            calls.append(ScriptedModel.call("edit_file", path=_PAGE, edits=edits))
        return calls or "Nothing differs."

    async def correct(self, draft: Files) -> Corrections:
        """Return the corrections that bring the draft closer to the page of the picture."""
        goal, _ = await self._probe(self._reference)
        kept = Corrections()
        self.draft_score = best = await self._score(draft, kept)
        for compute in (_words, _styles, _box_styles, _places, _box_places, _extra, _missing, self._drawings):
            page = self._apply(draft, kept)
            probe, picture = await self._probe(page)
            candidates = compute(Draft(page[_PAGE].decode(), probe, picture), goal)
            if not candidates:
                continue
            together = kept
            for candidate in candidates:
                together = together.merge(candidate)
            figure = await self._score(draft, together)
            if figure > best + _PRICE * (together.tokens - kept.tokens):
                best, kept = figure, together
            elif len(candidates) > 1:
                for candidate in candidates[:_MOST_TRIES]:
                    more = kept.merge(candidate)
                    figure = await self._score(draft, more)
                    if figure > best + _PRICE * (more.tokens - kept.tokens):
                        best, kept = figure, more
        return await self._without_dear(draft, kept, best)

    async def _without_dear(self, draft: Files, kept: Corrections, best: float) -> Corrections:
        """Return the corrections without those that gain too little for their tokens."""
        for part in kept.parts()[:_MOST_DOUBTED]:
            fewer = kept.without(part)
            figure = await self._score(draft, fewer)
            if figure >= best - _PRICE * (kept.tokens - fewer.tokens):
                best, kept = figure, fewer
        return kept

    async def _score(self, draft: Files, corrections: Corrections) -> float:
        return await self.score(self._apply(draft, corrections))

    async def score(self, files: Files) -> float:
        """Score a page against the reference itself: its texts are known, and need not be read in the picture."""
        if self._goal is None:
            self._goal = PageImage.of(await self._render(self._reference))
        page = PageImage.of(await self._render(files))
        return (await asyncio.to_thread(score, self._goal, page)).overall

    async def _render(self, files: Files) -> Rendering:
        return await render_project(self._stack, files, self._window, mobile=self._window is MOBILE)

    async def _probe(self, files: Files) -> tuple[PageProbe, bytes]:
        async def work(tab: Tab, request: RenderRequest) -> tuple[PageProbe, bytes]:
            rendering = await render_page(tab, request)
            return msgspec.convert(await tab.evaluate(_PROBE), PageProbe, strict=False), rendering.picture

        request = RenderRequest(ORIGIN, self._window, mobile=self._window is MOBILE)
        return await shared_browser().examine(serve_files(files), request, work)

    def _apply(self, draft: Files, corrections: Corrections) -> dict[str, bytes]:
        """Return the files as the tools of the studio would leave them."""
        css = corrections.css()
        texts = {path: data.decode() for path, data in draft.items() if path.endswith((".html", ".css"))}
        texts |= merge_rules(texts, _PAGE, css).texts if css else {}
        for edit in corrections.edits():
            texts[_PAGE] = texts[_PAGE].replace(edit.old_text, edit.new_text, 1)
        written = {path: text.encode() for path, text in texts.items()}
        return {**draft, **written, **dict(self._cut(corrections.cuts))}

    def _cut(self, cuts: Sequence[Box]) -> Iterable[tuple[str, bytes]]:
        for number, cut in enumerate(cuts):
            x, y, width, height = (round(side * self._ratio) for side in cut)
            buffer = io.BytesIO()
            Image.fromarray(self._pixels[y : y + height, x : x + width]).save(buffer, "PNG")
            yield f"assets/cut{number}.png", buffer.getvalue()

    def _drawings(self, draft: Draft, goal: PageProbe) -> list[Corrections]:
        """Return the drawings and other places without text that look different, as cuts of the picture."""
        pixels = decode_pixels(draft.picture)
        height, width = (min(sides) for sides in zip(self._pixels.shape[:2], pixels.shape[:2], strict=True))
        difference = np.abs(self._pixels[:height, :width].astype(int) - pixels[:height, :width].astype(int)).mean(
            axis=2
        )
        places = [*goal.drawings, *(_box(area, self._ratio) for area in _areas(difference))]
        cuts: list[tuple[float, Box]] = []
        for place in places:
            x, y, across, down = (round(side * self._ratio) for side in place)
            part = difference[y : y + down, x : x + across]
            is_free = not any(_overlap(place, text.box) for text in goal.texts)
            if min(across, down) >= _SMALLEST and part.size and is_free and float(part.mean()) >= _DIFFERENT:
                cuts.append((float(part.sum()), place))
        boxes: list[Box] = []
        for _, place in sorted(cuts, reverse=True):
            if not any(_overlap(place, other) for other in boxes):
                boxes.append(place)
        return [Corrections(cuts=(place,)) for place in boxes]


def _words(draft: Draft, goal: PageProbe) -> list[Corrections]:
    edits: list[Corrections] = []
    for text, other in _pairs(draft.probe, goal):
        wrong, right = escape(text.text, quote=False), escape(other.text, quote=False)
        if wrong != right and len(wrong) > 1 and draft.page.count(wrong) == 1:
            edits.append(Corrections(words=(_shortest(draft.page, wrong, right),)))
    return edits


def _shortest(page: str, wrong: str, right: str) -> Edit:
    """Return the edit with as few letters around what differs as make it the only such place of the page."""
    start = 0
    while start < min(len(wrong), len(right)) and wrong[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(wrong), len(right)) - start and wrong[-1 - end] == right[-1 - end]:
        end += 1
    while page.count(wrong[start : len(wrong) - end]) != 1 and (start or end):
        if start:
            start -= 1
        if end and page.count(wrong[start : len(wrong) - end]) != 1:
            end -= 1
    return Edit(wrong[start : len(wrong) - end], right[start : len(right) - end])


def _styles(draft: Draft, goal: PageProbe) -> list[Corrections]:
    styles: dict[str, list[int]] = {}
    for text, other in _pairs(draft.probe, goal):
        style = _style(text, other)
        if style:
            styles.setdefault(style, []).append(draft.probe.texts.index(text))
    return _rules(draft.probe.texts, styles)


def _places(draft: Draft, goal: PageProbe) -> list[Corrections]:
    """Return the moves of texts: of the elements around them, if all texts there are off by the same way."""
    texts = draft.probe.texts
    moves = {
        texts.index(text): (other.line[0] - text.line[0], _middle(other.line) - _middle(text.line))
        for text, other in _pairs(draft.probe, goal)
    }
    rest = {at for at, move in moves.items() if max(map(abs, move)) >= _LEAST_MOVE}
    corrections: list[Corrections] = []
    while rest:
        candidates: list[tuple[float, str, set[int], str]] = []
        for at in rest:
            own = texts[at].selectors if texts[at].is_alone else []
            for selector, numbers in [*own, *texts[at].containers]:
                matches = set(numbers)
                known = [moves[number] for number in matches if number in moves]
                spread = max(max(way) - min(way) for way in zip(*known, strict=True))
                if len(known) < len(matches) or spread > _SAME_MOVE or not matches <= rest:
                    continue
                middle = [(max(way) + min(way)) / 2 for way in zip(*known, strict=True)]
                style = _move((middle[0], middle[1]), is_inline=texts[at].is_inline and (selector, numbers) in own)
                candidates.append(((len(selector) + len(style)) / len(matches), selector, matches, style))
        if not candidates:
            break
        _, selector, matches, style = min(candidates, key=lambda candidate: candidate[:2])
        corrections.append(Corrections(rules=((selector, style),)))
        rest -= matches
    return corrections


def _box_styles(draft: Draft, goal: PageProbe) -> list[Corrections]:
    styles: dict[str, list[int]] = {}
    for at, other in _box_pairs(draft.probe, goal):
        box = draft.probe.boxes[at]
        parts: list[str] = []
        if box.background != other.background:
            parts.append(f"background:{other.background or 'none'}")
        if box.borders != other.borders:
            parts += _borders(other.borders)
        if box.radius != other.radius:
            parts.append(f"border-radius:{other.radius}")
        if box.shadow != other.shadow:
            parts.append(f"box-shadow:{other.shadow or 'none'}")
        if parts:
            styles.setdefault(";".join(parts), []).append(at)
    return _rules(draft.probe.boxes, styles)


def _box_places(draft: Draft, goal: PageProbe) -> list[Corrections]:
    """Return sizes of boxes, and places of those without text."""
    styles: dict[str, list[int]] = {}
    for at, other in _box_pairs(draft.probe, goal):
        box = draft.probe.boxes[at]
        parts: list[str] = []
        for name, side in (("width", 2), ("height", 3)):
            if abs(box.box[side] - other.box[side]) >= _LEAST_MOVE and not box.is_inline:
                parts.append(f"{name}:{round(other.box[side])}px")
        move = (other.box[0] - box.box[0], other.box[1] - box.box[1])
        has_text = any(_overlap(box.box, text.box) for text in draft.probe.texts)
        if not has_text and max(map(abs, move)) >= _LEAST_MOVE:
            parts.append(_move(move, is_inline=box.is_inline))
        if parts:
            styles.setdefault(";".join(parts), []).append(at)
    return _rules(draft.probe.boxes, styles)


def _extra(draft: Draft, goal: PageProbe) -> list[Corrections]:
    """Return rules that hide texts and boxes that the picture does not show."""
    paired = {id(text) for text, _ in _pairs(draft.probe, goal)}
    texts = [at for at, text in enumerate(draft.probe.texts) if id(text) not in paired and text.is_alone]
    numbers = {at for at, _ in _box_pairs(draft.probe, goal)}
    boxes = [
        at
        for at, box in enumerate(draft.probe.boxes)
        if at not in numbers and not any(_overlap(box.box, text.box) for text in draft.probe.texts)
    ]
    return [
        *_rules(draft.probe.texts, {"visibility:hidden": texts}),
        *_rules(draft.probe.boxes, {"visibility:hidden": boxes}),
    ]


def _missing(draft: Draft, goal: PageProbe) -> list[Corrections]:
    """Return elements for texts, and for boxes without text, that the page does not have."""
    paired = {id(other) for _, other in _pairs(draft.probe, goal)}
    boxes = {id(other) for _, other in _box_pairs(draft.probe, goal)}
    empty = [
        box
        for box in goal.boxes
        if id(box) not in boxes and not any(_overlap(box.box, text.box) for text in goal.texts)
    ]
    elements = [
        *map(_box_element, empty),
        *(_element(text, draft.probe) for text in goal.texts if id(text) not in paired),
    ]
    return [Corrections(elements=(element,)) for element in elements]


def _rules(members: Sequence[ShownText | PaintedBox], styles: Mapping[str, Sequence[int]]) -> list[Corrections]:
    return [
        Corrections(rules=tuple((selector, style) for selector in _cover(members, at)))
        for style, at in styles.items()
        if at
    ]


def _move(move: tuple[float, float], *, is_inline: bool) -> str:
    x, y = (f"{round(side)}px" if abs(side) >= _LEAST_MOVE else "0" for side in move)
    if not is_inline:
        return f"translate:{x}" if y == "0" else f"translate:{x} {y}"
    sides = (("left", x), ("top", y))
    return ";".join(["position:relative", *(f"{name}:{value}" for name, value in sides if value != "0")])


def _borders(borders: Sequence[str]) -> Iterable[str]:
    if len(set(borders)) == 1:
        yield f"border:{borders[0]}"
        return
    for side, border in zip(("top", "right", "bottom", "left"), borders, strict=True):
        yield f"border-{side}:{border}"


def _box_pairs(probe: PageProbe, goal: PageProbe) -> list[tuple[int, PaintedBox]]:
    """Return the boxes of the page, by number, with those of the goal that overlap them most."""
    candidates: list[tuple[float, int, int]] = []
    for at, box in enumerate(probe.boxes):
        for number, other in enumerate(goal.boxes):
            overlap = _intersection_over_union(box.box, other.box)
            if overlap >= _LEAST_OVERLAP:
                candidates.append((-overlap, at, number))
    boxes: set[int] = set()
    others: set[int] = set()
    pairs: list[tuple[int, PaintedBox]] = []
    for _, at, number in sorted(candidates):
        if at not in boxes and number not in others:
            boxes.add(at)
            others.add(number)
            pairs.append((at, goal.boxes[number]))
    return pairs


def _areas(difference: NDArray[np.float64]) -> Iterable[tuple[int, int, int, int]]:
    """Yield the places that look different, as left, top, width and height, joined where they are near."""
    rows, columns = -(-difference.shape[0] // _CELL), -(-difference.shape[1] // _CELL)
    cells = {
        (row, column)
        for row in range(rows)
        for column in range(columns)
        if difference[row * _CELL : (row + 1) * _CELL, column * _CELL : (column + 1) * _CELL].mean() >= _DIFFERENT
    }
    while cells:
        group = [cells.pop()]
        for row, column in group:
            near = {(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)} & cells
            cells -= near
            group.extend(near)
        top, left = min(row for row, _ in group), min(column for _, column in group)
        bottom, right = max(row for row, _ in group) + 1, max(column for _, column in group) + 1
        yield left * _CELL, top * _CELL, (right - left) * _CELL, (bottom - top) * _CELL


def _box(area: tuple[int, int, int, int], ratio: float) -> Box:
    x, y, width, height = (side / ratio for side in area)
    return x, y, width, height


def _pairs(probe: PageProbe, goal: PageProbe) -> list[tuple[ShownText, ShownText]]:
    """Return the texts of the page with those of the goal, the ones that are most alike and nearest first."""
    candidates: list[tuple[float, int, int]] = []
    for at, text in enumerate(probe.texts):
        for number, other in enumerate(goal.texts):
            likeness = 1.0 if text.text == other.text else _likeness(text.text, other.text)
            if likeness >= _ALIKE:
                far = abs(text.line[0] - other.line[0]) + abs(_middle(text.line) - _middle(other.line))
                candidates.append((min(far / _FAR, 1.0) / 2 - likeness, at, number))
    texts: set[int] = set()
    others: set[int] = set()
    pairs: list[tuple[ShownText, ShownText]] = []
    for cost, at, number in sorted(candidates):
        if cost < -_ALIKE / 2 and at not in texts and number not in others:
            texts.add(at)
            others.add(number)
            pairs.append((probe.texts[at], goal.texts[number]))
    return pairs


def _likeness(text: str, other: str) -> float:
    matcher = SequenceMatcher(None, text, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE else 0.0


def _style(text: ShownText, other: ShownText) -> str:
    """Return the declarations that give a text the style of another one."""
    parts: list[str] = []
    if text.colour != other.colour:
        parts.append(f"color:{other.colour}")
    has_other_width = text.text == other.text and abs(text.line[2] - other.line[2]) > max(1.0, 0.01 * other.line[2])
    if text.weight != other.weight and (text.weight >= 600) != (other.weight >= 600):
        parts.append(f"font-weight:{other.weight}")
    if text.slant != other.slant:
        parts.append(f"font-style:{other.slant}")
    if has_other_width and text.lines == other.lines:
        if abs(text.size - other.size) > 0.2:
            parts.append(f"font-size:{other.size:g}px")
        if text.family.split(",")[0] != other.family.split(",")[0]:
            parts.append(f"font-family:{other.family.replace(chr(34), chr(39))}")
    if text.lines > other.lines == 1:
        parts.append("white-space:nowrap")
    return ";".join(parts)


def _cover(members: Sequence[ShownText | PaintedBox], numbers: Sequence[int]) -> list[str]:
    """Return selectors of these members and no others: each selects as many as possible, with few letters."""
    rest = set(numbers)
    selectors: list[str] = []
    while rest:
        candidates = [
            (len(selector) / len(rest.intersection(matches)), selector, matches)
            for number in rest
            for selector, matches in _strong(members[number].selectors)
            if rest.intersection(matches) and set(matches) <= set(numbers)
        ]
        if not candidates:
            break
        _, selector, matches = min(candidates)
        selectors.append(selector)
        rest -= set(matches)
    return selectors


def _strong(selectors: Sequence[tuple[str, list[int]]]) -> list[tuple[str, list[int]]]:
    """Return the selectors that are as strong as those of the draft, which has rules for classes."""
    with_class = [(selector, matches) for selector, matches in selectors if "." in selector]
    return with_class if any(re.fullmatch(r"\.[\w-]+", selector) for selector, _ in with_class) else list(selectors)


def _element(text: ShownText, probe: PageProbe) -> str:
    """Return an element for a text, with the class of a text of the page that looks like it if there is one."""
    x, y, _, height = text.line
    place = f"position:absolute;left:{x:.0f}px;top:{y:.0f}px"
    if text.lines > 1:
        place += f";width:{text.box[2] + 2:.0f}px"
    look = _look(text)
    names = [
        selector[1:]
        for other in probe.texts
        if _look(other) == look
        for selector, _ in other.selectors
        if re.fullmatch(r"\.[\w-]+", selector)
    ]
    content = escape(text.text, quote=False)
    if names:
        return f'<p class={min(names, key=len)} style="{place};margin:0;line-height:{height:g}px">{content}</p>'
    slant = "italic " if text.slant == "italic" else ""
    font = f"font:{slant}{text.weight} {text.size:g}px/{height:g}px {text.family.replace(chr(34), chr(39))}"
    return f'<p style="{place};margin:0;color:{text.colour};{font}">{content}</p>'


def _look(text: ShownText) -> tuple[str, float, bool, str, str]:
    return text.colour, round(text.size), text.weight >= 600, text.slant, text.family.split(",")[0]


def _box_element(box: PaintedBox) -> str:
    x, y, width, height = box.box
    style = f"position:absolute;left:{x:.0f}px;top:{y:.0f}px;width:{width:.0f}px;height:{height:.0f}px"
    parts = [style, f"background:{box.background}" if box.background else "", *_borders(box.borders)]
    parts += [
        "" if box.radius == "0px" else f"border-radius:{box.radius}",
        f"box-shadow:{box.shadow}" if box.shadow else "",
    ]
    text = ";".join(part for part in parts if part and part != "border:0")
    return f'<i style="{escape(text)}"></i>'


def _picture(number: int, box: Box) -> str:
    x, y, width, _ = (f"{side:g}px" for side in (round(side, 1) for side in box))
    return f'<img src="assets/cut{number}.png" alt="" style="position:absolute;left:{x};top:{y};width:{width}">'


def _middle(box: Box) -> float:
    return box[1] + box[3] / 2


def _intersection_over_union(first: Box, second: Box) -> float:
    across = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    down = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    common = max(across, 0.0) * max(down, 0.0)
    return common / (first[2] * first[3] + second[2] * second[3] - common) if common else 0.0


def _overlap(first: Box, second: Box) -> bool:
    across = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    down = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    return across > 0 and down > 0
