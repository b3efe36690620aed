"""Stores a run of `heald run` as a conversation of its folder, which `--resume` continues.

It is stored at the end of the run: the answer does not wait for a database. A run that is killed is not stored.
"""

import argparse
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from heald.agent.agent import Agent
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.events import ExchangeRequest
from heald_cli.own_tools import builtin_names


class RunLog:
    """The events of one run."""

    def __init__(self, agent: Agent[Any], options: argparse.Namespace) -> None:
        self._agent = agent
        self._options = options
        self._events: list[Event] = []
        agent.subscribe(self._collect)

    def _collect(self, event: Event) -> None:
        if event.session == self._agent.session:  # not those of sub-agents
            self._events.append(event)

    async def store(self) -> str:
        """Store the conversation. Returns why that failed; nothing if it is stored or has nothing to continue."""
        request = next((event.data for event in self._events if isinstance(event.data, ExchangeRequest)), None)
        if request is None or not self._can_continue():
            return ""
        # A subscriber that publishes while it handles an event, such as by a cancellation, shows the later one first.
        self._events.sort(key=lambda event: event.seq)
        from heald.commands.stores import open_sessions
        from heald.sessions.session_copies import SessionCopies
        from heald.sessions.session_info import SessionInfo
        from heald.sessions.titles import make_title
        from heald_cli.session_kind import KIND

        info = SessionInfo(
            id=self._agent.session,
            owner="",
            kind=KIND,
            title=make_title(request.message),
            created=self._events[0].time,
            settings=self._settings(),
        )
        try:
            async with open_sessions() as sessions:
                await SessionCopies(sessions.store).create(info, self._items())
        except (HealdError, OSError) as error:
            return f"The conversation is not stored, so --resume cannot continue it: {error}"
        return ""

    def _can_continue(self) -> bool:
        """Whether the run can be continued: tools that had no folder would get the present one."""
        options = self._options
        return bool(options.workspace) or not (options.agent or builtin_names(options.tools or ["none"]))

    def _settings(self) -> dict[str, Any]:
        """Return the settings with which the conversation goes on: those of the run. One that had no folder belongs to
        the present one, and its model is not told about it."""
        from heald_cli.new_session_settings import new_session_settings

        options = self._options
        names = options.tools or ["all" if options.workspace else "none"]
        settings = new_session_settings(options, options.model or "", names, Path(options.workspace or "."))
        return msgspec.structs.replace(
            settings,
            agent=options.agent or "",
            max_output_tokens=options.max_output,
            sees_folder=bool(options.workspace),
        ).data()

    async def _items(self) -> AsyncIterator[object]:
        for event in self._events:
            yield event
