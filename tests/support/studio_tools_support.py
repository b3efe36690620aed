"""What tests of the studio's tools share: a page, a picture of it, and an agent that calls tools by script."""

import asyncio
import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image, ImageDraw

import heald
from heald.core.envelope import Event
from heald.core.events import FileChanged
from heald.core.messages import Image as Shown
from heald.core.messages import ToolCall, ToolResult
from heald.tools.web.fetcher import WebFetcher
from heald.tools.workspace.memory import MemoryWorkspace
from heald_check import check_log
from heald_studio.imaging.images import ImageMaker
from heald_studio.stacks.installed import find_stack
from heald_studio.tools.context import FindContext, VariantContext
from heald_studio.tools.family import studio_tools

call = heald.testing.ScriptedModel.call

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Harbour</title>
<style>body{margin:0;font:16px Arial,sans-serif;background:#fafaf8}header{background:#143c6e;color:#fff;padding:20px}
main{display:flex;flex-wrap:wrap;gap:20px;padding:20px}div{background:#e0d2b0;padding:20px;width:200px}</style></head>
<body><header><h1>Harbour Lights</h1></header><main><div>Rooms with a view</div><div>Breakfast until eleven</div></main>
</body></html>
"""


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def design() -> Image.Image:
    """A page as a picture: a bar with a logo, and a large illustration of many colours."""
    page = Image.new("RGB", (800, 600), (250, 250, 248))
    pen = ImageDraw.Draw(page)
    pen.rectangle((0, 0, 800, 60), fill=(20, 60, 110))
    pen.ellipse((20, 10, 60, 50), fill=(240, 200, 60))
    pen.polygon([(40, 14), (56, 44), (24, 44)], fill=(200, 40, 40))
    photo = Image.effect_mandelbrot((300, 200), (-2, -1.2, 0.8, 1.2), 60).convert("RGB")
    page.paste(
        Image.merge("RGB", (photo.getchannel(0), photo.getchannel(1).rotate(180), photo.getchannel(2).rotate(90))),
        (100, 120),
    )
    return page


class Ran:
    """One exchange with the studio's tools, proven, with everything that came of it."""

    def __init__(self, workspace: MemoryWorkspace, events: Sequence[Event]) -> None:
        self.workspace = workspace
        self.events = events

    @property
    def results(self) -> list[ToolResult]:
        """In the order of the calls."""
        order = [event.data.id for event in self.events if isinstance(event.data, ToolCall)]
        tool_results = [event.data for event in self.events if isinstance(event.data, ToolResult)]
        return sorted(tool_results, key=lambda result: order.index(result.id))

    @property
    def result(self) -> ToolResult:
        (only,) = self.results
        return only

    @property
    def changed(self) -> list[str]:
        return [event.data.path for event in self.events if isinstance(event.data, FileChanged)]

    def picture(self, path: str) -> Image.Image:
        return Image.open(io.BytesIO(self.workspace.read(path)))


def pictures_in(result: ToolResult) -> list[Image.Image]:
    parts = [] if isinstance(result.content, str) else result.content
    pictures = [part for part in parts if isinstance(part, Shown)]
    return [Image.open(io.BytesIO(base64.b64decode(part.data or ""))) for part in pictures]


def finder(
    targets: Sequence[bytes] = (), stack_name: str = "html_css", options: Sequence[Mapping[str, bytes]] = ()
) -> FindContext:
    async def option(number: int) -> Mapping[str, bytes] | None:
        return options[number - 1] if number <= len(options) else None

    async def find() -> VariantContext:
        return VariantContext(
            project="prj",
            version="ver",
            variant=0,
            stack=find_stack(stack_name),
            targets=tuple(targets),
            read_option=option,
        )

    return find


async def ran(
    *calls: Any,
    files: Mapping[str, str | bytes] | None = None,
    find: FindContext | None = None,
    images: ImageMaker | None = None,
    outgoing: WebFetcher | None = None,
    secrets: Sequence[str] = (),
    **options: Any,
) -> Ran:
    """All calls in one message, by a real agent; the log keeps every invariant."""
    workspace = MemoryWorkspace(files)
    tools = studio_tools(find or finder(), images=images or ImageMaker(), outgoing=outgoing)
    model = heald.testing.ScriptedModel([list(calls), "Done."])
    agent = heald.Agent(model, tools=["files", *tools], workspace=workspace, **options)
    events: list[Event] = []
    agent.subscribe(events.append)
    result = await asyncio.wait_for(agent.send("Go.").result(), 120)
    assert result.status == "completed", result.error
    assert not (broken := check_log(events, secrets=secrets, content_at=workspace.content_at)), broken
    await agent.close()
    return Ran(workspace, events)
