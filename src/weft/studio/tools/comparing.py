"""`compare_with_target`: how far the page is from the picture it shall match, and where."""

import asyncio
from typing import Annotated

import msgspec

from weft.core.content import Text
from weft.core.errors import WeftError
from weft.studio.assignment import Assignment, FindAssignment
from weft.studio.marking import compared
from weft.studio.score.heat import heat_map
from weft.studio.score.score import Score
from weft.studio.tools.project import page_files
from weft.studio.tools.showing import shown
from weft.tools.context import ToolContext
from weft.tools.files.claims import reads_all
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Tool

_Number = Annotated[int, msgspec.Meta(ge=1)]
_ROOM = 350_000


def compare_tool(find: FindAssignment) -> Tool:
    @tool(
        name="compare_with_target",
        effect="read",
        access=reads_all,
        summary=lambda _: "Compare the page with the picture",
        timeout=180,
    )
    async def compare_with_target(ctx: ToolContext, target: _Number = 1) -> ToolOutput:
        """Render the page and compare it with the given picture.

        Gives figures from 0 to 1 (1 is the same) for the blocks of text, their words, position and colour, and for
        everything else; the largest differences with their place in the target (x, y, width, height); and a picture
        of the page in grey that is red where it differs.

        Args:
            target: Which of the given pictures, counted from 1.
        """
        work = await find()
        wanted = target_of(work, target)
        files = await asyncio.to_thread(page_files, ctx.workspace, work.stack)
        try:
            score, *pictures = await compared(work.stack, files, wanted)
        except WeftError as error:
            raise ToolFault(str(error)) from None
        heat = await asyncio.to_thread(heat_map, *pictures)
        picture = await asyncio.to_thread(shown, heat, _ROOM)
        return ToolOutput(content=[Text(told(score)), picture], summary=f"score {score.overall:.3f}")

    return compare_with_target


def target_of(work: Assignment, number: int) -> bytes:
    """One of the given pictures, counted from 1."""
    count = len(work.targets)
    if not count:
        raise ToolFault("No picture was given for this design, so there is nothing to look at or compare with.")
    if number > count:
        are = "is only 1 picture" if count == 1 else f"are {count} pictures"
        raise ToolFault(f"There {are}; {number} is none of them.")
    return work.targets[number - 1]


def told(score: Score) -> str:
    """A score in words and figures."""
    names = ("block", "text", "position", "colour", "ssim")
    figures = ", ".join(f"{name} {getattr(score, name):.3f}" for name in names)
    lines = [f"Score {score.overall:.3f} of 1: {figures}."]
    if not score.differences:
        return "\n".join((*lines, "Nothing differs that could be named."))
    lines.append("What differs most, with its place (x, y, width, height):")
    lines += [f"- {each.sentence} [{', '.join(map(str, each.box))}]" for each in score.differences]
    return "\n".join(lines)
