"""One row of an evaluation: a target, rebuilt by a model in a stack, and its figures."""

import hashlib

import msgspec

from heald_studio.evaluate.design2code import Design2Code
from heald_studio.evaluate.document_figures import DocumentFigures
from heald_studio.evaluate.page_parts import PartFigures
from heald_studio.evaluate.quality import Quality
from heald_studio.score.score import Score


class Pictures(msgspec.Struct, frozen=True):
    """Target, result and heat map as small WebP pictures; empty if there is none."""

    target: bytes = b""
    result: bytes = b""
    heat: bytes = b""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    group: str
    model: str
    stack: str
    score: Score | None = None
    own: Score | None = None
    """The score that is computed where the text of the target is unknown, if it is known here."""
    quality: Quality | None = None
    parts: PartFigures | None = None
    """Which links, controls and icons of the document the page has, if the document is known."""
    document: DocumentFigures | None = None
    """What the page has of the document beside the target, if there is one."""
    design2code: Design2Code | None = None
    """The score by the definition of Design2Code, if the document is there."""
    identity: Design2Code | None = None
    """The same for the document against itself."""
    seen: float | None = None
    """The share of the document's lines that this measure sees."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    first_preview_seconds: float | None = None
    memory_mb: float | None = None
    cost_usd: float | None = None
    error: str = ""
    """A sentence if there is no page to measure; its score is 0 then."""
    notes: tuple[str, ...] = ()
    pictures: Pictures = Pictures()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences about the visual differences, the faults of the code, and notes."""
        differences = self.score.differences if self.score is not None else ()
        faults = self.quality.faults if self.quality is not None else ()
        return (*(difference.sentence for difference in differences), *faults, *self.notes)


def row_key(image: bytes, texts: object, model: str, stack: str) -> str:
    """Return the name of a row: a digest of everything that it was measured from."""
    digest = hashlib.sha256(image)
    digest.update(msgspec.json.encode([texts, model, stack]))
    return digest.hexdigest()[:32]
