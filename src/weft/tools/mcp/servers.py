"""`McpServers`: starts MCP servers, provides their tools and converts their results.

Results are not trusted: media types are sniffed and sizes bounded.
"""

import asyncio
import binascii
import logging
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import mcp_types as types

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, encode_text, loads
from weft.core.media import picture_header
from weft.core.messages import File, Image, ResultPart, Text
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.mcp.catalogue import ListedTool
from weft.tools.mcp.config import McpFault, McpServer, shorten
from weft.tools.mcp.connection import McpConnection
from weft.tools.results import MAX_PIXELS, ToolOutput

MAX_PARTS = 100
MAX_TEXT = 1_000_000
MAX_MEDIA = 5_000_000
"""Maximum bytes of one picture or document."""


def to_output(result: types.CallToolResult) -> ToolOutput:
    """Convert the result of a call. An error that the tool reports is passed to the model."""
    parts: list[ResultPart] = []
    room, truncated = MAX_TEXT, len(result.content) > MAX_PARTS
    for part in _parts(result):
        if isinstance(part, Text):
            truncated = truncated or len(part.text) > room
            part = Text(part.text[:room])
            room -= len(part.text)
        parts.append(part)
    is_error = bool(result.is_error)
    if all(isinstance(part, Text) for part in parts):
        text = "\n".join(part.text for part in parts if isinstance(part, Text))
        return ToolOutput(content=text, truncated=truncated, is_error=is_error)
    return ToolOutput(content=parts, truncated=truncated, is_error=is_error)


def _parts(result: types.CallToolResult) -> Iterator[ResultPart]:
    texts: list[str] = []
    for block in result.content[:MAX_PARTS]:
        part = _part(block)
        if isinstance(part, Text):
            texts.append(part.text)
        yield part
    structured = result.structured_content
    if structured is not None and not any(_repeats(text, structured) for text in texts):
        yield Text(encode_text(structured))


def _part(block: types.ContentBlock) -> ResultPart:
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
            held = block.resource
            if isinstance(held, types.BlobResourceContents):
                return _media(held.blob, held.mime_type or "")
            return Text(f"[Resource {shorten(held.uri, 1000)}]\n{_clean(held.text)}")


def _media(data: str, media_type: str) -> ResultPart:
    """Return a picture or PDF, checked by its content, else a note that the data was left out."""
    left_out = Text(f"[Data of type {shorten(media_type, 60) or 'unknown'} was left out.]")
    if len(data) > MAX_MEDIA * 4 // 3 + 4:
        return Text(f"[Data of type {shorten(media_type, 60)} was left out: it is more than {MAX_MEDIA:,} bytes.]")
    try:
        raw = b64decode(data, validate=True)
    except (binascii.Error, ValueError):
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


MAX_CHANGES = 1000
_MARGIN = 20.0


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A change in the tools of a server. `changed` means another description or schema under the same name."""

    server: str
    name: str
    what: Literal["added", "removed", "changed"]


def _log_failure(fault: McpFault) -> None:
    logging.getLogger("weft").warning("%s", fault)


class McpServers:
    """Starts MCP servers, provides their tools, and stops them.

    `tools` lists the current tools. A tool object is bound to the description and schema that it was created with. If
    its server changes them, calls fail with `tool_changed` until the tool is read from `tools` and approved again.
    """

    def __init__(self, configs: Iterable[McpServer], *, on_failure: Callable[[McpFault], object] | None = None) -> None:
        self._on_failure = on_failure or _log_failure
        """Called with the fault of each optional server that could not be started. It is logged by default."""
        self.failures: dict[str, McpFault] = {}
        """The faults of optional servers that could not be started, by server name."""
        self.changes: list[ToolChange] = []
        """The changes since the servers were started, oldest first."""
        configs = tuple(configs)
        names = [config.name for config in configs]
        shared = {name for name in names if names.count(name) > 1}
        if shared:
            raise ConfigurationError(f"There are several MCP servers of the name {min(shared)!r}; give each its own.")
        self._served = [_ServerTools(config, self.changes) for config in configs]

    @property
    def tools(self) -> list[Tool]:
        return [tool for served in self._served for tool in served.tools()]

    def log(self, server: str) -> str:
        """Return the end of the standard error of a started server."""
        return next((served.connection.log.text() for served in self._served if served.name == server), "")

    async def __aenter__(self) -> "McpServers":
        try:
            await asyncio.gather(*(self._start(served) for served in self._served))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop all servers and their child processes."""
        await asyncio.gather(*(served.connection.close() for served in self._served))

    async def _start(self, served: "_ServerTools") -> None:
        try:
            await served.connection.start()
        except McpFault as fault:
            if served.connection.server.required:
                raise ConfigurationError(f"{fault} It is required: correct its configuration.") from None
            self.failures[served.name] = fault
            self._on_failure(fault)


class _ServerTools:
    """A server and its current tools."""

    def __init__(self, config: McpServer, changes: list[ToolChange]) -> None:
        self.name = config.name
        self.connection = McpConnection(config, self._offer)
        self._changes = changes
        self._offered: dict[str, ListedTool] | None = None

    def tools(self) -> list[Tool]:
        return [self._tool(listed) for listed in (self._offered or {}).values()]

    def _offer(self, listed: dict[str, ListedTool]) -> None:
        before, self._offered = self._offered, listed
        if before is None:
            return
        for name in {**before, **listed}:
            old, new = before.get(name), listed.get(name)
            if old is None:
                self._changes.append(ToolChange(self.name, name, "added"))
            elif new is None:
                self._changes.append(ToolChange(self.name, name, "removed"))
            elif old.digest != new.digest:
                self._changes.append(ToolChange(self.name, name, "changed"))
        del self._changes[:-MAX_CHANGES]

    def _tool(self, listed: ListedTool) -> Tool:
        async def run(args: JsonObject, ctx: ToolContext) -> ToolOutput:
            await self.connection.start()  # after a crash the server may restart with other tools
            self._check(listed)
            result = await self.connection.call(listed.original, args, lambda text: ctx.output(text, "progress"))
            return to_output(result)

        claim = " (says it only reads)" if listed.read_only else ""
        line = f"{self.name}: {listed.title}{claim}"
        limits = self.connection.server
        return Tool(
            definition=listed.definition,
            run=run,
            effect="any",
            summary=lambda _: line,
            timeout=limits.connect_timeout + limits.call_timeout + _MARGIN,
        )

    def _check(self, listed: ListedTool) -> None:
        name = listed.definition.name
        now = (self._offered or {}).get(name)
        if now is None:
            raise McpFault(f"The MCP server {self.name!r} no longer offers {name!r}.", "tool_removed")
        if now.digest != listed.digest:
            raise McpFault(
                f"The MCP server {self.name!r} changed what it says of {name!r} since it was offered; "
                "it is not called until it is offered and approved anew.",
                "tool_changed",
            )
