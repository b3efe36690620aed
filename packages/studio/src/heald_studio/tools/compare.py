"""The tool `compare_with_target`: the score of the page, and where it differs from the target."""

import asyncio
from typing import Annotated

import msgspec

from heald.core.errors import HealdError
from heald.core.messages import Text
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.files.access import reads_all
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_pictures.comparison import PageComparison
from heald_studio.score.figure_text import floor_figure, format_figure, format_percent
from heald_studio.score.heat_map import heat_map
from heald_studio.score.score import Score
from heald_studio.score.scoring import compare_page
from heald_studio.tools.assets import picture_content
from heald_studio.tools.context import FindContext, VariantContext, read_page_files

_Number = Annotated[int, msgspec.Meta(ge=1)]
_HEAT_MAP_BYTES = 350_000


def compare_tool(find: FindContext) -> Tool:
    @tool(
        name="compare_with_target",
        effect="read",
        access=reads_all,
        summary=lambda _: "Compare the page with the picture",
        timeout=180,
    )
    async def compare_with_target(ctx: ToolContext, target: _Number = 1) -> ToolOutput:
        """Render the page and compare it with the given picture.

        Gives figures from 0 to 1 (1 is the same) for the blocks of text, their words, position, colour and style, for
        shapes (boxes, pictures, icons, lines) and for their look; the share of the area that changed; the largest
        differences with their place in the target (x, y, width, height); and a picture of the page in grey that is red
        where it differs.

        Args:
            target: Which of the given pictures, counted from 1.
        """
        work = await find()
        target_image = target_picture(work, target)
        files = await asyncio.to_thread(read_page_files, ctx.workspace, work.stack)
        try:
            score, *pictures = await compare_page(work.stack, files, target_image)
        except HealdError as error:
            raise ToolFault(str(error)) from None
        heat = await asyncio.to_thread(heat_map, *pictures)
        picture = await asyncio.to_thread(picture_content, heat, _HEAT_MAP_BYTES)
        return ToolOutput(
            content=[Text(describe_score(score)), picture],
            summary=f"score {format_figure(score.overall)}",
            data=msgspec.to_builtins(comparison_of(score)),
        )

    return compare_with_target


def target_picture(work: VariantContext, number: int) -> bytes:
    """Return one of the given pictures, counted from 1."""
    count = len(work.targets)
    if not count:
        raise ToolFault("No picture was given for this design, so there is nothing to look at or compare with.")
    if number > count:
        are = "is only 1 picture" if count == 1 else f"are {count} pictures"
        raise ToolFault(f"There {are}; {number} is none of them.")
    return work.targets[number - 1]


def describe_score(score: Score) -> str:
    """Describe a score in words and figures."""
    names = ("block", "text", "position", "colour", "style", "shapes", "ssim")
    figures = ", ".join(f"{name} {format_figure(getattr(score, name))}" for name in names)
    changed = format_percent(score.changed, less_is_better=True)
    lines = [f"Score {format_figure(score.overall)} of 1: {figures}; {changed} of the area changed."]
    if not score.differences:
        return "\n".join((*lines, "Nothing differs that could be named."))
    lines.append("What differs most, with its place (x, y, width, height):")
    lines += [f"- {difference.sentence} [{', '.join(map(str, difference.box))}]" for difference in score.differences]
    return "\n".join(lines)


def comparison_of(score: Score) -> PageComparison:
    """Convert a score to its form for programs."""
    details = tuple(difference.detail for difference in score.differences if difference.detail is not None)
    return PageComparison(score=floor_figure(score.overall), differences=details)
