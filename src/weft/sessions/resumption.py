"""Resumes a session that another process has written: its files, its open exchange and its queued requests. Its
files can also be read without the right to write it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from weft.agent.agent import Agent
from weft.agent.exchange import Exchange
from weft.agent.result import SchemaShape
from weft.core.envelope import Event
from weft.core.events import SessionResumed
from weft.core.json import JsonObject
from weft.sessions.crash_points import reach
from weft.sessions.history import FinishedExchange, SessionHistory, read_contents, read_history
from weft.sessions.recovery import may_rerun, rerun_calls
from weft.sessions.settings import SessionSettings, apply_request_settings
from weft.sessions.store import SessionInfo, Store, StoreError, iterate_delegates
from weft.tools.type_schema import TypeSchema
from weft.tools.workspace.base import Change, Workspace
from weft.tools.workspace.disk import DiskWorkspace
from weft.tools.workspace.memory import MemoryWorkspace
from weft.tools.workspace.revisions import RevisionedWorkspace

AfterCrash = Literal["continue", "close"]
"""Whether an exchange that a crashed process left open is continued, or closed as failed."""


class SessionResumption:
    """Resumes one session from its history. `flush` waits until its events are stored."""

    def __init__(self, agent: Agent, history: SessionHistory, flush: Callable[[], Awaitable[None]]) -> None:
        self.waiting_events: Sequence[Event] = ()
        """The events of the approvals, questions and client calls that still wait."""
        self._agent = agent
        self._history = history
        self._flush = flush

    async def run(self, broken_by: Exception | None, after_crash: AfterCrash, node: str) -> list[Exchange]:
        """Close or continue the open exchange and start the queued requests. Returns the exchanges that run.

        They are started at the end and nothing is awaited after that, so the caller can subscribe to all their events.
        """
        history, engine = self._history, self._agent.engine
        unfinished = history.unfinished
        continues = after_crash == "continue" and unfinished.may_continue
        if unfinished.exchange is not None or history.waiting:
            resumed = SessionResumed(
                history.seq,
                [queued.request for queued in history.waiting],
                unfinished.exchange if continues else None,
                crashed=broken_by is None and not unfinished.is_released,
                node=node,
            )
            why = broken_by.happened if isinstance(broken_by, StoreError) else unfinished.describe_end()
            await self._record(resumed, why)
        for request, earlier in history.requests.items():
            if earlier.response is not None:
                engine.register_request(request, FinishedExchange(engine, earlier, earlier.response))
        started = [self._continue()] if continues else []
        for queued in history.waiting:
            if queued.message is not None:
                exchange = engine.submit(
                    queued.message,
                    shape=self._shape(queued.output_schema),
                    cause=queued.cause,
                    client_request_id=queued.client_request_id,
                    exchange_id=queued.request,
                    is_queued=True,
                )
                started.append(exchange)
        return started

    async def _record(self, resumed: SessionResumed, why: str) -> None:
        """Record that this writer resumes the session. Close the open exchange, or prepare its continuation."""
        agent, history = self._agent, self._history
        reach("recovery.before")
        following = agent.subscribe(lambda event: history.feed(event) if event.session == agent.session else None)
        agent.bus.publish_outside_exchange(resumed)
        if resumed.continues is not None:
            agent.bus.exchange = resumed.continues
            may_run = partial(may_rerun, agent.runtime)
            agent.bus.publish_all(list(history.unfinished.resuming_payloads(why, may_run)))
        elif history.unfinished.exchange is not None:
            await self._close_exchange(history.unfinished.exchange, why)
        await self._flush()
        following.close()
        agent.engine.messages[:] = history.state.context
        reach("recovery.after")

    async def _close_exchange(self, exchange: str, why: str) -> None:
        bus, unfinished = self._agent.bus, self._history.unfinished
        bus.exchange = exchange
        if unfinished.repeatable:
            bus.publish_all(list(unfinished.preview_resets()))
            await rerun_calls(self._agent.runtime, unfinished.repeatable, bus.publish)
            await self._flush()
        bus.publish_all(list(unfinished.closing_payloads(why)))
        bus.exchange = None

    def _continue(self) -> Exchange:
        """Start the exchange that is open in the log."""
        unfinished, messages = self._history.unfinished, self._agent.engine.messages
        found = unfinished.open_exchange()
        first = len(messages)
        if found.is_begun:
            first = max((at for at, message in enumerate(messages) if message == found.request.message), default=0)
        shape = self._shape(found.request.output_schema)
        if self._history.settings.request:
            apply_request_settings(self._agent, self._history.settings.request)
        exchange = self._agent.engine.resume(found, first_message=first, shape=shape)
        for request, earlier in self._history.requests.items():
            if earlier.exchange == found.id:
                self._agent.engine.register_request(request, exchange)
        self.waiting_events = unfinished.waiting_events
        for event in self.waiting_events:
            self._agent.bus.dispatch(event)  # the callbacks of the application have to see what still waits
        return exchange

    def _shape(self, schema: JsonObject | None) -> TypeSchema | None:
        """Return the type of the output that a recorded request asks for."""
        own = self._agent.output_shape
        return own if schema is None or (own is not None and own.schema == schema) else SchemaShape(schema)


def restore_files(workspace: Workspace, history: SessionHistory, contents: Mapping[str, bytes]) -> None:
    """Restore the revisions of a workspace, and the files of a project."""
    project = workspace if isinstance(workspace, MemoryWorkspace) else None
    if project is not None:
        for path, digest in history.settings.files.items():
            if digest in contents:
                project.put(path, contents[digest])
    if not isinstance(workspace, RevisionedWorkspace) or not history.changes:
        return
    fields = Change.__struct_fields__
    changes = [Change(**{name: getattr(change, name) for name in fields}) for change in history.changes]
    workspace.restore(changes, contents)
    if project is None:
        return
    for path, last in {change.path: change for change in changes}.items():
        if last.hash is None or last.hash in contents:
            project.put(path, contents[last.hash] if last.hash is not None else None)


async def add_delegated_changes(store: Store, session: str, history: SessionHistory) -> dict[str, bytes]:
    """Add the changes of files that delegates made to a history. Returns all stored contents, by hash."""
    contents = await read_contents(store, session, history)
    async for delegate in iterate_delegates(store, session):
        theirs = await read_history(store, delegate.id, SessionSettings())
        contents |= await read_contents(store, delegate.id, theirs)
        history.changes += theirs.changes
    history.changes.sort(key=lambda change: change.revision)  # puts the changes of each file in order
    return contents


async def open_stored_files(store: Store, info: SessionInfo, folder: str | None = None) -> Workspace:
    """Return the files of a session as they are now, with their revisions. `folder` is the path of the folder that it
    works in; None for a project that is stored with the session. The caller closes the workspace."""
    history = await read_history(store, info.id, SessionSettings.of(info.settings))
    contents = await add_delegated_changes(store, info.id, history)
    workspace = MemoryWorkspace() if folder is None else DiskWorkspace(folder)
    restore_files(workspace, history, contents)
    return workspace
