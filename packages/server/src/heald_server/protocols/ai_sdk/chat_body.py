"""Reads the bodies of chat pages: of `useChat`, of assistant-ui, and of pages that send their last message only."""

from typing import Any

from heald.core.json import JsonObject, as_object
from heald.core.messages import ToolDefinition
from heald_server.http.errors import ApiError
from heald_server.protocols.shared.client_bodies import check_body, read_tools
from heald_server.protocols.shared.parameter_table import Parameter, ParameterTable, parameters

CHAT_PARAMETERS = ParameterTable(
    "POST /api/chat",
    [
        *parameters("honoured", "", "messages", "model", "trigger", "messageId"),
        Parameter("id", "honoured", "names the conversation"),
        Parameter("message", "honoured", "the last message, instead of all"),
        *parameters("honoured", "name the conversation of assistant-ui's data stream runtime", *(
            "threadId", "unstable_assistantMessageId",
        )),
        Parameter("tools", "honoured", "a list, or a map of names to definitions; messages of the AI SDK only"),
        Parameter("system", "honoured", "follows the server's own instructions; messages of the AI SDK only"),
        *parameters("ignored", "changes nothing in the answer", *(
            "metadata", "selectedVisibilityType", "parentId", "runConfig", "state",
        )),
        *parameters("dropped", "the server's settings decide", "callSettings", "config", "selectedChatModel"),
    ],
)  # fmt: skip


def read_chat_body(body: Any) -> JsonObject:
    """Check a body, which has a list of messages, or the last one alone."""
    fields = as_object(body)
    if fields.get("messages") is None and isinstance(fields.get("message"), dict):
        fields = {**fields, "messages": [fields["message"]]}
    if not fields.get("messages"):
        raise ApiError("invalid", "The body is an object with a list of messages, or with one message.")
    return check_body(fields)


def read_chat_tools(body: JsonObject) -> list[ToolDefinition] | None:
    """The page's own tools, from a list or from a map of names to definitions; None if the body does not name any."""
    tools = body.get("tools")
    if not isinstance(tools, dict):
        return read_tools(body)
    named = as_object(tools)
    return read_tools({"tools": [{**as_object(tool), "name": name} for name, tool in named.items()]})
