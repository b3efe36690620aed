"""The tools `screenshot_preview`, `compare_with_target` and `retrieve_option`."""

import asyncio
from typing import Annotated, Literal

import msgspec

from weft.core.design_request import PageComparison
from weft.core.errors import WeftError
from weft.core.messages import ResultPart, Text
from weft.studio.browser.page import DESKTOP, MOBILE, Rendering
from weft.studio.preview import PAGE, ProjectPreview
from weft.studio.prompt_history import decode_text
from weft.studio.score.score import Score, heat_map
from weft.studio.scoring import compare_page, render_project
from weft.studio.stack import Stack
from weft.studio.tools.assets import MAX_RESULT_BYTES, crop_tall, picture_content
from weft.studio.tools.context import Files, FindContext, VariantContext, read_page_files
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.files.access import reads_all
from weft.tools.function_tools import tool
from weft.tools.results import ToolFault, ToolOutput

Device = Literal["desktop", "mobile"]

_MAX_LINES = 20
_MAX_LINE = 300
_SHARES = {"desktop": 0.65, "mobile": 0.35}
_Number = Annotated[int, msgspec.Meta(ge=1)]
_HEAT_MAP_BYTES = 350_000
_MAX_OPTION_CHARACTERS = 100_000


def screenshot_tool(find: FindContext) -> Tool:
    @tool(name="screenshot_preview", effect="read", access=reads_all, summary=lambda _: "Look at the page", timeout=90)
    async def screenshot_preview(ctx: ToolContext, path: str = "", devices: list[Device] | None = None) -> ToolOutput:
        """Look at the page as a browser without a network shows it: pictures, errors, failed requests, overflow.

        Args:
            path: Which page, such as about.html; the first one if it is left out.
            devices: desktop, mobile, or both, which is the default.
        """
        work = await find()
        files = await asyncio.to_thread(read_page_files, ctx.workspace, work.stack)
        preview = ProjectPreview(work.stack, files)
        page = ctx.workspace.normal(path) or PAGE
        if page != PAGE and preview.answer(page) is None:
            raise ToolFault(f"There is no page {page} in the project; list_files shows what there is.", "not_found")
        wanted: list[Device] = list(dict.fromkeys(devices or ("desktop", "mobile")))
        looks = [_render(work.stack, files, page, device) for device in wanted]
        renderings = dict(zip(wanted, await asyncio.gather(*looks), strict=True))
        return await asyncio.to_thread(_screenshot_result, renderings)

    return screenshot_preview


async def _render(stack: Stack, files: Files, page: str, device: Device) -> Rendering | WeftError:
    """Render the page on one device; the error if that fails."""
    mobile = device == "mobile"
    try:
        return await render_project(stack, files, MOBILE if mobile else DESKTOP, page=page, mobile=mobile)
    except WeftError as error:
        return error


def _screenshot_result(renderings: dict[Device, Rendering | WeftError]) -> ToolOutput:
    room = MAX_RESULT_BYTES if len(renderings) == 1 else 0
    parts: list[ResultPart] = []
    summary: list[str] = []
    for device, found in renderings.items():
        if isinstance(found, WeftError):
            parts.append(Text(f"{device.capitalize()}: {found}"))
            summary.append(f"{device}: no picture")
            continue
        picture, cut = crop_tall(found.picture)
        parts.append(Text("\n".join((*_describe_rendering(device, found), *([cut] if cut else [])))))
        parts.append(picture_content(picture, room or round(MAX_RESULT_BYTES * _SHARES[device])))
        summary.append(f"{device}: {_count_faults(found)}")
    if all(isinstance(found, WeftError) for found in renderings.values()):
        reasons = dict.fromkeys(str(found) for found in renderings.values())
        return ToolOutput(content="\n".join(reasons), summary="no picture", is_error=True)
    return ToolOutput(content=parts, summary="; ".join(summary))


def _describe_rendering(device: Device, found: Rendering) -> list[str]:
    width = DESKTOP.width if device == "desktop" else MOBILE.width
    title = f", titled “{found.title[:100]}”" if found.title else ", without a title"
    lines = [f"{device.capitalize()}, {width} px wide: the page is {found.size[1]} px tall{title}."]
    lines += _bulleted("Console", found.console, "nothing")
    lines += _bulleted("Requests that failed", found.failed, "none")
    wider = f"the page is {found.overflow} px wider than the window, so it scrolls sideways"
    return [*lines, f"Overflow: {wider if found.overflow else 'none'}.", *found.notes]


def _bulleted(name: str, items: tuple[str, ...], none: str) -> list[str]:
    if not items:
        return [f"{name}: {none}."]
    lines = [f"- {' '.join(item.split())[:_MAX_LINE]}" for item in items[:_MAX_LINES]]
    more = [f"- and {len(items) - _MAX_LINES} more"] if len(items) > _MAX_LINES else []
    return [f"{name}:", *lines, *more]


def _count_faults(found: Rendering) -> str:
    errors = sum(line.startswith("error") for line in found.console)
    counts = ((errors, "error"), (len(found.failed), "failed request"))
    faults = [f"{count} {word}{'s' * (count != 1)}" for count, word in counts if count]
    faults += [f"{found.overflow} px overflow"] * bool(found.overflow)
    return ", ".join(faults) or "no faults"


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

        Gives figures from 0 to 1 (1 is the same) for the blocks of text, their words, position and colour, and for
        everything else; the largest differences with their place in the target (x, y, width, height); and a picture
        of the page in grey that is red where it differs.

        Args:
            target: Which of the given pictures, counted from 1.
        """
        work = await find()
        wanted = target_picture(work, target)
        files = await asyncio.to_thread(read_page_files, ctx.workspace, work.stack)
        try:
            score, *pictures = await compare_page(work.stack, files, wanted)
        except WeftError as error:
            raise ToolFault(str(error)) from None
        heat = await asyncio.to_thread(heat_map, *pictures)
        picture = await asyncio.to_thread(picture_content, heat, _HEAT_MAP_BYTES)
        return ToolOutput(
            content=[Text(describe_score(score)), picture],
            summary=f"score {score.overall:.3f}",
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
    names = ("block", "text", "position", "colour", "ssim")
    figures = ", ".join(f"{name} {getattr(score, name):.3f}" for name in names)
    lines = [f"Score {score.overall:.3f} of 1: {figures}."]
    if not score.differences:
        return "\n".join((*lines, "Nothing differs that could be named."))
    lines.append("What differs most, with its place (x, y, width, height):")
    lines += [f"- {each.sentence} [{', '.join(map(str, each.box))}]" for each in score.differences]
    return "\n".join(lines)


def comparison_of(score: Score) -> PageComparison:
    """Convert a score to its form for programs."""
    details = tuple(each.detail for each in score.differences if each.detail is not None)
    return PageComparison(score=round(score.overall, 3), differences=details)


def option_tool(find: FindContext) -> Tool:
    @tool(
        name="retrieve_option",
        effect="read",
        summary=lambda arguments: f"Read option {arguments['option_number']}",
        max_output=_MAX_OPTION_CHARACTERS + 20_000,
        idempotent=True,
    )
    async def retrieve_option(option_number: _Number) -> ToolOutput:
        """Read the files of another option (variant) of this design.

        Args:
            option_number: Which one, counted from 1.
        """
        work = await find()
        try:
            files = await work.read_option(option_number)
        except WeftError as error:
            raise ToolFault(str(error)) from None
        if files is None:
            raise ToolFault(f"There is no option {option_number}; they are counted from 1.", "not_found")
        if not files:
            return ToolOutput(content=f"Option {option_number} has no files yet.", summary="no files")
        return _option_result(option_number, files)

    return retrieve_option


def _option_result(number: int, files: Files) -> ToolOutput:
    parts = [f"Option {number} has {len(files)} file{'s' * (len(files) != 1)}."]
    room, cut = _MAX_OPTION_CHARACTERS, False
    for path, data in sorted(files.items()):
        text = decode_text(data)
        if text is None:
            parts.append(f"=== {path} ({len(data):,} bytes, not text) ===")
            continue
        parts.append(f"=== {path} ({len(text):,} characters) ===\n{text[:room]}")
        if len(text) > room:
            parts.append(f"[Cut here: {len(text) - room:,} characters of {path} are left out.]")
            cut = True
        room = max(0, room - len(text))
    return ToolOutput(content="\n".join(parts), summary=f"{len(files)} files", truncated=cut)
