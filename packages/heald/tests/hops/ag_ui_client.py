"""The client of AG-UI: runs of a thread over /agui, read by the events of the protocol, version 1.0."""

from contextlib import suppress
from typing import Any
from uuid import uuid4

from exchange_view import CallView, ExchangeView
from hop_client import LOST, HopClient, Refused, data_frames, first

from heald.core.json import loads


class AgUiClient(HopClient):
    """A page that follows its thread with runs that bring nothing new."""

    name = "AG-UI"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._steps: list[list[dict[str, Any]]] = []
        self._calls: dict[str, dict[str, Any]] = {}
        self._status: str | None = None

    def _body(self, run: str, **fields: Any) -> dict[str, Any]:
        thread = {"threadId": self.session} if self.session else {}
        return {**thread, "runId": run, "protocolVersion": "1.0", "messages": [], "state": {}, "tools": [], **fields}

    async def begin(self, text: str, request: str) -> None:
        messages = [{"id": request, "role": "user", "content": text}]
        async with self.stream("POST", "/agui", self._body(request, messages=messages)) as answer:
            async for event in first(data_frames(answer), 1):  # the thread is the session
                assert event["type"] == "RUN_STARTED", event
                self.session = self.session or event["threadId"]
                assert event["threadId"] == self.session == answer.headers["X-Heald-Session"]

    async def watch(self, most: int) -> None:
        async with self.stream("POST", "/agui", self._body(f"run-{uuid4().hex}")) as answer:
            self._steps, self._calls = [], {}
            async for event in first(data_frames(answer), most):
                self._feed(event)

    async def approve(self) -> None:
        resume = [{"interruptId": self.approval, "status": "resolved", "payload": {"approved": True}}]
        async with self.stream("POST", "/agui", self._body(f"run-{uuid4().hex}", resume=resume)) as answer:
            self.approval = None
            with suppress(*LOST):  # the server has the decision
                async for event in first(data_frames(answer), 5):
                    self._feed(event)

    async def view(self, exchange: str) -> ExchangeView:
        self.renew()
        while not self.has_ended:
            await self.watch(1_000_000)
        view = ExchangeView(status=self._status)
        calls: list[CallView] = []
        for part in [part for step in self._steps for part in step]:
            if "text" in part:
                view.texts += [part["text"]] if part["text"] else []
            else:
                calls.append(CallView(loads(part["arguments"])["word"], output=part.get("result")))
        view.calls = calls
        return view

    def _feed(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "STEP_STARTED":
                self._steps.append([])
            case "TEXT_MESSAGE_START":
                self._steps[-1].append({"id": event["messageId"], "text": ""})
            case "TEXT_MESSAGE_CONTENT":
                assert self._steps[-1][-1]["id"] == event["messageId"]
                self._steps[-1][-1]["text"] += event["delta"]
            case "TOOL_CALL_START":
                call = self._calls[event["toolCallId"]] = {"arguments": ""}
                self._steps[-1].append(call)
            case "TOOL_CALL_ARGS":
                self._calls[event["toolCallId"]]["arguments"] += event["delta"]
            case "TOOL_CALL_RESULT":
                call = self._calls[event["toolCallId"]]
                assert "result" not in call, "a call has two results"
                call["result"] = event["content"]
            case "CUSTOM" if event["name"] == "message_discarded":
                self._steps[-1].clear()
            case "RUN_FINISHED":
                self._finish(event)
            case "RUN_ERROR":
                raise Refused(500, event["message"])
            case _:
                pass

    def _finish(self, event: dict[str, Any]) -> None:
        interrupts = event["outcome"].get("interrupts")
        self.approval = interrupts[0]["id"] if interrupts else None
        if event["outcome"]["type"] == "success":
            self.has_ended, self._status = True, event["result"]["status"]
