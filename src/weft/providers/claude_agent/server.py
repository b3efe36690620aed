"""Weft's tools as the SDK sees them: an MCP server in this process.

It runs nothing. The calls stand in the model's message too, and there Weft runs them as all calls; a call that comes in
here waits for the result. Both are the same call by the id that Claude Code sends along.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mcp.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

from weft.core.content import File, Image, Text
from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject
from weft.core.tools import ResultPart, ToolDefinition, ToolResult
from weft.providers.claude_agent.ledger import Ledger

SERVER = "weft"
PREFIX = f"mcp__{SERVER}__"
_CALL = "claudecode/toolUseId"
_HINTS = {"anthropic/alwaysLoad": True, "anthropic/maxResultSizeChars": 500_000}


def tool_server(tools: Sequence[ToolDefinition], ledger: Ledger, fail: Callable[[Exception], None]) -> Server[Any]:
    """A server with these tools, whose calls the ledger answers."""
    listed = ListToolsResult(tools=[_tool(tool) for tool in tools])

    async def on_list_tools(context: Any, params: Any) -> ListToolsResult:  # noqa: ARG001
        return listed

    async def on_call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:  # noqa: ARG001
        call = dict(context.meta or {}).get(_CALL)
        if not isinstance(call, str):
            error = ConfigurationError(
                "This Claude Code does not say which call it makes, so no result can be given to it; "
                "pip install -U claude-agent-sdk."
            )
            fail(error)
            return _answer([{"type": "text", "text": str(error)}], is_error=True)
        result = await ledger.errand(call).result
        if result is None:
            return _answer([{"type": "text", "text": "The exchange is over."}], is_error=True)
        return _answer(_content(result), is_error=bool(result.is_error))

    return Server(SERVER, on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def _tool(tool: ToolDefinition) -> Tool:
    return Tool.model_validate(
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema, "_meta": _HINTS}
    )


def _answer(content: list[JsonObject], *, is_error: bool) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, "isError": is_error})


def _content(result: ToolResult) -> list[JsonObject]:
    if isinstance(result.content, str):
        return [{"type": "text", "text": result.content}]
    return [_part(part) for part in result.content]


def _part(part: ResultPart) -> JsonObject:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(data=str(data), media_type=media_type):
            return {"type": "image", "data": data, "mimeType": media_type}
        case File(data=str(data), media_type=media_type, name=name):
            uri = f"weft:///{name or 'file'}"
            return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}}
        case Image(url=url) | File(url=url):
            return {"type": "text", "text": url or ""}
