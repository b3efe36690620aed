"""Folds the frames of a log into the UI messages that a client of the Vercel AI SDK would have."""

from heald.core.json import JsonObject, as_object
from heald.core.messages import File, Image, Message, Text
from heald_server.dialects.frame import Frame


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
            case "finish" | "message-metadata" if self.message is not None and "messageMetadata" in chunk:
                self.message["metadata"] = chunk["messageMetadata"]
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
