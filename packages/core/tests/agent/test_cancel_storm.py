"""A thousand cancels at random moments: nothing leaks, every log is clean, every conversation goes on.

Moments are drawn from a seed, so a failure can be played again: its seed is in the message.
"""

import asyncio
import os
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import sleep
from typing import Any

import pytest
from cancel_support import WIRES, Log, assert_same_history, model_at, refusals, soon

import heald
from heald.agent.agent import Agent
from heald.core.errors import HealdError, ServerFault
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import Cut, Hang, Pause, ReceivedRequest, Reply, Reset, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.tools.families import families

Scripted = heald.testing.ScriptedModel
CANCELS = 600
"""Tried with the scripted model, and as many over sockets. Some come too late; more than 1,000 do not."""


@heald.tool
async def nap(seconds: float) -> str:
    """Sleeps."""
    await asyncio.sleep(seconds)
    return "slept"


@heald.tool
def block(seconds: float) -> str:
    """Blocks."""
    sleep(seconds)
    return "blocked"


TOOLS = [nap, block, *families()["files"]]


@dataclass(frozen=True)
class Held:
    """What a process holds."""

    tasks: int
    files: int
    threads: int
    children: int

    @staticmethod
    def now() -> "Held":
        children = 0
        for task in os.listdir("/proc/self/task"):
            try:
                with open(f"/proc/self/task/{task}/children") as listed:
                    children += len(listed.read().split())
            except OSError:
                continue
        # the loop's own pool keeps its threads for the next one who needs them
        resting = ("asyncio_", "heald-idle")
        threads = [thread.name for thread in threading.enumerate() if not thread.name.startswith(resting)]
        return Held(len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd")), len(threads), children)


async def assert_nothing_leaked(before: Held) -> None:
    for _ in range(200):
        now = Held.now()
        if now.tasks <= before.tasks and now.files <= before.files and now.threads <= before.threads:
            break
        await asyncio.sleep(0.02)
    now = Held.now()
    assert now.tasks <= before.tasks
    assert now.files <= before.files
    assert now.threads <= before.threads
    assert now.children <= before.children


def a_call(dice: random.Random) -> tuple[str, dict[str, Any]]:
    return dice.choice(
        [
            ("nap", {"seconds": dice.choice([0, 0, 0.002, 5])}),
            ("block", {"seconds": dice.choice([0, 0.001, 0.003])}),
            ("create_file", {"path": f"f{dice.randrange(4)}.txt", "content": "line\n" * dice.randrange(40)}),
            ("read_file", {"path": f"f{dice.randrange(4)}.txt"}),
            ("nowhere", {}),
            ("nap", {"seconds": "soon"}),
        ]
    )


async def a_moment(dice: random.Random) -> None:
    """Somewhere between at once and a few milliseconds from now."""
    if dice.random() < 0.7:
        for _ in range(dice.randrange(60)):
            await asyncio.sleep(0)
    else:
        await asyncio.sleep(dice.random() * 0.008)


async def cancelled_somehow(agent: Agent, dice: random.Random) -> None:
    """One exchange that is cancelled at some moment, by somebody."""
    way = dice.choice(["agent", "agent", "task", "both", "stream", "interrupt", "queued"])
    if way == "agent":
        exchange = agent.send("Go.")
        await a_moment(dice)
        agent.cancel()
        await soon(exchange.result())
    elif way in ("task", "both"):
        caller = asyncio.create_task(agent.run("Go."))
        await a_moment(dice)
        if way == "both":
            agent.cancel()
        caller.cancel()
        await soon(asyncio.gather(caller, return_exceptions=True))
    elif way == "stream":
        stream: Any = agent.stream("Go.")
        stop_at = dice.randrange(1, 80)
        number = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(dice.random() * 0.02):
                async for _ in stream:
                    number += 1
                    if number == stop_at:
                        break
        await soon(stream.aclose())
    elif way == "interrupt":
        first = agent.send("Go.")
        await a_moment(dice)
        second = agent.send("No, this.", when_busy="interrupt")
        await a_moment(dice)
        agent.cancel()
        await soon(first.result())
        second.cancel()
        await soon(second.result())
    else:
        first, second = agent.send("Go."), agent.send("Then this.")
        await a_moment(dice)
        second.cancel()
        await a_moment(dice)
        first.cancel()
        await soon(first.result())
        await soon(second.result())


def assert_all_closed(log: Log, seed: int) -> None:
    assert len(log.of(ExchangeResponse)) == len(log.of(ExchangeRequest)), seed
    assert sorted(r.id for r in log.of(ToolResult)) == sorted(c.id for c in log.of(ToolCall)), seed


async def storm(seed: int, count: int, make: Callable[[random.Random], Any]) -> tuple[Agent, Log]:
    """Cancel many exchanges of one agent."""
    dice = random.Random(seed)
    agent = Agent(make(dice), tools=TOOLS, retry=heald.Retry(base=0.002, cap=0.005), budget=heald.Budget(turns=6))
    log = Log(agent)
    for _ in range(count):
        with suppress(HealdError):  # the script broke the connection too often, before the cancel came
            await cancelled_somehow(agent, dice)
    return agent, log


def scripted(dice: random.Random) -> heald.testing.ScriptedModel:
    def turn(_: object) -> Any:
        parts: list[Any] = []
        if dice.random() < 0.4:
            parts.append(Scripted.think("Let me think. " * dice.randrange(1, 5)))
        if dice.random() < 0.7:
            parts.append("Some words. " * dice.randrange(1, 8))
        for _ in range(dice.choice([0, 1, 1, 2, 3])):
            name, arguments = a_call(dice)
            parts.append(Scripted.call(name, **arguments))
        if dice.random() < 0.1:
            parts.append(Scripted.stop(dice.choice(["max_tokens", "refusal", "content_filter"])))
        if dice.random() < 0.05:
            parts.append(Scripted.fail(ServerFault("It broke; try again.")))
        return parts or "Yes."

    return Scripted([turn] * 100_000, piece=16)


@pytest.mark.parametrize("seed", range(5))
async def test_a_scripted_model(seed: int) -> None:
    before = Held.now()
    agent, log = await storm(seed, CANCELS // 5, scripted)
    await soon(agent.close())
    assert_all_closed(log, seed)
    log.assert_clean()
    assert_same_history(agent, log)
    await assert_nothing_leaked(before)


def answers(wire: str, dice: random.Random) -> Callable[[ReceivedRequest], Reply]:
    """Replies of every kind: whole, slow, hanging, cut, broken, refused."""
    numbers = iter(range(1_000_000))

    def answer(request: ReceivedRequest) -> Reply:
        calls: list[ToolCall] = []
        for _ in range(dice.choice([0, 1, 1, 2])):
            name, arguments = a_call(dice)
            calls.append(ToolCall(id=f"call_{next(numbers)}", name=name, input=arguments))
        thinking = ["Let me", " think."] if dice.random() < 0.4 else []
        pieces = wire_stream(wire, thinking=thinking, text=["Some ", "words."], calls=calls)
        kind = dice.choice(["whole", "whole", "slow", "hang", "cut", "reset", "busy"])
        at = dice.randrange(len(pieces))
        if kind == "slow":
            return Reply([step for piece in pieces for step in (piece, Pause(0.001))])
        if kind == "hang":
            return Reply([*pieces[:at], Hang()])
        if kind in ("cut", "reset"):
            return Reply([*pieces[:at], Cut() if kind == "cut" else Reset()])
        return Reply.json({"error": {"message": "busy"}}, 503) if kind == "busy" else Reply(pieces)

    return answer


@pytest.mark.parametrize("wire", WIRES)
async def test_over_sockets(wire: str) -> None:
    seed = 1000 + WIRES.index(wire)
    before = Held.now()
    calm = False
    wild = answers(wire, random.Random(seed))

    def answer(request: ReceivedRequest) -> Reply:
        return wire_reply(wire, text="Done.") if calm else wild(request)

    async with ScriptedServer(answer) as server:
        agent, log = await storm(seed, CANCELS // 4, lambda _: model_at(server, wire))
        calm = True
        assert (await soon(agent.run("Go on."))).text == "Done."
        await soon(agent.close())
        for request in server.requests:
            assert refusals(wire, request.body) == [], seed
    assert_all_closed(log, seed)
    log.assert_clean()
    assert_same_history(agent, log)
    await assert_nothing_leaked(before)
