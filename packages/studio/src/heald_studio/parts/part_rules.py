"""The rules that style a part of a page, read from the rendered page."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec

from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import ORIGIN, BrowserError, Viewport
from heald_studio.browser.render import RenderRequest, wait_stable
from heald_studio.browser.tab import Tab
from heald_studio.causes.source_lines import StyleRule, style_lines
from heald_studio.preview.preview import ProjectPreview
from heald_studio.stacks.stack import Stack

_SCRIPT = (files("heald_studio.parts") / "part_rules.js").read_text("utf-8").partition("\n(selector")[2]


class _Sheet(msgspec.Struct):
    file: str
    text: str
    css: str


class _Rules(msgspec.Struct):
    tag: str
    sheets: list[_Sheet]
    inherited: list[tuple[str, str]]
    variables: list[tuple[str, str]]


async def read_part_rules(stack: Stack, project: Mapping[str, bytes], page: str, path: str, scope: str) -> str | None:
    """Return the rules for an element and all in it, as a sheet that holds only for what matches `scope`; None if the
    page has no such element. Rules of sheets that no file of the project has are left out: a library brings them."""
    request = RenderRequest(ORIGIN + page, Viewport(1280, 800))

    async def work(tab: Tab, request: RenderRequest) -> _Rules | None:
        await tab.navigate(request.url, None)
        await wait_stable(tab, request)
        try:
            return msgspec.convert(await tab.evaluate("(selector" + _SCRIPT, path, scope), _Rules | None)
        except msgspec.ValidationError:
            raise BrowserError("The page could not be examined; check that it is an HTML page.", "examine") from None

    rules = await shared_browser().examine(ProjectPreview(stack, project), request, work)
    if rules is None:
        return None
    sheets = [sheet.css for sheet in rules.sheets if sheet.file in project or _is_written(project, sheet.text)]
    if not sheets:
        return ""
    values = "".join(f"  {name}: {value};\n" for name, value in [*rules.inherited, *rules.variables])
    return "\n".join([f":where({scope}) {{\n{values}}}", *sheets])


def _is_written(project: Mapping[str, bytes], text: str) -> bool:
    """Whether a sheet is written in a page of the project."""
    return bool(text.strip()) and bool(style_lines(project, [StyleRule(text, 0, 0)]))
