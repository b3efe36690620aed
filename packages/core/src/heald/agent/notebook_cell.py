"""Shows the answer of a stream in the cell of a notebook, as it grows.

IPython calls it through `AgentStream._ipython_display_`, so IPython is there whenever this module is loaded.
"""

import asyncio
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from heald.core.errors import HealdError

if TYPE_CHECKING:
    from heald.agent.agent_stream import AgentStream

_SECONDS = 0.1
"""The shortest time between two updates of a cell."""
_followers: set[asyncio.Task[None]] = set()


class _Cell(Protocol):
    """An output of a cell that can be replaced: `DisplayHandle` of IPython."""

    def update(self, content: object) -> None: ...


def show_stream(stream: "AgentStream[Any]") -> None:
    """Show the answer as it grows, while the notebook's event loop runs. Without one, show what the stream is."""
    ipython: Any = import_module("IPython.display")
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        ipython.display(ipython.Pretty(repr(stream)))
        return
    cell: _Cell = ipython.display(ipython.Markdown("…"), display_id=True)
    task = loop.create_task(_follow(stream, cell, ipython.Markdown))
    _followers.add(task)  # the loop itself keeps only a weak reference
    task.add_done_callback(_followers.discard)


async def _follow(stream: "AgentStream[Any]", cell: _Cell, markdown: Any) -> None:
    text, updated = "", 0.0
    try:
        async for event in stream:
            if event.type == "text_delta":
                text += event.data.text
            elif event.type == "message_start" or event.type == "message_discarded":
                text = ""
            elif event.type == "tool_executing":
                text += f"\n\n`{event.data.name}` {event.data.summary}\n\n"
            else:
                continue
            if text and monotonic() - updated > _SECONDS:
                cell.update(markdown(text))
                updated = monotonic()
        cell.update(await stream.result())
    except HealdError as error:
        cell.update(markdown(f"{text}\n\n**{type(error).__name__}**: {error}"))
