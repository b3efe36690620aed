"""`heald demo`: an agent writes a page over every wire, through real sockets, without a key or a network."""

import argparse
import asyncio
import sys

import heald
from heald.commands.terminal import DIM, Colours
from heald.core.envelope import Event
from heald.core.events import (
    ExchangeResponse,
    FileChanged,
    FilePreview,
    TextContentBlockStart,
    TextDelta,
    ThinkingContentBlockStart,
    ThinkingDelta,
    ToolCompleted,
    ToolUseContentBlockStart,
)
from heald.core.messages import Image, ToolCall
from heald.providers.model import Model
from heald.testing.server import Pause, Reply, ScriptedServer, Step
from heald.testing.streams import wire_stream
from heald.wires.registry import WIRES
from heald_cli.output_guard import OutputGuard

EXAMPLES = """examples:
  heald demo
  heald demo --pause 0       without pauses"""
_BASES = {"gemini": "/v1beta", "ollama": ""}
_PAGE = "<!doctype html>\n<title>Oslo</title>\n<h1>Oslo</h1>\n<p>It is cold here.</p>\n"
_WRITE = ToolCall(id="call_1", name="create_file", input={"path": "index.html", "content": _PAGE})
_WEATHER = ToolCall(id="call_2", name="weather", input={"city": "Oslo"})
_EDIT = ToolCall(
    id="call_3",
    name="edit_file",
    input={"path": "index.html", "old_text": "It is cold here.", "new_text": "3 °C and snow: take a warm coat."},
)
_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="


@heald.tool(effect="network")
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C, snow"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pause", type=float, default=0.02, help="seconds between two pieces (0.02)")


def run(options: argparse.Namespace) -> int:
    asyncio.run(_demo(options.pause))
    return 0


async def _demo(pause: float) -> None:
    for wire in WIRES:
        replies = [
            _paced(wire_stream(wire, thinking="A page about Oslo, and its weather. ", calls=[_WRITE, _WEATHER]), pause),
            _paced(wire_stream(wire, calls=[_EDIT]), pause),
            _paced(wire_stream(wire, text="The page is there, with today's weather."), pause),
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
    async with heald.Agent(model, tools=["files", weather]) as agent:
        guard = OutputGuard(_print_event, agent.cancel)
        agent.subscribe(guard)
        result = await agent.run(["Make a page like this one.", Image(data=_DOT)])
        guard.check()
        print(f"  {agent.last_seq} events, {result.turns} turns, {result.duration_ms:.0f} ms")


def _print_event(event: Event) -> None:
    match event.data:
        case ThinkingContentBlockStart():
            print("  ", end="")
        case ThinkingDelta(text=text):
            print(Colours(sys.stdout)(text, DIM), end="", flush=True)
        case ToolUseContentBlockStart(name=name):
            print(f"\n  → {name} ", end="", flush=True)
        case FilePreview(text=text):
            print(text.replace("\n", "\n    "), end="", flush=True)
        case FileChanged(path=path, revision=revision):
            print(f"\n  ✎ {path}, revision {revision}", end="", flush=True)
        case ToolCompleted(name=name, summary=summary):
            print(f"\n  ← {name}: {summary}", end="", flush=True)
        case TextContentBlockStart():
            print("\n  ", end="")
        case TextDelta(text=text):
            print(text, end="", flush=True)
        case ExchangeResponse():
            print(flush=True)
        case _:
            pass
