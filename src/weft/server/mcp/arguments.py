"""The tools of the MCP server: their schemas, and the checks of their arguments."""

import base64
import binascii
from typing import Any

import mcp_types as types

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.tools.json_schema import compile_schema

_IMAGES: JsonObject = {
    "type": "array",
    "maxItems": 10,
    "items": {"type": "string", "description": "A PNG, JPEG, WebP or GIF as base64."},
}
_SESSION: JsonObject = {"type": "string", "description": "The id of a session."}
_RUN: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "minLength": 1, "description": "The request."},
        "session": _SESSION | {"description": "Continue this session. Default: a new one."},
        "model": {"type": "string", "description": "provider/model of a new session. Default: that of the server."},
        "images": _IMAGES,
    },
    "required": ["prompt"],
    "additionalProperties": False,
}
_BUILD: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "The page in words, or changes to the picture."},
        "images": _IMAGES | {"description": "Screenshots or sketches of the page."},
        "stack": {"type": "string", "description": "Such as html_tailwind (the default) or react_tailwind."},
        "model": {"type": "string", "description": "provider/model. Default: the strongest one of the server."},
    },
    "additionalProperties": False,
}
_LIST: JsonObject = {
    "type": "object",
    "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 100}},
    "additionalProperties": False,
}
_FILES: JsonObject = {
    "type": "object",
    "properties": {"session": _SESSION},
    "required": ["session"],
    "additionalProperties": False,
}
_FILE: JsonObject = {
    "type": "object",
    "properties": {"session": _SESSION, "path": {"type": "string"}},
    "required": ["session", "path"],
    "additionalProperties": False,
}
_RUN_OUTPUT: JsonObject = {
    "type": "object",
    "properties": {
        "session": {"type": "string"},
        "status": {"type": "string"},
        "text": {"type": "string"},
        "files": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["session", "status", "text", "files"],
}
_READS = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)

RUN = types.Tool(
    name="run_agent",
    title="Run an agent",
    description="Lets the agent of this server work on a request, with its tools. Returns its answer, the id of the "
    "session, which continues the conversation, and the files that it changed.",
    input_schema=_RUN,
    output_schema=_RUN_OUTPUT,
)
BUILD = types.Tool(
    name="build_page",
    title="Build a page",
    description="Builds a web page from words or pictures, and returns its files.",
    input_schema=_BUILD,
)
LIST = types.Tool(
    name="list_sessions", description="Lists sessions, the last changed first.", input_schema=_LIST, annotations=_READS
)
FILES = types.Tool(
    name="list_files", description="Lists the files of a session.", input_schema=_FILES, annotations=_READS
)
FILE = types.Tool(name="read_file", description="Reads a file of a session.", input_schema=_FILE, annotations=_READS)


def check_arguments(tool: types.Tool, arguments: dict[str, Any]) -> None:
    """Raise if the arguments do not fit. The caller's model reads the sentence."""
    problems = compile_schema(tool.input_schema).problems(arguments, 3)
    if problems:
        text = "; ".join(f"{each.where or 'arguments'}: {each.message}" for each in problems)
        raise ConfigurationError(f"The arguments of {tool.name} do not fit: {text}.")


def decode_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigurationError("A picture is not base64.") from None
