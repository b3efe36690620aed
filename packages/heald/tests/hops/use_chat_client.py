"""The client of `useChat`: UI messages over /api/chat, read by the UI message stream protocol, version 1."""

from contextlib import suppress
from typing import Any
from uuid import uuid4

from exchange_view import CallView, ExchangeView
from hop_client import LOST, HopClient, Refused, data_frames, first

Part = dict[str, Any]


class UseChatClient(HopClient):
    """A page that loads its chat anew whenever it comes back."""

    name = "useChat"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.chat = ""
        self._message = ""  # the id of the assistant message
        self._parts: list[Part] = []
        self._whole: dict[str, list[Part]] = {}  # messages that were streamed to their end

    async def begin(self, text: str, request: str) -> None:
        self.chat = self.chat or self.session or f"chat-{uuid4().hex}"
        messages: list[Any] = []
        if self.session:
            messages = (await self.json("GET", f"/api/chat/{self.chat}"))["messages"]
        asked = {"id": request, "role": "user", "parts": [{"type": "text", "text": text}]}
        messages = [message for message in messages if message["id"] != request]
        body = {"id": self.chat, "messages": [*messages, asked], "trigger": "submit-message"}
        async with self.stream("POST", "/api/chat", body) as answer:
            self.session = self.session or answer.headers["X-Heald-Session"]
            assert answer.headers["X-Heald-Session"] == self.session, "the page was moved to another session"

    async def watch(self, most: int) -> None:
        self.chat = self.chat or self.session
        async with self.stream("GET", f"/api/chat/{self.chat}/stream") as answer:
            if answer.status == 204:
                self.has_ended = True
                return
            self._parts, self.approval = [], None  # nobody approves what the page does not show
            async for chunk in first(data_frames(answer), most):
                self._feed(chunk)

    async def approve(self) -> None:
        for part in self._parts:
            if part.get("approval", {}).get("id") == self.approval:
                part |= {"state": "approval-responded", "approval": {"id": self.approval, "approved": True}}
        message = {"id": self._message, "role": "assistant", "parts": self._parts}
        body = {"id": self.chat, "messages": [message], "trigger": "submit-message"}
        async with self.stream("POST", "/api/chat", body) as answer:
            self.approval = None
            with suppress(*LOST):  # the server has the decision
                async for chunk in first(data_frames(answer), 5):
                    self._feed(chunk)

    async def view(self, exchange: str) -> ExchangeView:
        self.chat = self.chat or self.session
        messages = (await self.json("GET", f"/api/chat/{self.chat}"))["messages"]
        (stored,) = [message["parts"] for message in messages if message["id"] == exchange]
        if exchange in self._whole:
            assert _view(self._whole[exchange]) == _view(stored), "the stream and the stored message differ"
        return _view(stored)

    def _feed(self, chunk: Part) -> None:
        parts = self._parts
        match chunk["type"]:
            case "start":
                self._message = chunk["messageId"]
            case "start-step":
                parts.append({"type": "step-start"})
            case "text-start":
                parts.append({"type": "text", "id": chunk["id"], "text": ""})
            case "text-delta":
                (part,) = [part for part in parts if part.get("id") == chunk["id"]]
                part["text"] += chunk["delta"]
            case "data-discarded":
                parts.append(chunk)
            case "finish" | "abort":
                self._finish(chunk)
            case "error":
                raise Refused(500, chunk["errorText"])
            case kind if kind.startswith("tool-"):
                self._feed_tool(kind, chunk)
            case _:
                pass

    def _feed_tool(self, kind: str, chunk: Part) -> None:
        call = next((part for part in self._parts if part.get("toolCallId") == chunk["toolCallId"]), None)
        if call is None:
            call = {"type": f"tool-{chunk['toolName']}", "toolCallId": chunk["toolCallId"], "state": "input-streaming"}
            self._parts.append(call)
        match kind:
            case "tool-input-available":
                call |= {"state": "input-available", "input": chunk["input"]}
            case "tool-approval-request":
                call |= {"state": "approval-requested", "approval": {"id": chunk["approvalId"]}}
            case "tool-output-available":
                call |= {"state": "output-available", "output": chunk["output"]}
            case "tool-output-error" | "tool-input-error":
                call |= {"state": "output-error", "errorText": chunk["errorText"]}
            case _:
                pass

    def _finish(self, chunk: Part) -> None:
        waiting = [part["approval"]["id"] for part in self._parts if part.get("state") == "approval-requested"]
        self.approval = waiting[-1] if waiting else None
        if not waiting and chunk.get("finishReason") != "tool-calls":
            self.has_ended = True
            self._whole[self._message] = self._parts


def _view(parts: list[Part]) -> ExchangeView:
    """Fold the parts of a message. What a step discarded is not in it."""
    steps: list[list[Part]] = [[]]
    for part in parts:
        if part["type"] == "step-start":
            steps.append([])
        elif part["type"] == "data-discarded":
            steps[-1] = []
        else:
            steps[-1].append(part)
    view = ExchangeView(status="completed")
    calls: list[CallView] = []
    for part in [part for step in steps for part in step]:
        if part["type"] == "text" and part["text"]:
            view.texts.append(part["text"])
        elif part["type"].startswith("tool-"):
            output = part.get("output")
            is_ok = part["state"] == "output-available"
            calls.append(CallView(part["input"]["word"], is_ok, output if isinstance(output, str) else None))
    view.calls = calls
    return view
