"""The tools that a request names."""

from collections.abc import Mapping

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.messages import ToolDefinition
from heald_server.protocols.shared.client_bodies import objects_in, read_tools
from heald_server.protocols.shared.v1_parameters import refusal

LABEL = "heald"
"""The label under which a request lists the tools of the server."""


def read_response_tools(body: JsonObject) -> tuple[list[ToolDefinition], list[JsonObject], list[str]]:
    """Return the client's tools, all tools as the response shows them, and the types of those that are dropped.

    Tools that only a provider can host are dropped, and so are namespaces of tools and tools that load later.
    """
    tools = objects_in(body["tools"]) if body.get("tools") is not None else []
    if tools is None:
        raise refusal("tools", "tools is a list of tools.")
    functions: list[JsonObject] = []
    labels: list[JsonObject] = []
    dropped: list[str] = []
    for tool in tools:
        if tool.get("type") == "mcp" and tool.get("server_label") == LABEL:
            _check_label(tool)
            labels.append(tool)
        elif tool.get("type") != "function" or tool.get("async") or tool.get("defer_loading"):
            dropped.append(f"tools.{str(tool.get('type'))[:40]}")
        else:
            functions.append(tool)
    definitions = read_tools({"tools": functions}) or []
    by_name = {definition.name: definition for definition in definitions}
    return definitions, [_shown(tool, by_name) for tool in [*functions, *labels]], dropped


def _check_label(tool: JsonObject) -> None:
    if tool.get("require_approval") not in (None, "always", "never"):
        raise refusal("tools", "require_approval of the tools of this server is always or never.")
    if tool.get("allowed_tools") is not None:
        raise refusal("tools", "allowed_tools is not supported for the tools of this server; leave it out.")


def _shown(tool: JsonObject, definitions: Mapping[str, ToolDefinition]) -> JsonObject:
    if tool.get("type") == "mcp":  # without what may be secret
        return {"type": "mcp", "server_label": LABEL, "require_approval": tool.get("require_approval") or "always"}
    definition = definitions[str(tool.get("name"))]
    strict = tool.get("strict")
    return {
        "type": "function",
        "name": definition.name,
        "description": definition.description,
        "parameters": definition.input_schema,
        "strict": strict if isinstance(strict, bool) else None,
    }


def tool_label(parameters: JsonObject) -> str | None:
    """The label under which the tools of the server are shown; None: they are hidden."""
    return LABEL if parameters.get("show_tools") is True or _mcp_tools(parameters) else None


def asks_for_agent_tools(parameters: JsonObject) -> bool:
    """Whether the client lists the tools of the server beside its own."""
    return bool(_mcp_tools(parameters))


def has_approvals(parameters: JsonObject) -> bool:
    """Whether the client answers approvals."""
    return any(tool.get("require_approval") == "always" for tool in _mcp_tools(parameters))


def _mcp_tools(parameters: JsonObject) -> list[JsonObject]:
    return [tool for tool in as_objects(parameters.get("tools")) if tool.get("type") == "mcp"]


def read_tool_choice(body: JsonObject, settings: JsonObject, tools: list[ToolDefinition]) -> None:
    choice = body.get("tool_choice")
    named = as_object(choice)
    if choice is None or choice == "auto":
        return
    if choice == "none" or (choice == "required" and tools):
        settings["tool_choice"] = choice
    elif named.get("type") == "function" and any(tool.name == named.get("name") for tool in tools):
        settings["tool_choice"] = named["name"]
    else:
        raise refusal("tool_choice", "tool_choice is auto, none, required, or one of the functions of this request.")
