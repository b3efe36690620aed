"""Scores how far the pages of `heald build` keep to a design system, and describes the scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heald.commands.terminal import print_note
from heald_studio.commands.local_studio import OWNER
from heald_studio.score.figure_text import format_whole_percent

if TYPE_CHECKING:
    from heald_studio.design.adherence import DesignScore
    from heald_studio.projects.project import Variant, Version
    from heald_studio.studio import Studio

_MOST = 3


async def score_designs(
    studio: "Studio", project: str, version: "Version", built: Sequence[tuple["Variant", Path | None, list[str]]]
) -> "dict[int, DesignScore]":
    """Return the scores of the pages by the index of their variant; none if the design system has no values."""
    from heald_studio.browser.page import BrowserError
    from heald_studio.design.adherence import score_design
    from heald_studio.design.design_text import read_design
    from heald_studio.projects.project import VariantRef

    tokens = read_design(await studio.design(OWNER, project))
    scores: dict[int, DesignScore] = {}
    if not tokens:
        return scores
    stack = studio.find_stack((await studio.get(OWNER, project)).stack)
    for variant in [variant for variant, folder, _ in built if folder is not None and variant.status == "completed"]:
        files = await studio.files(OWNER, project, VariantRef(version.id, variant.index))
        try:
            scores[variant.index] = await score_design(stack, files, tokens)
        except BrowserError as error:
            print_note(f"Variant {variant.index + 1} was not compared with the design system: {error}")
    return scores


def print_design_scores(scores: "Mapping[int, DesignScore]") -> None:
    for index, score in scores.items():
        if score.share is None:
            continue
        strays = [f"{stray.value} ({stray.property} of {stray.path})" for stray in score.strays[:_MOST]]
        more = f" and {len(score.strays) - _MOST} more" if len(score.strays) > _MOST else ""
        others = f"; other values: {', '.join(strays)}{more}" if strays else ""
        print_note(f"Variant {index + 1} keeps to the design system by {format_whole_percent(score.share)}{others}.")
