"""Describes a score in the terminal as the page does: in whole percent, never rounded up."""

from typing import TYPE_CHECKING

from heald_studio.score.figure_text import format_whole_percent

if TYPE_CHECKING:
    from heald_studio.projects.project import VariantScore


def format_score(score: "VariantScore", draft: "VariantScore | None" = None) -> str:
    """Return how close a page is to its picture, such as "97 % match", and how close the draft was."""
    before = f" (draft {format_whole_percent(draft.overall)})" if draft is not None else ""
    return f"{format_whole_percent(score.overall)} match{before}"
