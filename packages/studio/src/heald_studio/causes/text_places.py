"""Finds the texts of a page in its picture: which part of which line each text node comes from.

The texts of the page are one sequence of letters. Each line of the picture is looked for in it: first where it occurs
once, then where it is nearest to what is certain, then where it is most alike. What is in no line is placed by the
texts around it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from statistics import median
from types import MappingProxyType
from typing import Literal

from heald_pictures.rect import Rect, hull
from heald_pictures.scripts import wide_letter
from heald_studio.causes.folded_text import fold_text
from heald_studio.causes.ink_gaps import InkGap, InkSign
from heald_studio.causes.rendered_texts import PageWord, RenderedTexts, TextNode
from heald_studio.causes.row_spread import RowWord, spread_row
from heald_studio.causes.shifts import PlacePair, Shifts
from heald_studio.score.text_similarity import text_similarity

FoundBy = Literal["text", "position"]
_LEAST_UNIQUE = 4  # letters of a line that occurs once and is certain therefore
_LEAST_ALIKE = 0.6
_SLACK = 0.25  # of the length, by which a text may be longer or shorter than a line that is alike
_FAR = 600.0  # pixels; a line so far from where it is expected loses half a likeness
_SPACE = 0.25  # the width of a space, in heights
_NO_SPACE = 0.06  # a narrower distance, in heights, is none
_FAR_APART = 1.0  # a wider distance of words, in heights, is that of two columns
_LEAST_CUT = 0.15  # the width of a gap at which a line is cut, in heights
_BEARING = 0.05  # the room on each side of a sign's ink, in heights
_WHOLE = 0.9  # the share of a text's letters from which on the rest needs no guess
_LARGE = 1.5  # a letter so much higher than the others, such as an initial, is part of the place though it was not read
_SMALLER = 0.85  # a word that is lower than the highest one of its row by this share is in smaller letters
_SIGN = 0.35  # the width of a sign between two texts, in heights
_STRAY = 0.2  # a smaller share of a text's letters may be those of another text
_STRAY_AWAY = 5.0  # if they are so far away, in heights
_NARROW_LETTERS = frozenset(" iljtfIr.,:;'!|()[]/·")
_WIDE_LETTERS = frozenset("mwMW@%")
_NO_SIGNS: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line of text that was read in a picture, in CSS pixels."""

    text: str
    rect: Rect
    gaps: tuple[InkGap, ...] = ()
    """Where no letter is; empty if the pixels are not known."""
    before: InkSign | None = None
    """A sign before it that was not read, and one after it."""
    after: InkSign | None = None
    has_equal_letters: bool = False
    """Whether its font has letters of one width, and spaces of the same."""

    @property
    def gaps_inside(self) -> list[InkGap]:
        return (
            []
            if self.has_equal_letters
            else [gap for gap in self.gaps if gap.left > self.rect.x and gap.right < self.rect.right]
        )


@dataclass(frozen=True, slots=True)
class TextPlace:
    """The place of a text node in the picture."""

    rect: Rect
    found_by: FoundBy
    likeness: float
    """The share of its letters that were read there, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class PlacedTexts:
    """The places of the text nodes of a page, in their order, and of everything else by them."""

    places: list[TextPlace]
    shifts: Shifts


def place_texts(page: RenderedTexts, lines: Sequence[PictureLine], picture_height: float) -> PlacedTexts:
    """Find the place of each text node of a page in its picture."""
    return _Placing(page, lines, picture_height).place()


class _Placing:
    def __init__(self, page: RenderedTexts, lines: Sequence[PictureLine], picture_height: float) -> None:
        self._page = page
        self._height = picture_height
        self._words: list[PageWord] = [word for node in page.texts for word in node.words]
        folded = [fold_text(word.text) for word in self._words]
        self._letters = "".join(folded)
        self._starts: list[int] = []
        """Where each word begins in the letters."""
        at = 0
        for letters in folded:
            self._starts.append(at)
            at += len(letters)
        self._starts.append(at)
        self._boundaries = set(self._starts)
        self._assigned = bytearray(len(self._letters))
        self._lines = [(fold_text(line.text), line) for line in lines]
        self._unplaced = [number for number, (letters, _) in enumerate(self._lines) if letters]
        self._pairs: list[PlacePair] = []
        self._places: dict[int, Rect] = {}
        """The places of words in the picture, as far as their letters were read."""
        self._read: dict[int, int] = {}
        """How many letters of each word were read."""
        self._signs: dict[tuple[int, int], InkSign] = {}
        """The signs beside lines, by the word of the line that is next to each, and the side."""

    def place(self) -> PlacedTexts:
        self._place_unique()
        self._place_repeated()
        self._place_nearest()
        self._place_alike()
        self._place_parts()
        shifts = self._shifts()
        return PlacedTexts(list(self._node_places(shifts)), shifts)

    def _place_unique(self) -> None:
        counts: dict[str, int] = {}
        for letters, _ in self._lines:
            counts[letters] = counts.get(letters, 0) + 1
        for number in list(self._unplaced):
            letters, _ = self._lines[number]
            starts = list(self._occurrences(letters))
            if len(letters) >= _LEAST_UNIQUE and len(starts) == counts[letters] == 1:
                self._assign(number, starts[0], letters)

    def _place_repeated(self) -> None:
        """Place a text that the page has as often as the picture, such as the same link in each row, in order."""
        numbers: dict[str, list[int]] = {}
        for number in self._unplaced:
            numbers.setdefault(self._lines[number][0], []).append(number)
        for letters, members in numbers.items():
            starts = list(self._occurrences(letters))
            if len(starts) != len(members) or len(letters) < _LEAST_UNIQUE:
                continue
            here = _rows([self._words[self._word_at(start)].rect for start in starts])
            there = _rows([self._lines[number][1].rect for number in members])
            if [len(row) for row in here] == [len(row) for row in there]:
                for at, to in zip(chain(*here), chain(*there), strict=True):
                    self._assign(members[to], starts[at], letters)

    def _place_nearest(self) -> None:
        shifts = self._shifts()
        candidates: list[tuple[float, int, int]] = []
        for number in self._unplaced:
            letters, line = self._lines[number]
            candidates += [(self._distance(shifts, start, line), number, start) for start in self._occurrences(letters)]
        for _, number, start in sorted(candidates):
            letters, _ = self._lines[number]
            if number in self._unplaced and self._is_free(start, len(letters)):
                self._assign(number, start, letters)

    def _place_alike(self) -> None:
        shifts = self._shifts()
        candidates: list[tuple[float, int, int, int]] = []
        for number in self._unplaced:
            letters, line = self._lines[number]
            for word, start in enumerate(self._starts[:-1]):
                if not self._is_free(start, 1):
                    continue
                for end in self._ends(word, len(letters)):
                    likeness = text_similarity(letters, self._letters[start:end])
                    if likeness >= _LEAST_ALIKE:
                        far = self._distance(shifts, start, line) / _FAR
                        candidates.append((min(far, 1.0) / 2 - likeness, number, start, end))
        for cost, number, start, end in sorted(candidates):
            if cost < -_LEAST_ALIKE / 2 and number in self._unplaced and self._is_free(start, end - start):
                self._assign(number, start, self._letters[start:end])

    def _place_parts(self) -> None:
        """Place texts that a line holds together with others, such as those of two columns."""
        shifts = self._shifts()
        for number in list(self._unplaced):
            letters, line = self._lines[number]
            used = bytearray(len(letters))
            candidates: list[tuple[float, int, int, int]] = []
            for start, end in self._free_rows():
                at = letters.find(self._letters[start:end])
                while at >= 0:
                    part = _part_of(line, letters, at, at + end - start)
                    place = shifts.place(self._words[self._word_at(start)].rect)
                    far = abs(place.x - part.x) + abs(place.middle[1] - part.middle[1])
                    candidates.append((far - 8.0 * (end - start), start, end, at))
                    at = letters.find(self._letters[start:end], at + 1)
            for _, start, end, at in sorted(candidates):
                if self._is_free(start, end - start) and not any(used[at : at + end - start]):
                    used[at : at + end - start] = b"\1" * (end - start)
                    self._spread(_cut(line, letters, at, at + end - start), start, end)

    def _free_rows(self) -> Iterator[tuple[int, int]]:
        """Yield the runs of words of a node that stand in one row and are not placed yet, with at least two letters."""
        word = 0
        for node in self._page.texts:
            run: list[int] = []
            for _ in node.words:
                start, end = self._starts[word], self._starts[word + 1]
                is_free = end > start and self._is_free(start, end - start)
                is_same_row = not run or abs(self._words[run[-1]].y - self._words[word].y) < self._words[word].h / 2
                if run and not (is_free and is_same_row):
                    yield self._starts[run[0]], self._starts[run[-1] + 1]
                    run = []
                if is_free:
                    run.append(word)
                word += 1
            if run and self._starts[run[-1] + 1] - self._starts[run[0]] > 1:
                yield self._starts[run[0]], self._starts[run[-1] + 1]

    def _occurrences(self, letters: str) -> Iterator[int]:
        """Yield where whole words of the page that are not placed yet have these letters."""
        at = self._letters.find(letters)
        while at >= 0:
            if at in self._boundaries and at + len(letters) in self._boundaries and self._is_free(at, len(letters)):
                yield at
            at = self._letters.find(letters, at + 1)

    def _ends(self, word: int, count: int) -> Iterator[int]:
        """Yield the ends of words so that a text from this word on is about as long as a line."""
        start = self._starts[word]
        slack = max(2, int(_SLACK * count))
        at = bisect_right(self._starts, start + count - slack - 1)
        while at < len(self._starts) and self._starts[at] <= start + count + slack:
            if self._starts[at] > start:
                yield self._starts[at]
            at += 1

    def _distance(self, shifts: Shifts, start: int, line: PictureLine) -> float:
        place = shifts.place(self._words[self._word_at(start)].rect)
        return abs(place.x - line.rect.x) + abs(place.middle[1] - line.rect.middle[1])

    def _word_at(self, start: int) -> int:
        return bisect_right(self._starts, start) - 1

    def _is_free(self, start: int, count: int) -> bool:
        return not any(self._assigned[start : start + count])

    def _shifts(self) -> Shifts:
        return Shifts(self._pairs, self._page.height, self._height)

    def _assign(self, number: int, start: int, letters: str) -> None:
        self._unplaced.remove(number)
        read, line = self._lines[number]
        signs: dict[int, int] = {}
        if read != letters:
            line = _without_extra(line, read, letters)
            signs = {start + at: count for at, count in _signs_between(read, letters).items()}
        self._spread(line, start, start + len(letters), signs)

    def _spread(self, line: PictureLine, start: int, end: int, signs: Mapping[int, int] = _NO_SIGNS) -> None:
        """Give each word its part of a line, as wide as it is on the page beside the others. `signs` has how many signs
        stand in the line before a letter that the page does not have as text."""
        self._assigned[start:end] = b"\1" * (end - start)
        words = list(range(self._word_at(start), self._word_at(end - 1) + 1))
        row: list[RowWord] = []
        members: list[int | None] = []
        for word in words:
            height = self._words[word].h
            count = signs.get(self._starts[word + 1], 0) if word != words[-1] else 0
            space = 0.0 if word == words[-1] else _SPACE * height if count else self._gap_after(word)
            row.append(RowWord(self._words[word].w, space))
            members.append(word)
            if count:
                row.append(RowWord(count * _SIGN * height, _SPACE * height))
                members.append(None)
        if line.has_equal_letters:
            counts = [1 if word is None else len(self._words[word].text) for word in members]
            row = [RowWord(count, float(part.space > 0)) for count, part in zip(counts, row, strict=True)]
        for word, place in zip(members, spread_row(line.rect, line.gaps_inside, row), strict=True):
            if word is not None:
                self._places[word] = self._lower(place, word, words)
                self._read[word] = self._starts[word + 1] - self._starts[word]
        if line.before is not None:
            self._signs[words[0], -1] = line.before
        if line.after is not None:
            self._signs[words[-1], 1] = line.after
        first = self._words[words[0]]
        self._pairs.append(PlacePair(first.rect, self._places[words[0]]))

    def _lower(self, place: Rect, word: int, words: Sequence[int]) -> Rect:
        """Return the place of a word, lower than the line if it stands in smaller letters beside others on the page."""
        here = self._words[word]
        tallest = max((self._words[number] for number in words), key=lambda other: other.h)
        is_beside = tallest.y - tallest.h / 2 < here.rect.middle[1] < tallest.y + 1.5 * tallest.h
        if here.h > _SMALLER * tallest.h or not is_beside:
            return place
        scale = place.h / tallest.h
        return Rect(place.x, place.y + (here.y - tallest.y) * scale, place.w, here.h * scale)

    def _gap_after(self, word: int) -> float:
        """Return how far the next word stands from a word: as on the page, if both stand in one row there."""
        here, after = self._words[word], self._words[word + 1]
        gap = after.x - here.x - here.w
        is_beside = abs(here.y - after.y) < here.h / 2 and -0.1 * here.h < gap < _FAR_APART * here.h
        if not is_beside:
            return _SPACE * here.h
        return gap if gap > _NO_SPACE * here.h else 0.0

    def _node_places(self, shifts: Shifts) -> Iterator[TextPlace]:
        first = 0
        for node in self._page.texts:
            yield self._node_place(node, first, shifts)
            first += len(node.words)

    def _node_place(self, node: TextNode, first: int, shifts: Shifts) -> TextPlace:
        numbers = range(first, first + len(node.words))
        total = sum(self._starts[number + 1] - self._starts[number] for number in numbers)
        read = sum(self._read.get(number, 0) for number in numbers)
        numbers_read = self._without_strays([number for number in numbers if number in self._places])
        places = [self._places[number] for number in numbers_read]
        likeness = read / max(total, 1)
        usual = median(self._words[number].h for number in numbers)
        unread = [number for number in numbers if number not in self._places]
        if likeness >= _WHOLE:
            unread = [number for number in unread if self._words[number].h > _LARGE * usual]
        places += [self._guess(number, shifts) for number in unread]
        return TextPlace(hull(places), "text" if read else "position", round(min(likeness, 1.0), 3))

    def _without_strays(self, numbers: list[int]) -> list[int]:
        """Return the words of a text without the few that stand far from the others, and may be of another text."""
        if len(numbers) < 2:
            return numbers
        height = hull(self._words[number].rect for number in numbers).h
        middle = median(self._places[number].middle[1] for number in numbers for _ in range(self._read[number]))
        near: list[int] = []
        for number in numbers:
            place = self._places[number]
            if abs(place.middle[1] - middle) <= 2 * height + _STRAY_AWAY * place.h:
                near.append(number)
        share = sum(self._read[number] for number in near) / sum(self._read[number] for number in numbers)
        return near if share > 1 - _STRAY else numbers

    def _guess(self, number: int, shifts: Shifts) -> Rect:
        """Return where a word that was not read stands: beside the word before or after it in its row, if that was."""
        word = self._words[number]
        for step in (-1, 1):
            place = self._places.get(number + step)
            if place is None or abs(self._words[number + step].y - word.y) > word.h / 2:
                continue
            beside = self._words[number + step]
            scale = place.w / max(beside.w, 1.0)
            gap = (word.x - beside.x - beside.w if step < 0 else beside.x - word.x - word.w) * scale
            left = place.right + gap if step < 0 else place.x - gap - word.w * scale
            sign = self._signs.get((number + step, -step))
            if sign is not None and len(word.text) == 1 and word.h <= _LARGE * beside.h:
                bearing = _BEARING * place.h
                return Rect(sign.left - bearing, place.y, sign.right - sign.left + 2 * bearing, place.h)
            if 0 <= gap < _FAR_APART * word.h:
                rise = place.h / max(beside.h, 1.0)
                middle = place.middle[1] + (word.rect.middle[1] - beside.rect.middle[1]) * rise
                return Rect(left, middle - word.h * rise / 2, word.w * scale, word.h * rise)
        return shifts.place(word.rect)


def _rows(rects: Sequence[Rect]) -> list[list[int]]:
    """Return the numbers of places row by row, each row from left to right."""
    rows: list[list[int]] = []
    for number in sorted(range(len(rects)), key=lambda at: rects[at].y):
        if rows and rects[number].middle[1] < rects[rows[-1][0]].bottom:
            rows[-1].append(number)
        else:
            rows.append([number])
    return [sorted(row, key=lambda at: rects[at].x) for row in rows]


def _part_of(line: PictureLine, letters: str, start: int, end: int) -> Rect:
    """Return the part of a line that some of its letters take, by usual widths of letters."""
    edges: list[tuple[float, float]] = []
    width = 0.0
    for letter in line.text:
        step = 1.0 if line.has_equal_letters else _letter_width(letter)
        edges += [(width, width + step)] * len(fold_text(letter))
        width += step
    if len(edges) != len(letters):
        edges, width = [(float(at), at + 1.0) for at in range(len(letters))], float(len(letters))
    left, right = edges[start][0] / width, edges[end - 1][1] / width
    return Rect(line.rect.x + left * line.rect.w, line.rect.y, (right - left) * line.rect.w, line.rect.h)


def _letter_width(letter: str) -> float:
    """Return the usual width of a letter, in ems."""
    if wide_letter(letter):
        return 1.0
    if letter in _NARROW_LETTERS:
        return 0.28
    if letter in _WIDE_LETTERS:
        return 0.83
    return 0.67 if letter.isupper() else 0.53


def _cut(line: PictureLine, letters: str, start: int, end: int) -> PictureLine:
    """Return the part of a line that some of its letters take, from space to space where there is one near."""
    part = _part_of(line, letters, start, end)
    spaces = [gap for gap in line.gaps if gap.width >= _LEAST_CUT * part.h and not line.has_equal_letters]
    left, right = part.x, part.right
    before = min(spaces, key=lambda gap: abs(gap.middle - left), default=None)
    if start > 0 and before is not None and abs(before.middle - left) < part.h:
        left = before.right
    after = min(spaces, key=lambda gap: abs(gap.middle - right), default=None)
    if end < len(letters) and after is not None and abs(after.middle - right) < part.h:
        right = after.left
    if right - left < part.w / 2:
        return PictureLine(line.text, part, has_equal_letters=line.has_equal_letters)
    rect = Rect(left, part.y, right - left, part.h)
    return PictureLine(line.text, rect, line.gaps, has_equal_letters=line.has_equal_letters)


def _signs_between(read: str, letters: str) -> dict[int, int]:
    """Return how many signs, such as dots between links, a line has before a letter that is not the first one."""
    signs: dict[int, int] = {}
    for tag, at, _, start, end in SequenceMatcher(None, letters, read, autojunk=False).get_opcodes():
        if tag == "insert" and 0 < at < len(letters) and not any(map(str.isalnum, read[start:end])):
            signs[at] = end - start
    return signs


def _without_extra(line: PictureLine, read: str, letters: str) -> PictureLine:
    """Return the line without the letters before and after the text, such as an icon that was read as a letter."""
    blocks = [
        block for block in SequenceMatcher(None, read, letters, autojunk=False).get_matching_blocks() if block.size
    ]
    if not blocks:
        return line
    before = blocks[0].a - blocks[0].b
    after = (len(read) - blocks[-1].a - blocks[-1].size) - (len(letters) - blocks[-1].b - blocks[-1].size)
    start, end = max(0, before), len(read) - max(0, after)
    return _cut(line, read, start, end) if end > start else line
