"""The load of one cell of the growth table: agents that stream without end, each with a reader on another node."""

import argparse
import asyncio
import json
import random
import re
import sys
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from time import time

import aiohttp

from benchmarks.nodes.cluster import TOKEN
from benchmarks.nodes.paced_model import BIRTH

_HEADERS = {"Authorization": f"Bearer {TOKEN}"}
_ERRORS = (aiohttp.ClientError, OSError, TimeoutError)
_CURSOR = re.compile(rb"^id: (\d+)$", re.MULTILINE)
_BIRTH = re.compile(BIRTH.pattern.encode())
_RESPONSE = b"\nevent: exchange_response\n"


@dataclass
class WatchedAgent:
    """A session, and what its reader has seen of it."""

    session: str
    asked_at: str
    read_at: str
    last: int = 0
    missed: int = 0
    responses: int = 0


class GrowthLoad:
    """Asks and reads the agents of one process of the load."""

    def __init__(self, urls: list[str], begin: float, end: float, *, near: bool) -> None:
        self._urls = urls
        self._distance = 0 if near else 1  # from the node that is asked to the one that is read at
        self._begin = begin
        self._end = end
        self.lags: list[float] = []
        self.refused = 0
        """Messages that were not accepted."""

    async def run(self, numbers: range, length: float) -> list[WatchedAgent]:
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=None, sock_read=60)
        async with aiohttp.ClientSession(headers=_HEADERS, connector=connector, timeout=timeout) as http:
            agents = [await self._create(http, number) for number in numbers]
            tasks = [asyncio.create_task(work) for agent in agents for work in self._work(http, agent, length)]
            await asyncio.sleep(self._end - time())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return agents

    async def _create(self, http: aiohttp.ClientSession, number: int) -> WatchedAgent:
        asked_at = self._urls[number % len(self._urls)]
        async with http.post(f"{asked_at}/sessions") as answer:
            session = (await answer.json())["id"]
        return WatchedAgent(session, asked_at, self._urls[(number + self._distance) % len(self._urls)])

    def _work(
        self, http: aiohttp.ClientSession, agent: WatchedAgent, length: float
    ) -> tuple[Coroutine[None, None, None], Coroutine[None, None, None]]:
        return self._read(http, agent), self._ask(http, agent, length)

    async def _ask(self, http: aiohttp.ClientSession, agent: WatchedAgent, length: float) -> None:
        await asyncio.sleep(random.uniform(0, length))
        number = 0
        while True:
            number += 1
            body = {"text": f"Message {number}", "client_request_id": f"m{number}"}
            while not await self._send(http, agent, body):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            while agent.responses < number:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def _send(self, http: aiohttp.ClientSession, agent: WatchedAgent, body: dict[str, str]) -> bool:
        """Send a message. Returns whether it was accepted: a node that is about to be ready refuses it."""
        with suppress(*_ERRORS):
            async with http.post(f"{agent.asked_at}/sessions/{agent.session}/messages", json=body) as answer:
                await answer.read()
                if answer.status < 400:
                    return True
        self.refused += 1
        return False

    async def _read(self, http: aiohttp.ClientSession, agent: WatchedAgent) -> None:
        while True:
            with suppress(*_ERRORS):
                headers = {"Last-Event-ID": str(agent.last)}
                async with http.get(f"{agent.read_at}/sessions/{agent.session}/events", headers=headers) as answer:
                    rest = b""
                    async for data in answer.content.iter_any():
                        frames, gap, rest = (rest + data).rpartition(b"\n\n")
                        if gap:
                            self._on_frames(agent, frames)
            await asyncio.sleep(0.2)

    def _on_frames(self, agent: WatchedAgent, frames: bytes) -> None:
        now = time()
        for cursor in _CURSOR.findall(frames):
            seq = int(cursor)
            agent.missed += seq != agent.last + 1
            agent.last = seq
        agent.responses += frames.count(_RESPONSE)
        if self._begin <= now <= self._end and b"event: text_delta\n" in frames:
            deltas = frames if b"assistant_message" not in frames else frames.partition(b"assistant_message")[0]
            self.lags += [now - float(birth) for birth in _BIRTH.findall(deltas)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", nargs="+", required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--begin", type=float, required=True)
    parser.add_argument("--end", type=float, required=True)
    parser.add_argument("--length", type=float, required=True)
    parser.add_argument("--near", action="store_true")
    options = parser.parse_args()
    load = GrowthLoad(options.urls, options.begin, options.end, near=options.near)
    agents = asyncio.run(load.run(range(options.first, options.agents, options.step), options.length))
    result = {
        "lags": [round(lag, 4) for lag in load.lags],
        "missed": sum(agent.missed for agent in agents),
        "refused": load.refused,
        "responses": sum(agent.responses for agent in agents),
        "silent": sum(agent.last == 0 for agent in agents),
    }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
