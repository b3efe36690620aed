"""Checks what an editor sends, makes errors of its requests, and converts between content blocks of ACP and parts of
messages."""

import posixpath
import re
from base64 import b64decode
from collections.abc import Awaitable, Iterable, Sequence
from datetime import UTC, datetime
from os.path import isdir, realpath
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from acp import RequestError, schema

from weft.core.errors import ConfigurationError, WeftError
from weft.core.media import picture_header
from weft.core.messages import File, Image, Message, ResultPart, Text, ToolDefinition, user_message
from weft.sessions.store import SessionInfo
from weft.tools.client_tools import read_client_tools

if TYPE_CHECKING:
    from weft.tools.mcp import McpServer, McpServers


T = TypeVar("T")
McpConfig = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio
KEY_METHOD = "weft-key"
INVALID_PARAMS = -32602
NOT_FOUND = -32002
AUTH_REQUIRED = -32000
_FAILED = -32603
_AUTH_CODES = ("missing_key", "authentication", "unknown_provider")


async def answered(work: Awaitable[T]) -> T:
    """Await work for a request. An error of Weft becomes the error of the request, with its sentence."""
    try:
        return await work
    except ConfigurationError as error:
        raise refusal(str(error)) from None
    except WeftError as error:
        code = AUTH_REQUIRED if error.code in _AUTH_CODES else _FAILED
        code = INVALID_PARAMS if error.code == "invalid_request" else code
        raise RequestError(code, str(error), {"code": error.code}) from None


def refusal(text: str) -> RequestError:
    return RequestError(INVALID_PARAMS, text)


def key_method() -> schema.AuthMethodAgent:
    return schema.AuthMethodAgent(
        id=KEY_METHOD,
        name="API key",
        description="Set a key such as ANTHROPIC_API_KEY in the environment of the editor, or store it with "
        "`weft key set anthropic` in a terminal; then try again.",
    )


def client_tools_of(meta: dict[str, Any]) -> list[ToolDefinition] | None:
    """Read the tools that the client runs itself: `_meta: {"weft": {"tools": [...]}}`. None if it names none."""
    own = meta.get("weft")
    if own is None:
        return None
    if not isinstance(own, dict) or not isinstance(cast("dict[str, Any]", own).get("tools"), list):
        raise refusal("The _meta of weft must be an object with the list `tools`.")
    try:
        return read_client_tools(cast("dict[str, Any]", own)["tools"])
    except ConfigurationError as error:
        raise refusal(str(error)) from None


def check_folders(cwd: str, more: list[str] | None) -> str:
    """Return the folder of a session without links. Raises if it cannot be used."""
    if more:
        raise refusal("Sessions work in one folder; open the session without additional directories.")
    if not posixpath.isabs(cwd):
        raise refusal(f"The folder {cwd[:200]!r} is no absolute path; name one.")
    if not isdir(cwd):
        raise refusal(f"There is no folder {cwd[:200]!r} to work in; create it first.")
    return realpath(cwd)


def mcp_servers_of(configs: Sequence[McpConfig], folder: str) -> "McpServers":
    """Return the MCP servers of the editor, to be started. Their package is large, so that it is loaded only here."""
    from weft.tools.mcp import McpServers

    return McpServers([_mcp_server(config) for config in configs], folders=[folder])


def _mcp_server(config: McpConfig) -> "McpServer":
    """Return the configuration of an MCP server of the editor. Its name is shortened to what names of tools allow."""
    from weft.tools.mcp import McpServer

    name = re.sub(r"_{2,}", "_", re.sub(r"[^a-zA-Z0-9_-]+", "-", config.name)).strip("-_")[:32].strip("-_")
    match config:
        case schema.McpServerStdio():
            env = {variable.name: variable.value for variable in config.env}
            return McpServer(name=name, command=config.command, args=tuple(config.args), env=env)
        case schema.HttpMcpServer() | schema.SseMcpServer():
            headers = {header.name: header.value for header in config.headers}
            transport = "sse" if isinstance(config, schema.SseMcpServer) else "http"
            return McpServer(name=name, url=config.url, headers=headers, transport=transport)
        case _:
            raise ConfigurationError(
                f"The MCP server {config.name[:60]!r} has a transport that Weft does not offer; use stdio, http or sse."
            )


def describe_session(info: SessionInfo, place: str) -> schema.SessionInfo:
    updated = datetime.fromtimestamp(info.updated, UTC).isoformat()
    return schema.SessionInfo(session_id=info.id, cwd=place, title=info.title or None, updated_at=updated)


# --- content ---------------------------------------------------------------------------------------------------------


Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)


class BadContent(WeftError):
    """A block of a prompt cannot be sent to the model."""

    code = "invalid_request"


def to_user_message(blocks: Sequence[Block], root: str) -> Message:
    """Convert a prompt to a message. `root` is the folder of the session: files in it are named relative to it."""
    parts = [_to_part(block, root) for block in blocks]
    if not any(not isinstance(part, Text) or part.text.strip() for part in parts):
        raise BadContent("The prompt is empty; write what is to be done.")
    return user_message(*parts)


def _to_part(block: Block, root: str) -> Text | Image | File:
    match block:
        case schema.TextContentBlock():
            return Text(_clean(block.text))
        case schema.ImageContentBlock():
            return _picture(block.data, block.mime_type)
        case schema.AudioContentBlock():
            raise BadContent("Sounds cannot be sent to the model; write the request as text.")
        case schema.ResourceContentBlock():
            about = block.title or block.description
            return Text(f"[The user refers to {path_of(block.uri, root)}{f': {_clean(about)}' if about else ''}]")
        case schema.EmbeddedResourceContentBlock():
            return _resource(block.resource, root)


def _resource(resource: schema.TextResourceContents | schema.BlobResourceContents, root: str) -> Text | Image | File:
    path = path_of(resource.uri, root)
    if isinstance(resource, schema.TextResourceContents):
        return Text(f"The user attached {path}:\n{fence(_clean(resource.text))}")
    raw = _decode(resource.blob, path)
    if picture_header(raw) is not None:
        return _picture(resource.blob, resource.mime_type or "")
    if raw.startswith(b"%PDF-"):
        return File(media_type="application/pdf", data=resource.blob, name=path.rpartition("/")[2])
    raise BadContent(f"The attached {path} is neither text nor a picture nor a PDF; attach it in another form.")


def _picture(data: str, media_type: str) -> Image:
    picture = picture_header(_decode(data, f"picture of type {media_type[:60]!r}"))
    if picture is None:
        raise BadContent("A picture of the prompt is no PNG, JPEG, WebP or GIF; attach it in another form.")
    return Image(media_type=picture.media_type, data=data)


def _decode(data: str, name: str) -> bytes:
    try:
        return b64decode(data, validate=True)
    except ValueError:
        raise BadContent(f"The data of the {name} is no base64; attach it once more.") from None


def path_of(uri: str, root: str) -> str:
    """Return the path of a file URI, relative to the folder if it is in it; any other URI unchanged."""
    parts = urlsplit(uri)
    if parts.scheme not in ("", "file"):
        return _clean(uri)
    path = _clean(unquote(parts.path))
    lines = f" ({parts.fragment})" if parts.fragment else ""
    return path.removeprefix(root.rstrip("/") + "/") + lines


def fence(text: str, language: str = "") -> str:
    """Return the text as a fenced block of Markdown."""
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{marks}{language}\n{text}\n{marks}"


def text_block(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(type="text", text=text)


def to_blocks(parts: str | Iterable[object]) -> list[schema.TextContentBlock | schema.ImageContentBlock]:
    """Convert parts of a message or of a result to blocks. Files are named."""
    if isinstance(parts, str):
        return [text_block(parts)] if parts else []
    blocks: list[schema.TextContentBlock | schema.ImageContentBlock] = []
    for part in parts:
        match part:
            case Text(text=text):
                blocks.append(text_block(text))
            case Image(data=str(data), media_type=media_type):
                blocks.append(schema.ImageContentBlock(type="image", data=data, mime_type=media_type))
            case Image(url=url):
                blocks.append(text_block(f"[A picture at {url}]"))
            case File(name=name, media_type=media_type):
                blocks.append(text_block(f"[The file {name or media_type}]"))
            case _:
                continue
    return blocks


def result_blocks(
    content: str | Sequence[ResultPart],
) -> list[schema.ContentToolCallContent]:
    """Convert the content of a result to content of a tool call."""
    return [schema.ContentToolCallContent(type="content", content=block) for block in to_blocks(content)]


def _clean(text: str) -> str:
    """Replace lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")
