"""A scripted model that polishes drafts: it follows the differences that the request names, and keeps what helps.

It sees what a careful person sees in the picture: where text is, and that a place without text is a drawing. Words,
colours and places of text are corrected in the markup; a place without text that looks different is cut out of the
picture. Then it compares, and takes its edits back if the page is no closer to the picture.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from heald.core.messages import Message, Text, ToolResult
from heald.providers.scripted import Script, ScriptedCall, ScriptedRequest
from heald.testing import ScriptedModel

Box = tuple[float, float, float, float]
_PAGE = "index.html"
_SHORTEST = 6  # characters of the text that an edit is anchored at
_SMALLEST, _LEAST = 12, 80  # the side of a place that is cut out, and its pixels that differ
_MOST_CUTS = 2
_SCORE = re.compile(r"Score ([\d.]+) of 1")
_FILE = re.compile(r'<file path="index\.html">\n(.*?)\n?</file>', re.DOTALL)
_WORDS = re.compile(r"^- “([^”…]+)” reads “([^”…]+)”\.", re.MULTILINE)
_COLOUR = re.compile(r"^- “([^”]+)” is #\w+ instead of (#\w+)\.", re.MULTILINE)
_PLACE = re.compile(
    r"^- “([^”]+)” is (?:(\d+) px too far (right|left))?(?: and )?(?:(\d+) px too (low|high))?\. \[", re.MULTILINE
)
_REGION = re.compile(r"^- ([\d,]+) of [\d,]+ pixels differ.*\[(\d+), (\d+), (\d+), (\d+)\]$", re.MULTILINE)


class Edit(NamedTuple):
    old_text: str
    new_text: str


class PageEditor:
    """Edits one draft. `texts` are the places of the text in the picture, which has `ratio` pixels for a CSS pixel."""

    def __init__(self) -> None:
        self.texts: Sequence[Box] = ()
        self.ratio = 1.0
        self._score = 0.0
        self._edits: list[Edit] = []

    def model(self, name: str) -> ScriptedModel:
        return ScriptedModel([self._correct, self._compare, self._decide, "Done."], name=name, piece=400)

    def _correct(self, request: ScriptedRequest) -> Script:
        asked = "".join(block.text for block in request.messages[-1].content if isinstance(block, Text))
        source, scored = _FILE.search(asked), _SCORE.search(asked)
        if source is None or scored is None:
            return "There is nothing to correct."
        page, self._score = source[1], float(scored[1])
        self._edits = [*_word_edits(page, asked), *_style_edits(page, asked)]
        cuts = self._cuts(asked)
        calls: list[ScriptedCall] = []
        if cuts:
            assets = [{"name": f"cut{number}", "box": list(box)} for number, box in enumerate(cuts)]
            calls.append(ScriptedModel.call("extract_assets", assets=assets))
            self._edits.append(Edit("</body>", "".join(self._picture(*cut) for cut in enumerate(cuts)) + "</body>"))
        if not self._edits:
            return "There is nothing to correct."
        return [*calls, self._call(self._edits)]

    def _compare(self, _: ScriptedRequest) -> Script:
        return ScriptedModel.call("compare_with_target")

    def _decide(self, request: ScriptedRequest) -> Script:
        """Take the edits back if they did not help."""
        scored = _SCORE.search(_last_result(request.messages))
        if scored is not None and float(scored[1]) >= self._score:
            return "Done."
        return [self._call([Edit(edit.new_text, edit.old_text) for edit in reversed(self._edits)])]

    def _cuts(self, asked: str) -> list[tuple[int, int, int, int]]:
        """Return the places to cut out of the picture: the largest that differ and have no text."""
        cuts: list[tuple[int, int, int, int]] = []
        for area, *sides in _REGION.findall(asked):
            x, y, width, height = map(int, sides)
            is_large = int(area.replace(",", "")) >= _LEAST and min(width, height) >= _SMALLEST
            if is_large and not any(_overlap((x, y, width, height), text) for text in self.texts):
                cuts.append((x, y, width, height))
        return cuts[:_MOST_CUTS]

    def _picture(self, number: int, box: tuple[int, int, int, int]) -> str:
        x, y, width, _ = (f"{side / self.ratio:g}px" for side in box)
        return f'<img src="assets/cut{number}.png" alt="" style="position:absolute;left:{x};top:{y};width:{width}">'

    def _call(self, edits: Sequence[Edit]) -> ScriptedCall:
        return ScriptedModel.call("edit_file", path=_PAGE, edits=[edit._asdict() for edit in edits])


def _word_edits(page: str, asked: str) -> list[Edit]:
    pairs = [(escape(wrong, quote=False), escape(right, quote=False)) for right, wrong in _WORDS.findall(asked)]
    return [Edit(wrong, right) for wrong, right in pairs if page.count(wrong) == 1]


def _style_edits(page: str, asked: str) -> list[Edit]:
    """Give the elements of misplaced and miscoloured text a style."""
    styles: dict[str, list[str]] = {}
    for words, colour in _COLOUR.findall(asked):
        styles.setdefault(words, []).append(f"color:{colour}")
    for words, across, side, down, edge in _PLACE.findall(asked):
        moves = ["position:relative"] if across or down else []
        moves += [f"left:{'-' if side == 'right' else ''}{across}px"] if across else []
        moves += [f"top:{'-' if edge == 'low' else ''}{down}px"] if down else []
        styles.setdefault(words, []).extend(moves)
    edits: list[Edit] = []
    for words, declarations in styles.items():
        anchor = _anchor(page, escape(words.rstrip("…"), quote=False))
        if anchor and declarations:
            edits.append(Edit(anchor, f' style="{";".join(declarations)}"{anchor}'))
    return edits


def _anchor(page: str, words: str) -> str:
    """Return the shortest beginning of a text, behind its tag, that the page has once; empty if there is none."""
    for size in range(min(_SHORTEST, len(words)), len(words) + 1):
        anchor = f">{words[:size]}"
        if page.count(anchor) == 1:
            tag = page[page.rfind("<", 0, page.index(anchor)) : page.index(anchor)]
            return "" if "style=" in tag or tag.startswith("</") else anchor
    return ""


def _overlap(first: Box, second: Box) -> bool:
    across = min(first[0] + first[2], second[0] + second[2]) - max(first[0], second[0])
    down = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
    return across > 0 and down > 0


def _last_result(messages: Sequence[Message]) -> str:
    results = [block for message in messages for block in message.content if isinstance(block, ToolResult)]
    content = results[-1].content if results else []
    return content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))
