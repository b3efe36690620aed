"""The content of MCP servers' results; their resources, with two tools with which a model lists and reads them; and
their prompts, which a user chooses by name and fills in.

Content is not trusted: media types are sniffed and sizes bounded.
"""

import fnmatch
import shlex
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import mcp_types as types
import msgspec
from mcp import Client, MCPError
from pydantic import ValidationError

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, encode_text, loads
from weft.core.media import MAX_PIXELS, picture_header
from weft.core.messages import File, Image, ResultPart, Text, ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.mcp.config import shorten
from weft.tools.results import ToolOutput

if TYPE_CHECKING:
    from weft.tools.mcp.connection import McpConnection

MAX_PARTS = 100
MAX_TEXT = 1_000_000
MAX_MEDIA = 5_000_000
"""Maximum bytes of one picture or document."""


def to_output(result: types.CallToolResult) -> ToolOutput:
    """Convert the result of a call. An error that the tool reports is passed to the model."""
    return join_parts(_parts(result), bool(result.is_error), truncated=len(result.content) > MAX_PARTS)


def join_parts(found: Iterable[ResultPart], is_error: bool = False, *, truncated: bool = False) -> ToolOutput:
    """Make the result of a call of its parts, within limits."""
    parts: list[ResultPart] = []
    room = MAX_TEXT
    for part in found:
        if isinstance(part, Text):
            truncated = truncated or len(part.text) > room
            part = Text(part.text[:room])
            room -= len(part.text)
        parts.append(part)
    if all(isinstance(part, Text) for part in parts):
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        return ToolOutput(content=text, truncated=truncated, is_error=is_error)
    return ToolOutput(content=parts, truncated=truncated, is_error=is_error)


def _parts(result: types.CallToolResult) -> Iterator[ResultPart]:
    texts: list[str] = []
    for block in result.content[:MAX_PARTS]:
        part = convert_block(block)
        if isinstance(part, Text):
            texts.append(part.text)
        yield part
    structured = result.structured_content
    if structured is not None and not any(_repeats(text, structured) for text in texts):
        yield Text(encode_text(structured))


def convert_block(block: types.ContentBlock) -> ResultPart:
    """Convert one block of content: text, a picture or a PDF. Other data becomes a note that it was left out."""
    match block:
        case types.TextContent():
            return Text(_clean(block.text))
        case types.ImageContent():
            return _media(block.data, block.mime_type)
        case types.AudioContent():
            return Text(f"[A sound of type {shorten(block.mime_type, 60)} was left out.]")
        case types.ResourceLink():
            about = f": {shorten(block.description)}" if block.description else ""
            return Text(f"[Resource {shorten(block.name, 200)} at {shorten(block.uri, 1000)}{about}]")
        case types.EmbeddedResource():
            return convert_resource(block.resource)


def convert_resource(held: types.TextResourceContents | types.BlobResourceContents) -> ResultPart:
    if isinstance(held, types.BlobResourceContents):
        return _media(held.blob, held.mime_type or "")
    return Text(f"[Resource {shorten(held.uri, 1000)}]\n{_clean(held.text)[:MAX_TEXT]}")


def _media(data: str, media_type: str) -> ResultPart:
    """Return a picture or PDF, checked by its content, else a note that the data was left out."""
    left_out = Text(f"[Data of type {shorten(media_type, 60) or 'unknown'} was left out.]")
    if len(data) > MAX_MEDIA * 4 // 3 + 4:
        return Text(f"[Data of type {shorten(media_type, 60)} was left out: it is more than {MAX_MEDIA:,} bytes.]")
    try:
        raw = b64decode(data, validate=True)
    except ValueError:
        return left_out
    picture = picture_header(raw)
    if picture is not None and 0 < picture.width * picture.height <= MAX_PIXELS:
        return Image(media_type=picture.media_type, data=data)
    if raw.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=data)
    return left_out


def _repeats(text: str, structured: object) -> bool:
    """Return whether the text repeats the structured content, which servers add for older clients."""
    if text[:1] not in '{["' and not text[:1].isalnum() and text[:1] != "-":
        return False
    try:
        value = loads(text)
    except ValueError:
        return structured == {"result": text}
    return value == structured or structured == {"result": value} or structured == {"result": text}


def _clean(text: str) -> str:
    """Replace lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


MAX_LISTED = 500
_MAX_PAGES = 20
_SHOWN = 200
_LIST_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"pattern": {"type": "string", "description": "Names or addresses, such as *report*. Default: all."}},
    "additionalProperties": False,
}
_READ_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "The address of the resource."}},
    "required": ["uri"],
    "additionalProperties": False,
}
Page = TypeVar("Page", bound=types.PaginatedResult)
Listed = TypeVar("Listed")


async def read_pages(
    fetch: Callable[[str | None], Awaitable[Page]], items_of: Callable[[Page], Sequence[Listed]]
) -> list[Listed]:
    """Return the items of all pages, within limits. A list that cannot be read is empty."""
    found: list[Listed] = []
    cursor: str | None = None
    with suppress(MCPError, ValidationError):
        for _ in range(_MAX_PAGES):
            page = await fetch(cursor)
            found += items_of(page)
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_LISTED:
                break
    return found[:MAX_LISTED]


async def list_resources(client: Client) -> list[types.Resource]:
    return await read_pages(lambda cursor: client.list_resources(cursor=cursor), lambda page: page.resources)


async def list_templates(client: Client) -> list[types.ResourceTemplate]:
    return await read_pages(
        lambda cursor: client.list_resource_templates(cursor=cursor), lambda page: page.resource_templates
    )


async def list_prompts(client: Client) -> list[types.Prompt]:
    return await read_pages(lambda cursor: client.list_prompts(cursor=cursor), lambda page: page.prompts)


async def read_resource(server: "McpConnection", uri: str) -> list[ResultPart]:
    """Read a resource. Raises McpFault if that fails."""
    result = await server.request(uri, lambda client: client.read_resource(uri))
    return [convert_resource(held) for held in result.contents[:MAX_PARTS]]


def resource_tools(name: str, server: "McpConnection", timeout: float) -> list[Tool]:
    """Make the tools that list and read the resources of a server. Reading asks, since the address may hold data."""

    async def list_all(args: JsonObject, ctx: ToolContext) -> str:  # noqa: ARG001
        resources = await server.request("resources/list", list_resources)
        templates = await server.request("resources/templates/list", list_templates)
        lines = [_describe(each.uri, each) for each in resources]
        lines += [f"{_describe(each.uri_template, each)} (a template: fill in the braces)" for each in templates]
        pattern = str(args.get("pattern") or "*")
        lines = [line for line in lines if fnmatch.fnmatch(line.lower(), f"*{pattern.lower()}*")]
        more = [f"… and {len(lines) - _SHOWN} more; give a pattern"] if len(lines) > _SHOWN else []
        return "\n".join([*lines[:_SHOWN], *more]) or "There is no such resource."

    async def read(args: JsonObject, ctx: ToolContext) -> ToolOutput:  # noqa: ARG001
        return join_parts(await read_resource(server, str(args["uri"])))

    return [
        Tool(
            definition=ToolDefinition(
                name=f"{name}__list_resources",
                description=f"Lists the resources (documents, data) that the MCP server {name} offers.",
                input_schema=_LIST_SCHEMA,
            ),
            run=list_all,
            effect="read",
            timeout=timeout,
            summary=lambda _: f"{name}: list resources",
        ),
        Tool(
            definition=ToolDefinition(
                name=f"{name}__read_resource",
                description=f"Reads a resource of the MCP server {name} by its address.",
                input_schema=_READ_SCHEMA,
            ),
            run=read,
            timeout=timeout,
            subjects=lambda args: [str(args["uri"])],
            summary=lambda args: f"{name}: read {shorten(args.get('uri', ''), 200)}",
        ),
    ]


def _describe(address: str, item: types.Resource | types.ResourceTemplate) -> str:
    kind = f" [{shorten(item.mime_type, 60)}]" if item.mime_type else ""
    about = f": {shorten(item.description, 200)}" if item.description else ""
    return f"{shorten(address, 500)} {shorten(item.title or item.name, 80)}{kind}{about}"


class McpPrompt(msgspec.Struct, frozen=True):
    """A prompt: its server, its name there, and its arguments in order."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...]
    required: tuple[str, ...]

    @classmethod
    def of(cls, server: str, prompt: types.Prompt) -> "McpPrompt":
        arguments = prompt.arguments or []
        return cls(
            server,
            prompt.name,
            shorten(prompt.description or prompt.title or "", 200),
            tuple(each.name for each in arguments),
            tuple(each.name for each in arguments if each.required),
        )

    @property
    def command(self) -> str:
        """Its name as a command, without the slash."""
        return f"{self.server}:{self.name}"

    @property
    def usage(self) -> str:
        words = [name if name in self.required else f"[{name}]" for name in self.arguments]
        return " ".join([f"/{self.command}", *words])

    def parse_arguments(self, text: str) -> dict[str, str]:
        """Read words in the order of the arguments, or `name=value`. The last argument gets all remaining words."""
        try:
            words = shlex.split(text)
        except ValueError:
            words = text.split()
        values: dict[str, str] = {}
        free: list[str] = []
        for word in words:
            name, sign, value = word.partition("=")
            if sign and name in self.arguments and name not in values:
                values[name] = value
            else:
                free.append(word)
        open_names = [name for name in self.arguments if name not in values]
        if free and not open_names:
            raise ConfigurationError(f"{free[0][:40]!r} is too much; write {self.usage}.")
        for at, name in enumerate(open_names[: len(free)]):
            values[name] = " ".join(free[at:]) if name == open_names[-1] else free[at]
        missing = [name for name in self.required if name not in values]
        if missing:
            raise ConfigurationError(f"The prompt needs {missing[0]!r}; write {self.usage}.")
        return values


def find_prompt(prompts: Sequence[McpPrompt], command: str) -> McpPrompt | None:
    """Find a prompt by `server:name` or `mcp__server__name`."""
    return next((each for each in prompts if command in (each.command, f"mcp__{each.server}__{each.name}")), None)


async def get_prompt(server: "McpConnection", name: str, arguments: dict[str, str]) -> list[ResultPart]:
    """Return the content of a prompt. Messages of the assistant's role are quoted as such."""
    result = await server.request(name, lambda client: client.get_prompt(name, arguments))
    parts: list[ResultPart] = []
    for message in result.messages[:MAX_PARTS]:
        part = convert_block(message.content)
        if message.role == "assistant" and isinstance(part, Text):
            part = Text(f"[You answered: {part.text}]")
        parts.append(part)
    return parts
