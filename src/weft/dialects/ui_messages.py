"""UI messages of the Vercel AI SDK: reads those of a client, and folds the frames of a log into those it would have."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.json import JsonObject, as_object, as_objects, encode_text
from weft.core.messages import File, Image, Message, Text
from weft.dialects.dialect import Frame

NO_RESULT = "The client sent no result of this call."
_DENIED = "The user denied this call."
_DISPLAYED = ("data-", "source-", "step-start", "reasoning", "custom")
"""Types of parts that are only displayed; the session has its own, with all that its provider needs."""


class ClientDecision(msgspec.Struct, frozen=True):
    """The client's answer to an approval."""

    approved: bool
    reason: str = ""
    arguments: JsonObject | None = None


class ClientResult(msgspec.Struct, frozen=True):
    """The result of a tool that the client ran."""

    content: Any
    is_error: bool = False


class ClientAnswers(msgspec.Struct, frozen=True):
    """The answers of a client to what an exchange waits for, by the ids of approvals, calls and questions."""

    decisions: dict[str, ClientDecision] = {}
    results: dict[str, ClientResult] = {}
    answers: dict[str, str] = {}

    @property
    def ids(self) -> set[str]:
        return {*self.decisions, *self.results, *self.answers}


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


def file_part(url: object, media_type: object, name: object, number: int) -> JsonObject:
    """A picture or file of a client, by its address or as a data: address."""
    if not isinstance(url, str) or not isinstance(media_type, str):
        raise ConfigurationError(f"A file in message {number} has no url or no media type.")
    is_picture = media_type.startswith("image/")
    part: JsonObject = {"type": "image" if is_picture else "file", "media_type": media_type}
    head, _, data = url.partition(";base64,")
    if url.startswith("data:"):
        if not data:
            raise ConfigurationError(f"The data: address of a file in message {number} is not base64.")
        kind = head.removeprefix("data:").partition(";")[0]
        part |= {"data": data, "media_type": kind or media_type}
    elif url.startswith(("https://", "http://")):
        part["url"] = url
    else:
        raise ConfigurationError(f"A file in message {number} is a data: address, or one that begins with https://.")
    return part | ({"name": name} if isinstance(name, str) and not is_picture else {})


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


# --- the messages of a log -------------------------------------------------------------------------------------------


def user_ui_message(message: Message, name: str) -> JsonObject:
    """A user's message as a UI message."""
    parts: list[JsonObject] = []
    for block in message.content:
        match block:
            case Image(media_type=kind, data=data, url=url) | File(media_type=kind, data=data, url=url):
                named = {"filename": block.name} if isinstance(block, File) and block.name else {}
                where = url or f"data:{kind};base64,{data}"
                parts.append({"type": "file", "mediaType": kind, "url": where, **named})
            case Text(text=text) if message.said is None:
                parts.append({"type": "text", "text": text})
            case _:
                pass
    if message.said is not None:
        parts.append({"type": "text", "text": message.said})
    return {"id": name, "role": "user", "parts": parts}


class UIMessageBuilder:
    """The assistant message that the frames of one exchange make in a client."""

    def __init__(self) -> None:
        self.message: JsonObject | None = None
        self._parts: list[JsonObject] = []
        self._open: dict[str, JsonObject] = {}

    def feed(self, frame: Frame) -> None:
        chunk = as_object(frame.data)
        match chunk.get("type"):
            case "start":
                self.message = {"id": chunk["messageId"], "role": "assistant", "parts": self._parts}
            case "start-step":
                self._parts.append({"type": "step-start"})
            case "text-start" | "reasoning-start":
                kind = str(chunk["type"]).removesuffix("-start")
                self._add(chunk["id"], {"type": kind, "text": "", "state": "streaming"})
            case "text-delta" | "reasoning-delta":
                self._open[chunk["id"]]["text"] += chunk["delta"]
            case "text-end" | "reasoning-end":
                self._open[chunk["id"]]["state"] = "done"
            case "source-url" | "file" | "data-file" | "data-discarded":
                self._parts.append(chunk)
            case str() as kind if kind.startswith("tool-"):
                self._tool(kind, chunk)
            case _:
                pass

    def _add(self, name: str, part: JsonObject) -> JsonObject:
        self._open[name] = part
        self._parts.append(part)
        return part

    def _tool(self, kind: str, chunk: JsonObject) -> None:
        call: str = chunk["toolCallId"]
        part = self._open.get(call)
        if part is None:
            part = self._add(
                call, {"type": f"tool-{chunk['toolName']}", "toolCallId": call, "state": "input-streaming"}
            )
        match kind:
            case "tool-input-available":
                part |= {"state": "input-available", "input": chunk["input"]}
            case "tool-input-error":
                part |= {"state": "output-error", "input": chunk.get("input"), "errorText": chunk["errorText"]}
            case "tool-approval-request":
                part |= {"state": "approval-requested", "approval": {"id": chunk["approvalId"]}}
            case "tool-output-available":
                part |= {"state": "output-available", "output": chunk["output"]} | _approved(part, True)
            case "tool-output-error":
                part |= {"state": "output-error", "errorText": chunk["errorText"]} | _approved(part, True)
            case "tool-output-denied":
                part |= {"state": "output-denied"} | _approved(part, False)
            case _:
                pass


def _approved(part: JsonObject, approved: bool) -> JsonObject:
    approval = part.get("approval")
    return {"approval": {**approval, "approved": approved}} if isinstance(approval, dict) else {}
