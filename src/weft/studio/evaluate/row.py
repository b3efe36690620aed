"""One target, one model, one stack: what came of it."""

import msgspec

from weft.studio.evaluate.quality import Quality
from weft.studio.score import Score


class Pictures(msgspec.Struct, frozen=True):
    """Target, result and heat map, made small, as WebP; empty where there is none."""

    target: bytes = b""
    result: bytes = b""
    heat: bytes = b""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    group: str
    model: str
    stack: str
    score: Score | None = None
    quality: Quality | None = None
    seconds: float = 0.0
    first_preview_seconds: float | None = None
    memory_mb: float | None = None
    cost_usd: float | None = None
    error: str = ""
    """One sentence if there is no page to measure. Its score counts as 0 then."""
    notes: tuple[str, ...] = ()
    pictures: Pictures = Pictures()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say about it, in sentences: what looks different, what is wrong in the code, notes."""
        differences = self.score.differences if self.score is not None else ()
        faults = self.quality.faults if self.quality is not None else ()
        return (*(each.sentence for each in differences), *faults, *self.notes)
