"""Reads bodies with model messages of the AI SDK, as the data stream runtime of assistant-ui sends them.

The page sends its whole conversation each time. Its requests for one answer, with the results of the page's tools,
share the id of that answer.
"""

from collections.abc import Sequence

from heald.core.json import JsonObject, as_list, as_object, as_objects, encode_text
from heald.core.ui_messages import file_part
from heald_server.protocols.shared.client_answers import ClientAnswers, ClientResult
from heald_server.protocols.shared.client_bodies import text_field

_ANSWER_ID = "unstable_assistantMessageId"


def has_model_messages(body: JsonObject) -> bool:
    """Whether a body is one of the data stream runtime."""
    return _ANSWER_ID in body or "runConfig" in body


def find_name(body: JsonObject) -> str | None:
    """The name of the conversation: that of the thread, or of the answer."""
    return text_field(body, "threadId") or text_field(body, _ANSWER_ID)


def from_model_messages(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Convert model messages to messages with blocks. Raises ConfigurationError for a file that cannot be read."""
    return [
        {**message, "content": [_block(part, number) for part in as_objects(message["content"])]}
        if as_list(message.get("content"))
        else message
        for number, message in enumerate(messages)
        if message.get("role") != "assistant" or message.get("content")  # the answer that is asked for
    ]


def read_results(message: JsonObject) -> ClientAnswers:
    """Return the results of the page's tools in a converted message."""
    results = [block for block in as_objects(message.get("content")) if block.get("type") == "tool_result"]
    return ClientAnswers(
        results={str(block["tool_use_id"]): ClientResult(block["content"], block["is_error"]) for block in results}
    )


def _block(part: JsonObject, number: int) -> JsonObject:
    match part.get("type"):
        case "tool-call":
            call = {"id": part.get("toolCallId"), "name": part.get("toolName"), "input": as_object(part.get("input"))}
            return {"type": "tool_use", **call}
        case "tool-result":
            output = as_object(part.get("output"))
            value = output.get("value")
            text = value if isinstance(value, str) else encode_text(value)
            result = {"tool_use_id": part.get("toolCallId"), "content": text, "is_error": _is_error(output)}
            return {"type": "tool_result", **result}
        case "file":
            url, media_type = part.get("data"), part.get("mediaType")
            if isinstance(url, str) and not url.startswith(("data:", "http:", "https:")):
                url = f"data:{media_type};base64,{url}"
            return file_part(url, media_type, part.get("filename"), number)
        case _:
            return part


def _is_error(output: JsonObject) -> bool:
    return str(output.get("type")).startswith("error")
