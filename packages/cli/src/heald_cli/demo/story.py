"""The story of the demo: the local converter turns a picture into a page, then an agent asks before it changes it.

The converter, the loop, the tools, the approval and the files are real. The language model of the second part is
scripted: it answers through a real socket, in the format of a provider's API.
"""

import re
import sys
from base64 import b64encode
from pathlib import Path

import heald
from heald.commands.terminal import BOLD, DIM, GREEN, Colours, has_colours
from heald.core.distribution import install_advice
from heald.core.envelope import Event
from heald.core.events import (
    ApprovalRequested,
    FileChanged,
    TextDelta,
    ThinkingDelta,
    ToolCompleted,
    ToolExecuting,
    ToolFailed,
)
from heald.core.messages import Image, ToolCall
from heald.providers.families import offered_models
from heald.providers.model import Model
from heald.testing.server import Pause, Reply, ScriptedServer, Step
from heald.testing.streams import wire_stream
from heald.tools.approvals import Approval
from heald_cli.approval_view import show_approval
from heald_cli.demo.terminal_picture import demo_picture, draw_thumbnail
from heald_cli.output_guard import OutputGuard
from heald_cli.questions import ask_approval

_CONVERTER = "local/vision"
_WIRE = "messages"
_PAGE = """<!doctype html>
<title>Corner Oven</title>
<h1>Fresh bread from five in the morning</h1>
<p>Rye, spelt and sourdough, baked behind the counter. Come early.</p>
<button>Reserve a loaf</button>
"""
_HEADING = "Fresh bread until six in the evening"
_OUTLINE = re.compile(r"<(h[1-6]|p|a|button)\b[^>]*>\s*([^<>]*[^<>\s])\s*<")


class DemoStory:
    """Tells the story in a folder, with `pause` seconds between two pieces of a scripted answer."""

    def __init__(self, folder: Path, pause: float) -> None:
        self._folder = folder
        self._pause = pause
        self._paint = Colours(sys.stdout)

    async def play(self) -> None:
        self._print_heading("1. A picture becomes a page")
        if has_colours(sys.stdout):
            print(*draw_thumbnail(), sep="\n")
        if any(model.name == _CONVERTER for model in offered_models()):
            print(f"Model: {_CONVERTER}, a converter on this machine. No language model, no key, no network.")
            await self._convert()
        else:
            print(
                f"The local converter is not installed ({install_advice('local')}); a scripted model writes the page."
            )
            await self._converse("Make a page like this picture.", self._page_replies())
        page = self._folder / "index.html"
        for tag, text in _OUTLINE.findall(page.read_text("utf-8")):
            print(f"  {self._paint(f'{tag:7}', DIM)}{text}")
        self._print_heading("2. An agent asks before it changes the page")
        print("Model: a scripted one, behind a real socket. The loop, the tools and the approval are real.")
        await self._converse("The shop now opens in the evening. Change the heading.", self._change_replies(page))
        print(f"\nThe page: {page}")
        print("Next: `heald doctor`, `heald build PICTURE`, `heald chat`, `heald serve`.")

    async def _convert(self) -> None:
        picture = Image(data=b64encode(demo_picture()).decode())
        async with heald.Agent(_CONVERTER, tools=["files"], workspace=self._folder, permissions="auto") as agent:
            await self._run(agent, ["Make a page like this picture.", picture])

    async def _converse(self, prompt: str, replies: list[Reply]) -> None:
        print(f"{self._paint('you', BOLD)}  {prompt}")
        async with ScriptedServer(replies) as server:
            model = Model("demo-model", wire=_WIRE, base_url=f"{server.url}/v1", api_key="demo")
            agent = heald.Agent(
                model, tools=["files"], workspace=self._folder, permissions="ask", on_approval=self._decide
            )
            async with agent:
                await self._run(agent, [prompt])

    async def _run(self, agent: heald.Agent, prompt: list[str | Image]) -> None:
        guard = OutputGuard(self._print_event, agent.cancel)
        agent.subscribe(guard)
        result = await agent.run(prompt)
        guard.check()
        line = f"{agent.last_seq} events, {result.turns} turns, {result.duration_ms / 1000:.1f} s"
        print(f"\n  {self._paint(line, DIM)}")

    async def _decide(self, request: ApprovalRequested) -> Approval:
        if sys.stdin.isatty() and sys.stdout.isatty():
            return await ask_approval(request, "demo")
        print("", *show_approval(request, self._paint, 80).lines, sep="\n")
        print("  Approved: there is no terminal to ask.")
        return Approval(True)

    def _page_replies(self) -> list[Reply]:
        call = ToolCall(id="call_1", name="create_file", input={"path": "index.html", "content": _PAGE})
        return [self._reply(calls=[call]), self._reply(text="The page is written.")]

    def _change_replies(self, page: Path) -> list[Reply]:
        """Read the page, change its first heading, and report."""
        elements = list(_OUTLINE.finditer(page.read_text("utf-8")))
        heading = next((element for element in elements if element[1].startswith("h")), elements[0])
        changed = heading[0].replace(heading[2], _HEADING)
        read = ToolCall(id="call_2", name="read_file", input={"path": "index.html"})
        edit = ToolCall(
            id="call_3",
            name="edit_file",
            input={"path": "index.html", "old_text": heading[0], "new_text": changed},
        )
        return [
            self._reply(text="I read the page first.", calls=[read]),
            self._reply(calls=[edit]),
            self._reply(text="That is all I was asked to change."),
        ]

    def _reply(self, *, text: str = "", calls: list[ToolCall] | None = None) -> Reply:
        steps: list[Step] = []
        for piece in wire_stream(_WIRE, text=text, calls=calls or []):
            steps += [piece, Pause(self._pause)]
        return Reply(steps)

    def _print_heading(self, text: str) -> None:
        print(f"\n{self._paint(text, BOLD)}\n")

    def _print_event(self, event: Event) -> None:
        match event.data:
            case ThinkingDelta(text=text):
                print(self._paint(text, DIM), end="", flush=True)
            case TextDelta(text=text):
                print(text, end="", flush=True)
            case ToolExecuting(name=name, summary=summary):
                print(f"\n  → {name} {summary}", end="", flush=True)
            case FileChanged(path=path, revision=revision):
                print(f"\n  {self._paint('✎', GREEN)} {path}, revision {revision}", end="", flush=True)
            case ToolCompleted(name=name, summary=summary) | ToolFailed(name=name, summary=summary):
                print(f"\n  ← {name}: {summary}", flush=True)
            case _:
                pass
