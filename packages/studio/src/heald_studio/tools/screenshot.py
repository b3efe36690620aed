"""The tool `screenshot_preview`: pictures of the page on a desktop and on a phone."""

import asyncio
from typing import Literal

from heald.core.errors import HealdError
from heald.core.messages import ResultPart, Text
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.files.access import reads_all
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald_studio.browser.page import DESKTOP, MOBILE, Rendering
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.score.scoring import render_project
from heald_studio.stacks.stack import Stack
from heald_studio.tools.assets import MAX_RESULT_BYTES, crop_tall, picture_content
from heald_studio.tools.context import Files, FindContext, read_page_files

Device = Literal["desktop", "mobile"]

_MAX_LINES = 20
_MAX_LINE = 300
_SHARES = {"desktop": 0.65, "mobile": 0.35}


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
        # pyrefly: ignore[bad-assignment]
        chosen: list[Device] = list(dict.fromkeys(devices or ("desktop", "mobile")))
        looks = [_render(work.stack, files, page, device) for device in chosen]
        renderings = dict(zip(chosen, await asyncio.gather(*looks), strict=True))
        return await asyncio.to_thread(_screenshot_result, renderings)

    return screenshot_preview


async def _render(stack: Stack, files: Files, page: str, device: Device) -> Rendering | HealdError:
    """Render the page on one device; the error if that fails."""
    mobile = device == "mobile"
    try:
        return await render_project(stack, files, MOBILE if mobile else DESKTOP, page=page, mobile=mobile)
    except HealdError as error:
        return error


def _screenshot_result(renderings: dict[Device, Rendering | HealdError]) -> ToolOutput:
    room = MAX_RESULT_BYTES if len(renderings) == 1 else 0
    parts: list[ResultPart] = []
    summary: list[str] = []
    for device, rendering in renderings.items():
        if isinstance(rendering, HealdError):
            parts.append(Text(f"{device.capitalize()}: {rendering}"))
            summary.append(f"{device}: no picture")
            continue
        picture, cut = crop_tall(rendering.picture)
        parts.append(Text("\n".join((*_describe_rendering(device, rendering), *([cut] if cut else [])))))
        parts.append(picture_content(picture, room or round(MAX_RESULT_BYTES * _SHARES[device])))
        summary.append(f"{device}: {_count_faults(rendering)}")
    if all(isinstance(rendering, HealdError) for rendering in renderings.values()):
        reasons = dict.fromkeys(str(rendering) for rendering in renderings.values())
        return ToolOutput(content="\n".join(reasons), summary="no picture", is_error=True)
    return ToolOutput(content=parts, summary="; ".join(summary))


def _describe_rendering(device: Device, rendering: Rendering) -> list[str]:
    width = DESKTOP.width if device == "desktop" else MOBILE.width
    title = f", titled “{rendering.title[:100]}”" if rendering.title else ", without a title"
    lines = [f"{device.capitalize()}, {width} px wide: the page is {rendering.size[1]} px tall{title}."]
    lines += _bulleted("Console", rendering.console, "nothing")
    lines += _bulleted("Requests that failed", rendering.failed, "none")
    wider = f"the page is {rendering.overflow} px wider than the window, so it scrolls sideways"
    return [*lines, f"Overflow: {wider if rendering.overflow else 'none'}.", *rendering.notes]


def _bulleted(name: str, items: tuple[str, ...], none: str) -> list[str]:
    if not items:
        return [f"{name}: {none}."]
    lines = [f"- {' '.join(item.split())[:_MAX_LINE]}" for item in items[:_MAX_LINES]]
    more = [f"- and {len(items) - _MAX_LINES} more"] if len(items) > _MAX_LINES else []
    return [f"{name}:", *lines, *more]


def _count_faults(rendering: Rendering) -> str:
    errors = sum(line.startswith("error") for line in rendering.console)
    counts = ((errors, "error"), (len(rendering.failed), "failed request"))
    faults = [f"{count} {word}{'s' * (count != 1)}" for count, word in counts if count]
    faults += [f"{rendering.overflow} px overflow"] * bool(rendering.overflow)
    return ", ".join(faults) or "no faults"
