"""The tool `build_page`: one variant of a studio project, with progress and cancelling."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from weft.core.json import JsonObject
from weft.server.conversation import sniff_image
from weft.server.mcp.agent_tool import file_address
from weft.server.mcp.arguments import decode_base64

if TYPE_CHECKING:
    from weft.studio.studio import Studio

_MAX_TEXT = 400_000


async def build_page(
    studio: "Studio", owner: str, request: ServerRequestContext[Any, Any], arguments: JsonObject
) -> types.CallToolResult:
    """Build a page and return its files."""
    from weft.server.studio_host import read_brief
    from weft.server.studio_views import PromptBody, SourceBody
    from weft.studio.project import VariantRef

    images: list[SourceBody] = []
    for data in arguments.get("images") or ():
        kind = sniff_image(decode_base64(str(data)))
        images.append(SourceBody(data=f"data:{kind};base64,{data}"))
    model = arguments.get("model")
    wanted = await read_brief(
        PromptBody(text=str(arguments.get("prompt") or ""), images=images),
        stack=str(arguments.get("stack") or "html_tailwind"),
        models=[str(model)] if model else [],
        variants=1,
    )
    project = await studio.create(owner, wanted)
    version = project.versions[-1]
    base = VariantRef(version.id, version.variants[0].index)
    following = asyncio.create_task(_report(studio, owner, project.id, request))
    try:
        version = await studio.wait_version(owner, project.id, version.id)
    except asyncio.CancelledError:
        await asyncio.shield(studio.cancel(owner, project.id, base))
        raise
    finally:
        following.cancel()
        await asyncio.wait([following])
    variant = version.variants[0]
    files: Mapping[str, bytes] = {}
    if variant.status == "completed":
        files = await studio.files(owner, project.id, base)
    content: list[types.ContentBlock] = [
        types.TextContent(text=f"The project {project.id} is {variant.status}, by {variant.model}.")
    ]
    room = _MAX_TEXT
    for path, data in files.items():
        text = data.decode("utf-8", "replace")
        if len(text) > room or "\0" in text:
            content.append(types.ResourceLink(name=path, uri=file_address(variant.session, path)))
            continue
        room -= len(text)
        held = types.TextResourceContents(uri=file_address(variant.session, path), text=text)
        content.append(types.EmbeddedResource(resource=held))
    return types.CallToolResult(
        content=content,
        structured_content={"project": project.id, "session": variant.session, "files": list(files)},
        is_error=variant.status != "completed",
    )


async def _report(studio: "Studio", owner: str, project: str, request: ServerRequestContext[Any, Any]) -> None:
    steps = 0
    async with aclosing(studio.watch(owner, project)) as changes:
        async for now in changes:
            steps += 1
            variant = now.versions[-1].variants[0]
            await request.session.report_progress(steps, None, f"{variant.model}: {variant.status}")
