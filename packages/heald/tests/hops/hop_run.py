"""Random hops: one exchange after the other, each begun, watched, approved, steered and finished in other clients.

A hop is an action of another client than the one before. Connections are cut after any frame, `heald acp` and the
server are killed with SIGKILL. What each client has of an exchange at its end is compared with the log.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from a2a_client import A2AHopClient
from acp_client import AcpHopClient
from ag_ui_client import AgUiClient
from crash_parts import Server, Turn
from exchange_view import ExchangeView, differences, fold_log
from hop_client import LOST, HopClient, Refused
from native_clients import AgentXHopClient, RestClient, SocketClient
from responses_client import ResponsesClient
from use_chat_client import UseChatClient

from heald.core.envelope import Event
from heald.core.events import ConversationSteered, ExchangeRequest, ExchangeResponse
from heald.core.messages import ToolCall, ToolResult
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log

EXCHANGES_OF_A_SESSION = 4
_PATIENCE = 120.0


TOOL = '''
import heald

@heald.tool
async def leave_line(word: str) -> str:
    """Leave a word in the file of effects."""
    with open({effects!r}, "a") as file:
        file.write(word + "\\n")
    return "left " + word
'''
"""A tool whose effect can be counted. It asks before it runs."""


def work_script(messages: Sequence[Turn]) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Two turns with a call that leaves a line in a file, and a last word that names what came in between."""
    texts = [_text(message) for message in messages]
    asked = max(number for number, text in enumerate(texts) if text.startswith("Work "))
    word = texts[asked].removeprefix("Work ").rstrip(".")
    turn = sum(message["role"] == "assistant" for message in messages[asked:]) + 1
    if turn > 2:
        heard = [text for message, text in zip(messages, texts, strict=True) if message["role"] == "user"]
        also = ", ".join(text for text in heard[heard.index(texts[asked]) + 1 :])
        return f"All of {word} is done after {turn - 1} steps. Heard besides: {also or 'nothing'}. ", []
    return f"Step {turn} of {word}: a line more in the file. ", [("leave_line", {"word": f"{word}-{turn}"})]


def _text(message: Turn) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


@dataclass
class HopCounts:
    """What a run did."""

    hops: int = 0
    kills: int = 0
    cuts: int = 0
    exchanges: int = 0
    steers: int = 0
    compared: int = 0
    actions: "Counter[str]" = field(default_factory=Counter[str])


class HopRun:
    """Hops in the sessions of one server. `counts` has what was done."""

    def __init__(self, server: Server, effects: Path, seed: int, *, kill_chance: float = 0.12) -> None:
        self._server = server
        self._effects = effects
        self._chance = random.Random(seed)
        self._seed = seed
        self._kill_chance = kill_chance
        self._clients: list[HopClient] = []
        self._last: HopClient | None = None
        self._number = 0
        self._exchange_id = ""
        self._steers: list[str] = []
        self.counts = HopCounts()
        self.sessions: list[str] = []

    async def run(self, hops: int) -> None:
        """Hop so many times, and prove every session."""
        while self.counts.hops < hops:
            self._clients = self._new_clients()
            self._steers = []
            try:
                for _ in range(EXCHANGES_OF_A_SESSION):
                    await self._exchange()
                    if self.counts.hops >= hops:
                        break
                await self._prove_session()
            finally:
                for client in self._clients:
                    self.counts.cuts += client.cuts
                    await client.close()

    async def prove(self, clients: list[HopClient], steers: list[str]) -> None:
        """Prove a session in which these clients did something."""
        self._clients, self._steers = clients, steers
        await self._settle()
        await self._compare(clients[0].session)
        await self._prove_session()

    def _new_clients(self) -> list[HopClient]:
        url, chance = self._server.url, self._chance
        return [
            UseChatClient(url),
            AgUiClient(url),
            A2AHopClient(url),
            AcpHopClient(url, self._server.folder / "work", chance),
            ResponsesClient(url),
            RestClient(url),
            SocketClient(url),
            AgentXHopClient(url, chance),
        ]

    # --- one exchange ------------------------------------------------------------------------------------------------

    async def _exchange(self) -> None:
        self._number += 1
        for client in self._clients:
            client.renew()
        text = f"Work {self._seed}x{self._number}."
        begun = self._next_client()
        await self._act("begin", begun, lambda: begun.begin(text, f"req-{text}"))
        for client in self._clients:
            client.session = begun.session
        self._exchange_id = exchange = await self._wait_for_request(begun.session, text)
        async with asyncio.timeout(_PATIENCE):
            while not await self._is_over(begun.session, exchange):
                await self._hop()
        self.counts.exchanges += 1
        await self._settle()
        await self._compare(begun.session)

    async def _settle(self) -> None:
        """Wait until nothing is under way."""
        async with asyncio.timeout(_PATIENCE):
            for client in self._clients:
                await client.settle()
        await self._wait_until_idle(self._clients[0].session)

    async def _hop(self) -> None:
        client = self._next_client()
        if client.steers and self._chance.random() < 0.2:
            text = f"Also {len(self._steers)} by {client.name}."
            self._steers.append(text)
            await self._act("steer", client, lambda: client.steer(text, f"steer-{client.session}-{text}"))
            return
        killing = asyncio.create_task(self._kill_soon()) if self._chance.random() < self._kill_chance else None
        try:
            await self._watch(client)
            if client.approval is not None and self._chance.random() < 0.6:
                await self._act("approve", client, client.approve, counts=False)
        finally:
            if killing is not None:
                await killing

    def _next_client(self) -> HopClient:
        return self._chance.choice([client for client in self._clients if client is not self._last])

    async def _watch(self, client: HopClient) -> None:
        """Watch for some frames, and cut the connection after them or after a moment."""
        self._count("watch", client)
        most = self._chance.choice([1, 2, 3, 5, 8, 13, 1000])
        try:
            async with asyncio.timeout(self._chance.uniform(0.1, 1.0)):
                await client.watch(most)
        except LOST:
            client.cuts += 1
        except Refused as refused:
            if refused.status != 503:
                raise

    async def _act(
        self, kind: str, client: HopClient, action: Callable[[], Awaitable[None]], *, counts: bool = True
    ) -> None:
        """Do something, and repeat it while the server is away."""
        if counts:
            self._count(kind, client)
        else:
            self.counts.actions[f"{client.name}: {kind}"] += 1
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    await action()
                except LOST:
                    client.cuts += 1
                    await asyncio.sleep(0.05)
                except Refused as refused:
                    if kind == "approve" and refused.status in (404, 409):
                        return  # another client was faster
                    if refused.status != 503 and not (kind == "begin" and refused.status == 409):
                        raise
                    await asyncio.sleep(0.05)
                else:
                    return

    def _count(self, kind: str, client: HopClient) -> None:
        self.counts.hops += client is not self._last
        self.counts.actions[f"{client.name}: {kind}"] += 1
        self._last = client

    async def _kill_soon(self) -> None:
        """Kill the server, at any point of what it does, and start it on the same data."""
        await asyncio.sleep(self._chance.uniform(0.0, 0.4))
        await self._server.kill()
        self.counts.kills += 1
        assert await self._server.start()

    # --- the server --------------------------------------------------------------------------------------------------

    async def _get(self, path: str) -> Any:
        async with asyncio.timeout(_PATIENCE):
            while True:
                try:
                    async with self._server.client() as client, client.get(path) as answer:
                        assert answer.status == 200, await answer.text()
                        return await answer.json()
                except (aiohttp.ClientError, ConnectionError):
                    await asyncio.sleep(0.05)

    async def _events(self, session: str) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        while page := (await self._get(f"/sessions/{session}/log?limit=1000&after={len(events)}"))["events"]:
            events += page
        return events

    async def _wait_for_request(self, session: str, text: str) -> str:
        async with asyncio.timeout(_PATIENCE):
            while True:
                for event in await self._events(session):
                    if event["type"] == "exchange_request" and _text(event["data"]["message"]) == text:
                        return event["exchange"]
                await asyncio.sleep(0.05)

    async def _is_over(self, session: str, exchange: str) -> bool:
        events = await self._events(session)
        return any(event["type"] == "exchange_response" and event["exchange"] == exchange for event in events)

    async def _wait_until_idle(self, session: str) -> None:
        async with asyncio.timeout(_PATIENCE):
            while (await self._get(f"/sessions/{session}"))["busy"]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    # --- proofs ------------------------------------------------------------------------------------------------------

    async def _log(self, session: str) -> list[Event]:
        store = SqliteStore(self._server.database)
        try:
            return [event async for event in iterate_events(store, session)]
        finally:
            await store.close()

    async def _compare(self, session: str) -> None:
        """Compare what each client has of the last exchange with the log; an editor has all of them."""
        log = await self._log(session)
        requests = [event.exchange or "" for event in log if isinstance(event.data, ExchangeRequest)]
        folds = [fold_log(event for event in log if event.exchange == exchange) for exchange in requests]
        together = ExchangeView(
            [text for fold in folds for text in fold.texts], [call for fold in folds for call in fold.calls or []]
        )
        for client in self._clients:
            if requests[-1] != self._exchange_id:
                client.renew()  # a message that came after the end began another exchange
            expected = together if isinstance(client, AcpHopClient) else folds[-1]
            await self._compare_client(client, requests[-1], expected)

    async def _compare_client(self, client: HopClient, exchange: str, expected: ExchangeView) -> None:
        wrong: list[str] = []
        for _ in range(200):
            try:
                async with asyncio.timeout(60):
                    wrong = differences(await client.view(exchange), expected)
            except LOST as error:
                wrong = [repr(error)]
            if not wrong:
                self.counts.compared += 1
                return
            if not isinstance(client, AcpHopClient):
                break
            await asyncio.sleep(0.05)  # its updates are on their way
        raise AssertionError(f"{client.name} has of {exchange} (seed {self._seed}): {'; '.join(wrong)}")

    async def _prove_session(self) -> None:
        session = self._clients[0].session
        self.sessions.append(session)
        log = await self._log(session)
        faults = check_log(log, host_paths=[str(self._server.folder)])
        assert not faults, "; ".join(str(fault) for fault in faults)
        statuses = {event.data.status for event in log if isinstance(event.data, ExchangeResponse)}
        assert statuses == {"completed"}, statuses
        asked = Counter(
            event.data.message.text for event in log if isinstance(event.data, ExchangeRequest | ConversationSteered)
        )
        assert max(asked.values()) == 1, f"something was asked twice: {asked}"
        missing = [text for text in self._steers if asked[text] != 1]
        assert not missing, f"what was accepted is lost: {missing}"
        self.counts.steers += len(self._steers)
        self._prove_effects(log)

    def _prove_effects(self, log: list[Event]) -> None:
        done = Counter(self._effects.read_text().split())
        assert max(done.values()) == 1, "something was done twice"
        words = {event.data.id: event.data.input["word"] for event in log if isinstance(event.data, ToolCall)}
        for event in log:
            if isinstance(event.data, ToolResult) and event.data.status != "interrupted":
                assert event.data.status == "ok", event.data
                assert done[words[event.data.id]] == 1, f"{event.data} left no line"
