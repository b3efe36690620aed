"""A session: an agent whose every event is stored before anybody sees it, and which goes on after a restart."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, cast

import msgspec

from weft.agent.agent import Agent, Prompt
from weft.agent.exchange import Exchange
from weft.agent.models import ModelLike
from weft.agent.result import AgentResult
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import FileChanged
from weft.sessions.errors import Fenced, StoreError
from weft.sessions.faults import reach
from weft.sessions.lease import SECONDS, Lease, this_holder
from weft.sessions.past import Past, PastExchange, contents_of, read_past, recover
from weft.sessions.recorder import Recorder
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.tools.runtime import Invocation, Middleware, Next
from weft.tools.workspace.base import Change, PathFault, Workspace
from weft.tools.workspace.memory import MemoryWorkspace
from weft.tools.workspace.revised import RevisedFiles


class Session(Agent):
    """One conversation in a store. It is opened with `Session.open`, by one writer at a time, and closed with `close`.

    If the store fails, what runs is ended and all that wait get the store's error; what was seen is stored. Opening it
    again goes on from there.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        info: SessionInfo,
        past: Past,
        *,
        model: ModelLike | None = None,
        middleware: Sequence[Middleware] = (),
        **options: Any,
    ) -> None:
        settings = past.settings
        model = model or settings.model
        if not model:
            raise ConfigurationError("The session names no model; give one when it is created or opened.")
        super().__init__(
            model,
            session=lease.session,
            history=past.state.messages,
            middleware=[self._stored_first, *middleware],
            **settings.options() | options,
        )
        self._store = store
        self._lease = lease
        self._kept = settings
        self._ending: asyncio.Task[None] | None = None
        self._recorder = Recorder(
            store, lease, self.bus, titled=bool(info.title), attach=self._contents, on_failure=self._failed
        )
        self.bus.go_through(self._recorder, seq=past.seq, epoch=lease.epoch, now=past.time)
        for request, earlier in past.requests.items():
            if earlier.response is not None:
                self.engine.remember(request, PastExchange(self.engine, earlier, earlier.response))
        self._renewing = asyncio.get_running_loop().create_task(self._renew(), name=f"weft-lease-{lease.session}")

    @classmethod
    async def open(cls, store: Store, session: str, *, force: bool = False, **options: Any) -> "Session":
        """Open a session to go on with it. What an earlier process left open is closed first, and the log says so.

        Options are those of `weft.Agent`; what is not given is as the session's settings say. `force` takes the
        session from a writer that is alive; that one can write no more.
        """
        lease = await store.acquire(session, this_holder(), force=force)
        reach("lease.taken")
        try:
            info = await store.info(session)
            past = await read_past(store, session, SessionSettings.of(info.settings))
            await recover(store, lease, past)
            contents = await contents_of(store, session, past)
            opened = cls(store, lease, info, past, **options)
        except BaseException:
            with suppress(StoreError):
                await store.release(lease)
            raise
        _restore_files(opened.workspace, past, contents)
        return opened

    # --- as an agent -------------------------------------------------------------------------------------------------

    def send(self, prompt: Prompt, **options: Any) -> Exchange:
        if self._recorder.error is not None:
            raise self._recorder.error
        return super().send(prompt, **options)

    async def stream(self, prompt: Prompt, *, output: Any = None) -> AsyncIterator[Event]:
        """Ask, and hear each event once it is stored. Leaving the loop cancels."""
        events = cast("AsyncGenerator[Event]", super().stream(prompt, output=output))
        async with aclosing(events):
            async for event in events:
                yield event
        if self._recorder.error is not None:
            raise self._recorder.error

    def run_sync(self, prompt: Prompt, *, output: Any = None) -> AgentResult:
        raise ConfigurationError("A session lives in the event loop that opened it; await its `run` there.")

    async def _close(self) -> None:
        self._renewing.cancel()
        await asyncio.wait([self._renewing])
        await (self._ending if self._ending is not None else self.engine.close())
        try:
            await self._recorder.close()
        finally:
            await self.bus.close()
            with suppress(StoreError):
                await self._store.release(self._lease)

    # --- the conversation --------------------------------------------------------------------------------------------

    @property
    def epoch(self) -> int:
        return self._lease.epoch

    @property
    def stored(self) -> SessionSettings:
        """The settings that are kept with the session."""
        return self._kept

    async def flush(self) -> None:
        """Wait until all that happened so far is stored."""
        await self._recorder.flush()

    async def configure(self, **changes: Any) -> None:
        """Keep other settings. They are in force when the session is next opened."""
        self._kept = SessionSettings.of(msgspec.structs.replace(self._kept, **changes).data())
        await self._store.configure(self.session, self._kept.data())

    async def reset(self) -> None:
        """Begin the conversation anew. Log and files stay."""
        await self.rewind(0)

    async def rewind(self, seq: int) -> None:
        """Go on from an earlier event as if nothing had come after it. Log and files stay as they are."""
        if self.engine.current is not None:
            raise WeftError("An exchange runs; cancel it or wait for its end before you rewind.")
        await self._recorder.flush()
        if not 0 <= seq <= self.bus.seq:
            raise WeftError(f"The log has the events 1 to {self.bus.seq}; there is no {seq} to rewind to.")
        kept = msgspec.structs.replace(self._kept, dropped=[*self._kept.dropped, (seq, self.bus.seq)])
        past = await read_past(self._store, self.session, kept)
        if past.state.exchange is not None:
            raise WeftError(f"The event {seq} is inside an exchange; rewind to its end or to before its request.")
        await self._store.configure(self.session, kept.data())
        self._kept = kept
        self.engine.session.messages[:] = past.state.messages

    # --- what is stored ----------------------------------------------------------------------------------------------

    async def _stored_first(self, invocation: Invocation, run: Next) -> Any:
        """A call's start is in the store before its body runs."""
        await self._recorder.flush()
        reach("tool.before")
        value = await run(invocation)
        reach("tool.after")
        return value

    def _contents(self, event: Event) -> Mapping[str, bytes]:
        """The content of a project's file goes with the event that tells of it: it is nowhere else."""
        change = event.data
        if not self.workspace.is_project or not isinstance(change, FileChanged) or change.hash is None:
            return {}
        try:
            content = self.workspace.content_at(change.path, change.revision)
        except PathFault:
            return {}
        return {change.hash: content} if content is not None else {}

    def _failed(self, error: Exception) -> None:
        self._ending = asyncio.get_running_loop().create_task(self.engine.close())

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(SECONDS / 3)
            try:
                await self._store.renew(self._lease)
            except Fenced as error:
                self._recorder.fail(error)
                return
            except StoreError:
                continue  # the next append will say what is wrong


def _restore_files(workspace: Workspace, past: Past, contents: Mapping[str, bytes]) -> None:
    """Revisions go on where they were; a project has its files again."""
    if not isinstance(workspace, RevisedFiles) or not past.changes:
        return
    fields = Change.__struct_fields__
    changes = [Change(**{name: getattr(change, name) for name in fields}) for change in past.changes]
    workspace.restore(changes, contents)
    if not isinstance(workspace, MemoryWorkspace):
        return
    for path, last in {change.path: change for change in changes}.items():
        if last.hash is None or last.hash in contents:
            workspace.put(path, contents[last.hash] if last.hash is not None else None)
