"""Compares a page with the document whose picture it was made from: its elements, its type, and what was invented."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from typing import Any

import msgspec

from heald_studio.browser.page import TextBlock
from heald_studio.evaluate.page_parts import PagePart
from heald_studio.score.text_similarity import normalise_text

DOCUMENT_PROBE = (resources("heald_studio.evaluate") / "document.js").read_text("utf-8").partition("\n")[2].rstrip()
_COMMON = 0.5  # of the smaller of two boxes, by which they are in the same place
_READ = 0.3  # of a line's box that text covers, from which on it was read
_LETTER_INSIDE = 0.8  # of a drawing that lies on a line of text, from which on it is a letter of it
_SIZE_NEAR, _LEAST_NEAR = 0.06, 0.75  # parts and pixels by which a size of type may differ
_FIELDS = frozenset({"field", "select"})
_BY_PLACE = re.compile(r":nth-(?:last-)?(?:child|of-type)\b")

PlaceBox = tuple[float, float, float, float]
"""Left, top, width and height in CSS pixels."""


class TextRun(msgspec.Struct, frozen=True):
    """A piece of text in one line and one style."""

    box: PlaceBox
    bold: bool
    italic: bool
    size: float


class DocumentParts(msgspec.Struct, frozen=True):
    links: tuple[PlaceBox, ...] = ()
    """All anchors, with and without an address."""
    headings: tuple[PlaceBox, ...] = ()
    lists: tuple[PlaceBox, ...] = ()
    tables: tuple[PlaceBox, ...] = ()
    charts: tuple[PlaceBox, ...] = ()
    drawings: tuple[PlaceBox, ...] = ()
    hollow: int = 0
    """Elements without content."""
    runs: tuple[TextRun, ...] = ()


class Count(msgspec.Struct, frozen=True):
    """How many of the document's elements the page has too."""

    number: int
    total: int

    @property
    def share(self) -> float | None:
        return self.number / self.total if self.total else None


class DocumentFigures(msgspec.Struct, frozen=True, kw_only=True):
    links: Count
    fields: Count
    headings: Count
    lists: Count
    tables: Count
    weight: Count
    """Runs of text that are bold where the document's are, and not elsewhere."""
    style: Count
    """The same for italics."""
    size: Count
    wrap: Count
    """Lines with the same text as a line of the document."""
    unread: Count
    """Lines of the document that are not text on the page."""
    charts: int
    """Charts where the document has none."""
    new_fields: int
    letters: int
    """Drawings and pictures that are letters of a line."""
    by_place: int
    """Selectors that count elements."""
    hollow: int

    @property
    def invented(self) -> int:
        return self.charts + self.new_fields + self.letters


def read_document_parts(probed: Any) -> DocumentParts:
    return msgspec.convert(probed, DocumentParts)


def with_document(probe: str) -> str:
    """Return a probe that also lists the parts of a document."""
    return f"() => ({{ ...({probe})(), ...({DOCUMENT_PROBE})() }})"


def compare_documents(
    document: tuple[DocumentParts, Sequence[PagePart], Sequence[TextBlock]],
    page: tuple[DocumentParts, Sequence[PagePart], Sequence[TextBlock]],
    files: Mapping[str, str | bytes],
) -> DocumentFigures:
    """Compare the parts, the controls and the lines of a document with those of a page."""
    true, true_parts, true_texts = document
    made, made_parts, made_texts = page
    true_fields = [part.box for part in true_parts if part.kind in _FIELDS]
    made_fields = [part.box for part in made_parts if part.kind in _FIELDS]
    pressed = [part.box for part in made_parts if part.kind in ("link", "button")]
    runs = [(run, _run_at(run.box, made.runs)) for run in true.runs]
    pairs = [(run, other) for run, other in runs if other is not None]
    lines = [normalise_text(text.text) for text in made_texts]
    unread = [text for text in true_texts if not _is_read(_box(text), made_texts)]
    letters = [box for box in made.drawings if _is_letter(box, true_texts) and not _any_there(box, true.drawings)]
    return DocumentFigures(
        links=_count(true.links, pressed),
        fields=_count(true_fields, made_fields),
        headings=_count(true.headings, made.headings),
        lists=_count(true.lists, made.lists),
        tables=_count(true.tables, made.tables),
        weight=Count(sum(run.bold == other.bold for run, other in pairs), len(pairs)),
        style=Count(sum(run.italic == other.italic for run, other in pairs), len(pairs)),
        size=Count(sum(_is_same_size(run.size, other.size) for run, other in pairs), len(pairs)),
        wrap=Count(sum(normalise_text(text.text) in lines for text in true_texts), len(true_texts)),
        unread=Count(len(unread), len(true_texts)),
        charts=sum(not _any_there(box, true.charts) for box in made.charts),
        new_fields=sum(not _any_there(box, true_fields) for box in made_fields),
        letters=len(letters),
        by_place=count_by_place(files),
        hollow=made.hollow,
    )


def count_by_place(files: Mapping[str, str | bytes]) -> int:
    """Count the selectors of all files that depend on the place of an element among its siblings."""
    texts = (content if isinstance(content, str) else content.decode("utf-8", "replace") for content in files.values())
    return sum(len(_BY_PLACE.findall(text)) for text in texts)


def _count(expected: Sequence[PlaceBox], actual: Sequence[PlaceBox]) -> Count:
    return Count(sum(_any_there(box, actual) for box in expected), len(expected))


def _any_there(box: PlaceBox, others: Sequence[PlaceBox]) -> bool:
    return any(_common(box, other) >= _COMMON * min(box[2] * box[3], other[2] * other[3]) for other in others)


def _common(box: PlaceBox, other: PlaceBox) -> float:
    across = min(box[0] + box[2], other[0] + other[2]) - max(box[0], other[0])
    down = min(box[1] + box[3], other[1] + other[3]) - max(box[1], other[1])
    return across * down if across > 0 and down > 0 else -1.0


def _run_at(box: PlaceBox, runs: Sequence[TextRun]) -> TextRun | None:
    """Return the run that has the most in common with a box."""
    best = max(runs, key=lambda run: _common(box, run.box), default=None)
    return best if best is not None and _common(box, best.box) >= _COMMON * box[2] * box[3] else None


def _is_same_size(size: float, other: float) -> bool:
    return abs(size - other) <= max(_LEAST_NEAR, _SIZE_NEAR * size)


def _box(text: TextBlock) -> PlaceBox:
    return text.x, text.y, text.w, text.h


def _is_read(box: PlaceBox, texts: Sequence[TextBlock]) -> bool:
    return sum(max(_common(box, _box(text)), 0.0) for text in texts) >= _READ * box[2] * box[3]


def _is_letter(box: PlaceBox, texts: Sequence[TextBlock]) -> bool:
    area = box[2] * box[3]
    return any(_common(box, _box(text)) >= _LETTER_INSIDE * area for text in texts)
