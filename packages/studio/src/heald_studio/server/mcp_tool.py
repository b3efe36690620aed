"""`build_page`: a tool of the MCP server that builds one variant of a project, with progress and cancelling."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial

import mcp_types as types

from heald.core.json import JsonObject
from heald_server.protocols.mcp.resource_address import file_address
from heald_server.protocols.mcp.tool import McpTool, OfferedCall
from heald_server.protocols.mcp.tool_definitions import IMAGES
from heald_server.routes.client_media import decode_media, sniff_image
from heald_studio.projects.project import VariantRef
from heald_studio.server.bodies import PromptBody, SourceBody
from heald_studio.server.briefs import read_brief
from heald_studio.studio import Studio

_MAX_TEXT = 400_000
"""Characters of files in a result; larger ones are linked."""
_INPUT: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "The page in words, or changes to the picture."},
        "images": IMAGES | {"description": "Screenshots or sketches of the page."},
        "stack": {"type": "string", "description": "Such as html_tailwind (the default) or react_tailwind."},
        "model": {"type": "string", "description": "provider/model. Default: the strongest one of the server."},
    },
    "additionalProperties": False,
}
_BUILD_PAGE = types.Tool(
    name="build_page",
    title="Build a page",
    description="Builds a web page from words or pictures, and returns its files.",
    input_schema=_INPUT,
)


def build_page_tool(studio: Studio) -> McpTool:
    """Return the tool of a studio."""
    return McpTool(_BUILD_PAGE, partial(_build_page, studio))


async def _build_page(studio: Studio, call: OfferedCall) -> types.CallToolResult:
    """Build a page and return its files."""
    images: list[SourceBody] = []
    for data in call.arguments.get("images") or ():
        media_type = sniff_image(decode_media(str(data)))
        images.append(SourceBody(data=f"data:{media_type};base64,{data}"))
    model = call.arguments.get("model")
    brief = await read_brief(
        PromptBody(text=str(call.arguments.get("prompt") or ""), images=images),
        stack=str(call.arguments.get("stack") or "html_tailwind"),
        models=[str(model)] if model else [],
        variants=1,
    )
    project = await studio.create(call.owner, brief)
    version = project.versions[-1]
    base = VariantRef(version.id, version.variants[0].index)
    reporting = asyncio.create_task(_report_progress(studio, call, project.id))
    try:
        version = await studio.wait_version(call.owner, project.id, version.id)
    except asyncio.CancelledError:
        await asyncio.shield(studio.cancel(call.owner, project.id, base))
        raise
    finally:
        reporting.cancel()
        await asyncio.wait([reporting])
    variant = version.variants[0]
    files: Mapping[str, bytes] = {}
    if variant.status == "completed":
        files = await studio.files(call.owner, project.id, base)
    status = types.TextContent(text=f"The project {project.id} is {variant.status}, by {variant.model}.")
    return types.CallToolResult(
        content=[status, *_file_contents(variant.session, files)],
        structured_content={"project": project.id, "session": variant.session, "files": list(files)},
        is_error=variant.status != "completed",
    )


def _file_contents(session: str, files: Mapping[str, bytes]) -> list[types.ContentBlock]:
    """The files as text; a link for one that is not text, or too large."""
    content: list[types.ContentBlock] = []
    room = _MAX_TEXT
    for path, data in files.items():
        text = data.decode("utf-8", "replace")
        if len(text) > room or "\0" in text:
            content.append(types.ResourceLink(name=path, uri=file_address(session, path)))
            continue
        room -= len(text)
        resource = types.TextResourceContents(uri=file_address(session, path), text=text)
        content.append(types.EmbeddedResource(resource=resource))
    return content


async def _report_progress(studio: Studio, call: OfferedCall, project: str) -> None:
    steps = 0
    async with aclosing(studio.watch(call.owner, project)) as states:
        async for state in states:
            steps += 1
            variant = state.versions[-1].variants[0]
            await call.request.session.report_progress(steps, None, f"{variant.model}: {variant.status}")
