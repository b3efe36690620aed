"""Runs a file tool as the runtime would: arguments converted, events collected, faults as results."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heald.core.events import FileChanged
from heald.core.messages import Image, ToolCall
from heald.core.payload import Payload
from heald.tools.context import ToolContext
from heald.tools.definitions import CallPreview, Tool
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.wires.partial_json import PartialJson


@dataclass(frozen=True)
class Outcome:
    text: str
    kind: str = ""
    """Of the fault, if there was one."""
    is_error: bool = False
    summary: str = ""
    truncated: bool = False
    images: Sequence[Image] = ()
    changes: Sequence[FileChanged] = ()

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


async def _no_answer(call: ToolCall, text: str, suggestions: Sequence[str]) -> str:
    raise AssertionError("a file tool asks nothing")


class Bench:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def put(self, path: str, content: str | bytes) -> None:
        """A file from outside, as if it had always been there."""
        if isinstance(self.workspace, MemoryWorkspace):
            self.workspace.put(path, content)
            return
        place = Path(self.workspace.root, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def content(self, path: str) -> bytes | None:
        """A file as it is, without the session noticing."""
        if isinstance(self.workspace, MemoryWorkspace):
            text = self.workspace.files().get(path)
            return None if text is None else text.encode()
        place = Path(self.workspace.root, path)
        return place.read_bytes() if os.path.lexists(place) else None

    def text(self, path: str) -> str:
        content = self.content(path)
        assert content is not None
        return content.decode()

    async def run(self, tool: Tool, **arguments: Any) -> Outcome:
        events: list[Payload] = []
        call = ToolCall(id="call_1", name=tool.name, input=arguments)
        ctx = ToolContext(
            call,
            self.workspace,
            emit=events.append,
            keep=SessionObjects(),
            ask=_no_answer,
            loop=asyncio.get_running_loop(),
        )
        assert tool.convert is not None
        try:
            output = await tool.run(tool.convert(arguments), ctx)
        except ToolFault as fault:
            return Outcome(str(fault), fault.kind, True, changes=_changes(events))
        await asyncio.sleep(0)
        assert isinstance(output, ToolOutput)
        parts = [] if isinstance(output.content, str) else output.content
        texts = [part.text for part in parts if hasattr(part, "text")]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        return Outcome(
            output.content if isinstance(output.content, str) else "\n".join(map(str, texts)),  # pyright: ignore[reportUnknownArgumentType]
            is_error=output.is_error,
            summary=output.summary,
            truncated=output.truncated,
            images=[part for part in parts if isinstance(part, Image)],
            changes=_changes(events),
        )

    def run_sync(self, tool: Tool, **arguments: Any) -> Outcome:
        """For property tests."""
        return asyncio.run(self.run(tool, **arguments))


def _changes(events: list[Payload]) -> list[FileChanged]:
    return [event for event in events if isinstance(event, FileChanged)]


def previewed(preview: CallPreview, arguments: dict[str, Any], cuts: Sequence[int]) -> list[tuple[str, str]]:
    """What a preview shows while the arguments arrive in pieces."""
    text = json.dumps(arguments, ensure_ascii=False)
    parser = PartialJson()
    pieces: list[tuple[str, str]] = []
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    start = 0
    for end in ends:
        parser.feed(text[start:end])
        pieces += preview.grow(parser.grow())
        start = end
    pieces += preview.end()
    return pieces
