"""Clients of the log itself: REST with server-sent events, a WebSocket, and agentx."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import aiohttp
from crash_parts import TOKEN
from exchange_view import CallView, ExchangeView
from hop_client import HopClient, Refused
from stream_readers import Copy, ReceivedFrame

from heald.core.json import JsonObject, encode_text, loads
from heald_server import AgentXClient, ServerRefused

_PAUSE = 0.3
"""Seconds that a client looks at an exchange that waits."""


class RestClient(HopClient):
    """REST for what it does, server-sent events for what it sees."""

    name = "REST and SSE"
    steers = True
    over = "sse"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._http: aiohttp.ClientSession | None = None
        self._copy: Copy | None = None
        self._seen = 0  # frames whose meaning is known

    async def begin(self, text: str, request: str) -> None:
        if not self.session:
            self.session = (await self.json("POST", "/sessions", {}))["id"]
        await self._send({"text": text, "client_request_id": request})

    async def steer(self, text: str, request: str) -> None:
        await self._send({"text": text, "client_request_id": request, "when_busy": "steer"})

    async def approve(self) -> None:
        path = f"/sessions/{self.session}/approvals/{self.approval}"
        await self.json("POST", path, {"decision": "approve"})
        self.approval = None

    async def _send(self, submission: JsonObject) -> None:
        await self.json("POST", f"/sessions/{self.session}/messages", submission)

    async def watch(self, most: int) -> None:
        copy = self._opened()
        self._understand(copy.frames)
        if self.approval is not None or self.has_ended:
            async with asyncio.timeout(_PAUSE):
                await copy.read(lambda _: False, most)
        try:
            await copy.read(_is_stop, most)
        finally:
            self._understand(copy.frames)

    def _opened(self) -> Copy:
        if self._copy is None:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            self._http = aiohttp.ClientSession(self.url, headers=headers)
            self._copy = Copy(self._http, self.session, over=self.over)
        return self._copy

    def _understand(self, frames: Sequence[ReceivedFrame]) -> None:
        for frame in frames[self._seen :]:
            event = frame.json
            match event["type"]:
                case "exchange_request":
                    self.has_ended, self.approval = False, None
                case "exchange_response":
                    self.has_ended, self.approval = True, None
                case "approval_requested":
                    self.approval = event["data"]["approval"]
                case "approval_resolved":
                    self.approval = None
                case _:
                    pass
        self._seen = len(frames)

    async def view(self, exchange: str) -> ExchangeView:
        copy = self._opened()
        if not copy.has_ended(exchange):
            await copy.read(lambda _: copy.has_ended(exchange))
        events = [frame.json for frame in copy.frames]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1)), "an event is lost or doubled"
        view = ExchangeView()
        calls: dict[str, CallView] = {}
        for event in events:
            data = event["data"]
            if event["exchange"] != exchange:
                continue
            match event["type"]:
                case "assistant_message":
                    text = "".join(block["text"] for block in data["message"]["content"] if block["type"] == "text")
                    view.texts += [text] if text else []
                case "tool_call":
                    calls[data["id"]] = CallView(data["input"]["word"])
                case "tool_result":
                    calls[data["id"]].ok = data["status"] == "ok"
                case "exchange_response":
                    view.status = data["status"]
                case _:
                    pass
        view.calls = list(calls.values())
        return view

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()


def _is_stop(frame: ReceivedFrame) -> bool:
    return frame.json["type"] in ("exchange_response", "approval_requested")


class SocketClient(RestClient):
    """A WebSocket for what it does and for what it sees."""

    name = "socket"
    over = "ws"

    async def approve(self) -> None:
        await self._command({"type": "approve", "approval": self.approval})
        self.approval = None

    async def _send(self, submission: JsonObject) -> None:
        await self._command({"type": "send", **submission})

    async def _command(self, command: JsonObject) -> None:
        async with self.http() as client, client.ws_connect(f"/sessions/{self.session}/ws") as socket:
            await socket.send_str(encode_text({"id": "1", **command}))
            async for message in socket:
                answer: Any = loads(message.data)
                if answer.get("id") == "1" and answer.get("type") in ("reply", "error"):
                    if answer["type"] == "error":
                        raise Refused(409, str(answer))
                    return
        raise ConnectionError("the socket was closed before the answer")


class AgentXHopClient(HopClient):
    """`heald_server.AgentXClient`, which reconnects by itself, and is made anew now and then."""

    name = "agentx"

    def __init__(self, url: str, chance: random.Random) -> None:
        super().__init__(url)
        self._chance = chance
        self._client: AgentXClient | None = None
        self._events: list[JsonObject] = []

    async def _opened(self) -> AgentXClient:
        if self._client is None:
            self._events = []
            if not self.session:
                self._client = AgentXClient(self.url, TOKEN)
            else:
                self._client = AgentXClient(self.url, TOKEN, session=self.session)
            self._client.react({"onEvent": self._events.append})
            self.session = await self._client.open()
        return self._client

    async def begin(self, text: str, request: str) -> None:
        client = await self._opened()
        await client.send(text)  # it repeats the request by itself, with an id

    async def watch(self, most: int) -> None:
        if self._client is not None and self._chance.random() < 0.2:
            await self.close()
            self.cuts += 1
        await self._opened()
        enough_events = len(self._events) + most
        self._understand()
        for _ in range(100):
            if self.approval is not None or self.has_ended or len(self._events) >= enough_events:
                return
            await asyncio.sleep(0.02)
            self._understand()

    def _understand(self) -> None:
        self.approval, self.has_ended = None, False
        for event in self._events:
            match event["type"]:
                case "exchange_request":
                    self.has_ended, self.approval = False, None
                case "exchange_response":
                    self.has_ended, self.approval = True, None
                case "approval_requested":
                    self.approval = event["data"]["approval"]
                case "approval_resolved":
                    self.approval = None
                case _:
                    pass

    async def approve(self) -> None:
        assert self.approval is not None
        client = await self._opened()
        try:
            await client.approve(self.approval)
        except ServerRefused as refused:
            raise Refused(409, str(refused)) from None

    async def view(self, exchange: str) -> ExchangeView:
        await self._opened()
        while not any(e["type"] == "exchange_response" and e["exchangeId"] == exchange for e in self._events):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        view = ExchangeView()
        calls: dict[str, CallView] = {}
        for event in self._events:
            data = event["data"]
            if event["exchangeId"] != exchange:
                continue
            match event["type"]:
                case "assistant_message":
                    view.texts += [data["content"]] if data["content"] else []
                case "tool_call":
                    calls[data["id"]] = CallView(data["input"]["word"])
                case "tool_result":
                    call = calls[data["toolId"]]
                    assert call.ok is None, "a call has two results"
                    call.ok = data["status"] == "ok"
                case "exchange_response":
                    assert view.status is None, "an exchange has two ends"
                    view.status = data["status"]
                case _:
                    pass
        view.calls = list(calls.values())
        return view

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()
