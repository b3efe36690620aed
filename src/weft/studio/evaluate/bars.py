"""The bars a set of pages has to reach, and whether it does."""

from typing import Literal

import msgspec

from weft.studio.evaluate.columns import BY_KEY

Figure = Literal["mean", "median", "worst"]


class Bar(msgspec.Struct, frozen=True):
    """A limit on one figure of one column. Which side is better is the column's matter."""

    column: str
    figure: Figure
    limit: float

    def is_met(self, value: float | None) -> bool | None:
        """None if there was nothing to measure."""
        if value is None:
            return None
        return value >= self.limit if BY_KEY[self.column].better == "high" else value <= self.limit

    @property
    def sentence(self) -> str:
        column = BY_KEY[self.column]
        side = "at least" if column.better == "high" else "at most"
        return f"{self.figure} {column.label} {side} {column.written(self.limit)}"


BARS: tuple[Bar, ...] = (
    Bar("block", "mean", 0.95),
    Bar("text", "mean", 0.98),
    Bar("position", "mean", 0.98),
    Bar("colour", "mean", 0.97),
    Bar("ssim", "mean", 0.93),
    *(Bar(column, "worst", 0.85) for column in ("block", "text", "position", "colour", "ssim")),
    Bar("positioned", "worst", 0.05),
    Bar("overflow", "worst", 0),
    Bar("axe", "worst", 0),
    Bar("invalid", "worst", 0),
    Bar("size", "median", 25_000),
    Bar("headings", "worst", 1),
    Bar("unlabelled", "worst", 0),
    Bar("seconds", "worst", 15),
    Bar("preview", "worst", 3),
    Bar("memory", "worst", 1_200),
)
