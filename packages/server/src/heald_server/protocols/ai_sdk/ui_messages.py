"""Reads the UI messages of a client of the Vercel AI SDK."""

from collections.abc import Iterable, Sequence

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject, as_object, as_objects, encode_text
from heald_server.protocols.shared.client_answers import NO_RESULT, ClientAnswers, ClientDecision, ClientResult
from heald_server.protocols.shared.client_files import file_part

_DENIED = "The user denied this call."
_DISPLAYED = ("data-", "source-", "step-start", "reasoning", "custom")
"""Types of parts that are only displayed; the session has its own, with all that its provider needs."""


def read_answers(message: JsonObject) -> ClientAnswers:
    """Return the decisions and results in an assistant message that the client sends back."""
    answers = ClientAnswers()
    for part in as_objects(message.get("parts")):
        call, approval = part.get("toolCallId"), as_object(part.get("approval"))
        if not isinstance(call, str) or not _is_tool(part):
            continue
        if isinstance(approval.get("approved"), bool) and isinstance(approval.get("id"), str):
            answers.decisions[approval["id"]] = ClientDecision(approval["approved"], str(approval.get("reason") or ""))
        if part.get("state") == "output-available":
            answers.results[call] = ClientResult(part.get("output"))
        elif part.get("state") == "output-error":
            answers.results[call] = ClientResult(str(part.get("errorText") or ""), is_error=True)
    return answers


def from_ui_messages(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Convert UI messages to messages with blocks. Raises ConfigurationError for a part that cannot be read."""
    converted: list[JsonObject] = []
    for number, message in enumerate(messages):
        if message.get("role") == "assistant":
            converted += _assistant_messages(message)
            continue
        content = [block for part in as_objects(message.get("parts")) for block in _user_part(part, number)]
        converted.append({"role": message.get("role"), "content": content})
    return converted


def _user_part(part: JsonObject, number: int) -> list[JsonObject]:
    kind = str(part.get("type"))
    if kind == "text":
        return [{"type": "text", "text": part["text"]}] if isinstance(part.get("text"), str) else []
    if kind == "file":
        return [file_part(part.get("url"), part.get("mediaType"), part.get("filename"), number)]
    if kind.startswith(_DISPLAYED):
        return []
    raise ConfigurationError(
        f"Message {number} has a part of the type {kind[:40]!r}, which a user's message cannot have."
    )


def _is_tool(part: JsonObject) -> bool:
    kind = str(part.get("type"))
    return kind.startswith("tool-") or kind == "dynamic-tool"


def _assistant_messages(message: JsonObject) -> list[JsonObject]:
    converted: list[JsonObject] = []
    for step in _steps(as_objects(message.get("parts"))):
        blocks: list[JsonObject] = []
        results: list[JsonObject] = []
        for part in step:
            if part.get("type") == "text" and part.get("text"):
                blocks.append({"type": "text", "text": str(part["text"])})
            elif _is_tool(part) and isinstance(part.get("toolCallId"), str):
                name = str(part.get("toolName") or str(part["type"]).removeprefix("tool-"))
                call = {"id": part["toolCallId"], "name": name}
                blocks.append({"type": "tool_use", **call, "input": as_object(part.get("input"))})
                results.append(
                    {"type": "tool_result", "tool_use_id": part["toolCallId"], "name": name, **_result(part)}
                )
        if blocks:
            converted.append({"role": "assistant", "content": blocks})
        if results:
            converted.append({"role": "tool", "content": results})
    return converted


def _steps(parts: Iterable[JsonObject]) -> list[list[JsonObject]]:
    """The parts by step, without the steps of dropped attempts."""
    steps: list[list[JsonObject]] = [[]]
    for part in parts:
        if part.get("type") == "data-discarded":
            steps[-1] = []
        elif part.get("type") == "step-start":
            steps.append([])
        else:
            steps[-1].append(part)
    return steps


def _result(part: JsonObject) -> JsonObject:
    match part.get("state"):
        case "output-available":
            output = part.get("output")
            return {"content": output if isinstance(output, str) else encode_text(output)}
        case "output-error":
            return {"content": str(part.get("errorText") or ""), "is_error": True}
        case "output-denied":
            return {"content": _DENIED, "is_error": True}
        case _:
            return {"content": NO_RESULT, "is_error": True}
