"""The definitions of the tools of the MCP server."""

import mcp_types as types

from heald.core.json import JsonObject

IMAGES: JsonObject = {
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
        "images": IMAGES,
    },
    "required": ["prompt"],
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
_LIST_OUTPUT: JsonObject = {
    "type": "object",
    "properties": {
        "sessions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"session": {"type": "string"}, "title": {"type": "string"}, "updated": {}},
                "required": ["session", "title", "updated"],
            },
        }
    },
    "required": ["sessions"],
}
_FILES_OUTPUT: JsonObject = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": {"type": "string"}}},
    "required": ["files"],
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
LIST = types.Tool(
    name="list_sessions",
    title="List sessions",
    description="Lists sessions, the last changed first.",
    input_schema=_LIST,
    output_schema=_LIST_OUTPUT,
    annotations=_READS,
)
FILES = types.Tool(
    name="list_files",
    title="List files",
    description="Lists the files of a session.",
    input_schema=_FILES,
    output_schema=_FILES_OUTPUT,
    annotations=_READS,
)
FILE = types.Tool(name="read_file", description="Reads a file of a session.", input_schema=_FILE, annotations=_READS)
