"""Publishes output while a command runs."""

import asyncio

from heald.tools.context import ToolContext
from heald.tools.shell.command_output import Channel

_TOGETHER = 0.02
"""Seconds that output is buffered before it is published."""


class LiveOutput:
    """Publishes output while a command runs and merges small pieces."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._waiting: list[tuple[str, Channel]] = []
        self._timer: asyncio.TimerHandle | None = None

    def show(self, text: str, channel: Channel) -> None:
        self._waiting.append((text, channel))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_TOGETHER, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, []
        merged: list[str] = []
        for index, (text, channel) in enumerate(waiting):
            merged.append(text)
            if index + 1 == len(waiting) or waiting[index + 1][1] != channel:
                self._ctx.output("".join(merged), channel)
                merged = []
