"""`build_page`: a tool of the MCP server that builds one variant of a project, with progress and cancelling, and the
prompt of the same name. A client with tasks polls the build; a client with apps shows the page."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from functools import partial

import mcp_types as types

from heald.core.errors import ConfigurationError, HealdError
from heald.core.json import JsonObject
from heald_server.protocols.mcp.prompt import ArgumentStart, AskedPrompt, OfferedPrompt
from heald_server.protocols.mcp.resource_address import file_address
from heald_server.protocols.mcp.tool import LastingWork, McpTool, OfferedCall
from heald_server.protocols.mcp.tool_definitions import IMAGES
from heald_server.routes.client_media import decode_media, sniff_image
from heald_studio.export.single_page import single_page
from heald_studio.projects.project import Project, VariantRef
from heald_studio.server.bodies import PromptBody, SourceBody
from heald_studio.server.briefs import read_brief
from heald_studio.server.mcp_app import PAGE_KEY, TOOL_META
from heald_studio.studio import Studio

_MAX_PAGE = 4_000_000
"""Characters of the page that an app shows."""
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
_OUTPUT: JsonObject = {
    "type": "object",
    "properties": {
        "project": {"type": "string"},
        "session": {"type": "string"},
        "files": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["project", "session", "files"],
}
_BUILD_PAGE = types.Tool(
    name="build_page",
    title="Build a page",
    description="Builds a web page from words or pictures, and returns its files.",
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    _meta=TOOL_META,
)
_PROMPT = types.Prompt(
    name="build_page",
    title="Build a page",
    description="Asks for a web page.",
    arguments=[
        types.PromptArgument(name="about", description="What the page is about.", required=True),
        types.PromptArgument(name="stack", description="Such as html_tailwind or react_tailwind."),
    ],
)


def build_page_tool(studio: Studio) -> McpTool:
    """Return the tool of a studio."""
    lasting = LastingWork(
        begin=partial(_begin, studio), check=partial(_find_build, studio), cancel=partial(_cancel, studio)
    )
    return McpTool(_BUILD_PAGE, partial(_build_page, studio), tasks="may", lasting=lasting)


def build_page_prompt(studio: Studio) -> OfferedPrompt:
    """Return the prompt of a studio."""

    async def get(request: AskedPrompt) -> types.GetPromptResult:
        stack = request.arguments.get("stack")
        text = f"Build a web page with the tool build_page: {request.arguments['about']}"
        text += f"\nThe stack is {stack}." if stack else ""
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def complete(start: ArgumentStart) -> Sequence[str]:
        return list(studio.stacks()) if start.name == "stack" else []

    return OfferedPrompt(_PROMPT, get, complete)


async def _begin(studio: Studio, call: OfferedCall) -> str:
    """Begin a build. Returns the ids of the project and of its version."""
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
    return f"{project.id}.{project.versions[-1].id}"


async def _find_build(studio: Studio, owner: str, state: str) -> tuple[Project, VariantRef]:
    """Return the project and the variant of a build. Raises HealdError if the owner has none."""
    name, _, version_id = state.partition(".")
    project = await studio.get(owner, name)
    for version in project.versions:
        if version.id == version_id and version.variants:
            return project, VariantRef(version.id, version.variants[0].index)
    raise HealdError(f"The project {name[:80]!r} has no version {version_id[:80]!r}.")


async def _cancel(studio: Studio, owner: str, state: str) -> None:
    project, base = await _find_build(studio, owner, state)
    await studio.cancel(owner, project.id, base)


async def _build_page(studio: Studio, call: OfferedCall) -> types.CallToolResult:
    """Build a page and return its files."""
    state = call.params.request_state or await _begin(studio, call)
    project, base = await _find_build(studio, call.owner, state)
    reporting = asyncio.create_task(_report_progress(studio, call, project.id))
    try:
        version = await studio.wait_version(call.owner, project.id, base.version)
    except asyncio.CancelledError:
        if not call.is_task:
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
        _meta=await _page_meta(studio, project, files),
    )


async def _page_meta(studio: Studio, project: Project, files: Mapping[str, bytes]) -> JsonObject | None:
    """The page as one file, for the app that shows it. None if there is none, or it is too large."""
    if not files:
        return None
    try:
        page = await asyncio.to_thread(single_page, studio.find_stack(project.stack), files, title=project.title)
    except ConfigurationError:
        return None
    return {PAGE_KEY: page} if len(page) <= _MAX_PAGE else None


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
            await call.report_progress(steps, f"{variant.model}: {variant.status}")
