"""`weft demo`: the same short conversation over every wire, through real sockets, without a key or a network."""

import argparse
import asyncio
import sys
import time

from weft.core.events import InputJsonDelta, TextDelta, ThinkingDelta, ToolUseContentBlockStart
from weft.core.messages import user
from weft.core.payload import Payload
from weft.core.tools import ToolCall, ToolDefinition, ToolResult
from weft.providers.factory import open_session
from weft.providers.model import Model
from weft.testing.replies import Pause, Reply, Step
from weft.testing.server import ScriptedServer
from weft.testing.streams import wire_stream
from weft.wires.registry import WIRES

_BASES = {"gemini": "/v1beta", "ollama": ""}
_WEATHER = ToolDefinition(
    name="weather",
    description="Weather of a city.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


_CALL = ToolCall(id="call_1", name="weather", input={"city": "Oslo"})


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage]
    parser = commands.add_parser("demo", help="a scripted conversation over every wire; needs no key and no network")
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two pieces (0.02)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    asyncio.run(_demo(options.pause))
    return 0


async def _demo(pause: float) -> None:
    for wire in WIRES:
        replies = [
            _paced(wire_stream(wire, thinking="Oslo is far north. ", calls=[_CALL]), pause),
            _paced(wire_stream(wire, text="It is 3 °C and snowing in Oslo: take a warm coat."), pause),
        ]
        async with ScriptedServer(replies) as server:
            await _converse(wire, server.url + _BASES.get(wire, "/v1"))


def _paced(pieces: list[bytes], pause: float) -> Reply:
    steps: list[Step] = []
    for piece in pieces:
        steps += [piece, Pause(pause)]
    return Reply(steps)


async def _converse(wire: str, base_url: str) -> None:
    print(f"\n── {wire} " + "─" * (60 - len(wire)))
    model = Model("demo-model", wire=wire, base_url=base_url, api_key="demo")
    session = open_session(model, messages=[user("What should I wear in Oslo?")], tools=[_WEATHER])
    start, events = time.perf_counter(), 0

    def show(payload: Payload) -> None:
        nonlocal events
        events += 1
        _show(payload)

    try:
        turn = await session.stream_turn(show)
        results = [
            ToolResult(id=call.id, name=call.name, status="ok", content="3 °C, snow") for call in turn.tool_calls
        ]
        for result in results:
            print(f"\n  ← {result.name}: {result.text}")
        session.append_tool_results(turn, results)
        await session.stream_turn(show)
    finally:
        await session.close()
    print(f"\n  {events} events in {(time.perf_counter() - start) * 1000:.0f} ms")


def _show(payload: Payload) -> None:
    match payload:
        case ThinkingDelta(text=text):
            print(f"\x1b[2m{text}\x1b[0m" if sys.stdout.isatty() else text, end="", flush=True)
        case ToolUseContentBlockStart(name=name):
            print(f"\n  → {name} ", end="", flush=True)
        case TextDelta(text=text) | InputJsonDelta(partial_json=text):
            print(text, end="", flush=True)
        case _:
            pass
