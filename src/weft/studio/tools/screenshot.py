"""`screenshot_preview`: the project as a browser shows it, on a desktop and on a phone."""

import asyncio
from typing import Literal

from weft.core.content import Text
from weft.core.errors import WeftError
from weft.core.tools import ResultPart
from weft.studio.assignment import FindAssignment
from weft.studio.browser.browser import shared_browser
from weft.studio.browser.rendering import DESKTOP, MOBILE, Rendering
from weft.studio.stacks.preview import PAGE, Preview
from weft.studio.tools.project import page_files
from weft.studio.tools.showing import ROOM, first_part, shown
from weft.tools.context import ToolContext
from weft.tools.files.claims import reads_all
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.tool import Tool

Device = Literal["desktop", "mobile"]

_LINES = 20
_LINE = 300
_SHARES = {"desktop": 0.65, "mobile": 0.35}


def screenshot_tool(find: FindAssignment) -> Tool:
    @tool(name="screenshot_preview", effect="read", access=reads_all, summary=lambda _: "Look at the page", timeout=90)
    async def screenshot_preview(ctx: ToolContext, path: str = "", devices: list[Device] | None = None) -> ToolOutput:
        """Look at the page as a browser shows it: pictures, errors in the console, requests that failed, overflow.

        The browser reaches nothing outside the project but the libraries that the stack offers.

        Args:
            path: Which page, where the project has several, such as about.html. The first one if it is left out.
            devices: desktop (1280 px wide), mobile (375 px wide), or both, which is the default.
        """
        work = await find()
        files = await asyncio.to_thread(page_files, ctx.workspace, work.stack)
        preview = Preview(work.stack, files)
        page = ctx.workspace.normal(path) or PAGE
        if page != PAGE and preview.answer(page) is None:
            raise ToolFault(f"There is no page {page} in the project; list_files shows what there is.", "not_found")
        wanted: list[Device] = list(dict.fromkeys(devices or ("desktop", "mobile")))
        looks = [_look(preview, page, device) for device in wanted]
        seen = dict(zip(wanted, await asyncio.gather(*looks), strict=True))
        return await asyncio.to_thread(_told, seen)

    return screenshot_preview


async def _look(preview: Preview, page: str, device: Device) -> Rendering | WeftError:
    """The page on one device, or why it cannot be seen there."""
    mobile = device == "mobile"
    try:
        return await shared_browser().render(preview, page, MOBILE if mobile else DESKTOP, mobile=mobile)
    except WeftError as error:
        return error


def _told(seen: dict[Device, Rendering | WeftError]) -> ToolOutput:
    room = ROOM if len(seen) == 1 else 0
    parts: list[ResultPart] = []
    summary: list[str] = []
    for device, found in seen.items():
        if isinstance(found, WeftError):
            parts.append(Text(f"{device.capitalize()}: {found}"))
            summary.append(f"{device}: no picture")
            continue
        picture, cut = first_part(found.picture)
        parts.append(Text("\n".join((*_lines(device, found), *([cut] if cut else [])))))
        parts.append(shown(picture, room or round(ROOM * _SHARES[device])))
        summary.append(f"{device}: {_faults(found)}")
    failed = all(isinstance(found, WeftError) for found in seen.values())
    if failed:
        reasons = dict.fromkeys(str(found) for found in seen.values())
        return ToolOutput(content="\n".join(reasons), summary="no picture", is_error=True)
    return ToolOutput(content=parts, summary="; ".join(summary))


def _lines(device: Device, found: Rendering) -> list[str]:
    width = DESKTOP.width if device == "desktop" else MOBILE.width
    title = f", titled “{found.title[:100]}”" if found.title else ", without a title"
    lines = [f"{device.capitalize()}, {width} px wide: the page is {found.size[1]} px tall{title}."]
    lines += _listed("Console", found.console, "nothing")
    lines += _listed("Requests that failed", found.failed, "none")
    if found.overflow:
        lines.append(f"Overflow: the page is {found.overflow} px wider than the window, so it scrolls sideways.")
    else:
        lines.append("Overflow: none.")
    return [*lines, *found.notes]


def _listed(name: str, items: tuple[str, ...], none: str) -> list[str]:
    if not items:
        return [f"{name}: {none}."]
    lines = [f"- {' '.join(item.split())[:_LINE]}" for item in items[:_LINES]]
    more = [f"- and {len(items) - _LINES} more"] if len(items) > _LINES else []
    return [f"{name}:", *lines, *more]


def _faults(found: Rendering) -> str:
    errors = sum(line.startswith("error") for line in found.console)
    counts = ((errors, "error"), (len(found.failed), "failed request"))
    said = [f"{count} {word}{'s' * (count != 1)}" for count, word in counts if count]
    said += [f"{found.overflow} px overflow"] * bool(found.overflow)
    return ", ".join(said) or "no faults"
