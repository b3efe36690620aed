"""The client of /v1/responses: items by their ids, and streams that go on after a sequence number."""

from contextlib import suppress
from typing import Any

from exchange_view import CallView, ExchangeView
from hop_client import LOST, HopClient, Refused, data_frames, first

from heald.core.json import loads

_TOOLS = [{"type": "mcp", "server_label": "heald", "require_approval": "always"}]


class ResponsesClient(HopClient):
    """A program that holds a conversation, and joins what others asked in it."""

    name = "responses"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._items: dict[str, dict[str, Any]] = {}
        self._response: str | None = None  # the response that is read
        self._number = -1  # the last event of it

    def renew(self) -> None:
        super().renew()
        self._items, self._response = {}, None

    def _body(self, **fields: Any) -> dict[str, Any]:
        conversation = {"conversation": self.session} if self.session else {}
        return {**conversation, "stream": True, "background": True, "tools": _TOOLS, **fields}

    async def begin(self, text: str, request: str) -> None:
        body, headers = self._body(input=text), {"Idempotency-Key": request}
        async with self.stream("POST", "/v1/responses", body, headers) as answer:
            self.session = self.session or answer.headers["X-Heald-Session"]
            assert answer.headers["X-Heald-Session"] == self.session
            self._open()
            async for event in first(data_frames(answer), 4):
                self._feed(event)

    async def watch(self, most: int) -> None:
        if self._response is not None:
            path = f"/v1/responses/{self._response}?stream=true&starting_after={self._number}"
            async with self.stream("GET", path) as answer:
                async for event in first(data_frames(answer), most):
                    self._feed(event)
            return
        async with self.stream("POST", "/v1/responses", self._body(input=[])) as answer:
            self._open()
            async for event in first(data_frames(answer), most):
                self._feed(event)

    async def approve(self) -> None:
        answers = [{"type": "mcp_approval_response", "approval_request_id": self.approval, "approve": True}]
        async with self.stream("POST", "/v1/responses", self._body(input=answers)) as answer:
            self.approval = None
            self._open()
            with suppress(*LOST):  # the server has the decision
                async for event in first(data_frames(answer), 5):
                    self._feed(event)

    async def view(self, exchange: str) -> ExchangeView:
        while self._response is not None:  # what it was reading, to its end
            await self.watch(1_000_000)
        self.has_ended = False
        while not self.has_ended:
            await self.watch(1_000_000)
        view = ExchangeView(status="completed")
        calls: list[CallView] = []
        for item in sorted(self._items.values(), key=_place):
            if item["type"] == "message" and item["status"] == "completed":
                view.texts.append("".join(part["text"] for part in item["content"]))
            elif item["type"] == "mcp_call":
                calls.append(CallView(loads(item["arguments"])["word"], item["status"] == "completed", item["output"]))
        view.calls = calls
        return view

    def _open(self) -> None:
        self._response, self._number = None, -1

    def _feed(self, event: dict[str, Any]) -> None:
        assert event["sequence_number"] == self._number + 1, f"event {self._number + 1} is lost or doubled"
        self._number = event["sequence_number"]
        match event["type"]:
            case "response.created":
                self._response = event["response"]["id"]
            case "response.output_item.added":
                self._items[event["item"]["id"]] = {**event["item"], "deltas": ""}
            case "response.output_text.delta":
                self._items[event["item_id"]]["deltas"] += event["delta"]
            case "response.output_item.done":
                self._end_item(event["item"])
            case "response.completed":
                self._finish(event["response"])
            case "response.failed" | "response.incomplete" | "error":
                raise Refused(500, str(event))
            case _:
                pass

    def _end_item(self, item: dict[str, Any]) -> None:
        if item["type"] == "message":
            text = "".join(part["text"] for part in item["content"])
            assert self._items[item["id"]]["deltas"] == text, "the deltas are not the text"
        self._items[item["id"]] = item

    def _finish(self, response: dict[str, Any]) -> None:
        self._response = None
        output = response["output"]
        for item in output:
            assert self._items[item["id"]] == item, "the response has another item than its stream"
        is_waiting = bool(output) and output[-1]["type"] == "mcp_approval_request"
        self.approval = output[-1]["id"] if is_waiting else None
        self.has_ended = not is_waiting


def _place(item: dict[str, Any]) -> int:
    """The event with which an item began, which its id names."""
    return int(item["id"].rpartition("_")[2])
