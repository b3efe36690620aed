"""The bars that an evaluation must reach."""

from typing import Literal

import msgspec

from heald_studio.evaluate.columns import COLUMNS_BY_KEY

Figure = Literal["mean", "median", "worst"]


class Bar(msgspec.Struct, frozen=True):
    """A limit for one figure of one column; the column defines which side is better."""

    column: str
    figure: Figure
    limit: float

    def is_met(self, value: float | None) -> bool | None:
        """Whether the value reaches the limit; None if nothing was measured."""
        if value is None:
            return None
        return value >= self.limit if COLUMNS_BY_KEY[self.column].better == "high" else value <= self.limit

    @property
    def sentence(self) -> str:
        column = COLUMNS_BY_KEY[self.column]
        side = "at least" if column.better == "high" else "at most"
        return f"{self.figure} {column.label} {side} {column.format(self.limit)}"


BARS: tuple[Bar, ...] = (
    Bar("block", "mean", 0.97),
    Bar("text", "mean", 0.985),
    Bar("position", "mean", 0.985),
    Bar("colour", "mean", 0.97),
    Bar("text_style", "mean", 0.95),
    Bar("shapes", "mean", 0.97),
    Bar("ssim", "mean", 0.94),
    *(Bar(column, "worst", 0.85) for column in ("block", "text", "position", "colour", "shapes", "ssim")),
    Bar("changed", "mean", 0.03),
    Bar("overall", "mean", 0.95),
    Bar("agrees", "mean", 0.9),
    Bar("flatters", "worst", 0.1),
    Bar("positioned", "worst", 0.05),
    Bar("overflow", "worst", 0),
    Bar("axe", "worst", 0),
    Bar("invalid", "worst", 0),
    *(Bar(column, "mean", 0.8) for column in ("links", "controls", "icons")),
    Bar("size", "median", 25_000),
    Bar("headings", "worst", 1),
    Bar("unlabelled", "worst", 0),
    Bar("seconds", "worst", 15),
    Bar("preview", "worst", 3),
    Bar("memory", "worst", 1_200),
)
