"""A session: an agent whose every event is stored before anybody sees it, and which goes on after a restart."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, cast

import msgspec

from weft.agent.agent import Agent, Prompt
from weft.agent.exchange import Exchange
from weft.agent.models import ModelLike
from weft.agent.result import AgentResult
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError, WeftError
from weft.core.events import FileChanged, SessionResumed, SessionRewound, UserMessage
from weft.core.messages import Message
from weft.sessions.again import run_again
from weft.sessions.allowed import Allowed, with_allowed
from weft.sessions.changes import MAX_COMPARED, Changes
from weft.sessions.delegates import Delegates, close_delegates, delegates_of
from weft.sessions.errors import Fenced, StoreError
from weft.sessions.faults import reach
from weft.sessions.lease import SECONDS, Lease, let_go, this_holder
from weft.sessions.past import Past, PastExchange, contents_of, read_past
from weft.sessions.recorder import Recorder
from weft.sessions.recovery import ENDED
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo, Store
from weft.tools.permissions import Permissions
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
        options = settings.options() | options
        permissions = options.pop("permissions")
        if not isinstance(permissions, Permissions):
            permissions = Permissions(permissions)
        super().__init__(
            model,
            session=lease.session,
            history=past.state.messages,
            permissions=with_allowed(permissions, settings.always),
            middleware=[self._stored_first, *middleware],
            **options,
        )
        self.runtime.shared = [self._stored_first]
        self._store = store
        self._lease = lease
        self._kept = settings
        self._resumed: list[Exchange] = []
        self._ending: asyncio.Task[None] | None = None
        self._left: list[Exchange] = []
        self._on_failure: list[Callable[[Exception], object]] = []
        self._recorder = Recorder(
            store,
            lease,
            self.bus,
            titled=bool(info.title),
            attach=self._contents,
            on_failure=self._failed,
            delegates=Delegates(store, info),
        )
        self.bus.go_through(self._recorder, seq=past.seq, epoch=lease.epoch, now=past.time)
        self.changes = Changes(self, store, past)
        """What became of the files, for a person to accept or to take back."""
        self.subscribe(Allowed(self.session, self.runtime, self._keep_allowed))
        self._renewing = asyncio.get_running_loop().create_task(self._renew(), name=f"weft-lease-{lease.session}")

    @classmethod
    async def open(
        cls, store: Store, session: str, *, force: bool = False, broken_by: Exception | None = None, **options: Any
    ) -> "Session":
        """Open a session to go on with it. What an earlier process left open is closed first, and the log says so;
        requests that waited then are taken up.

        Options are those of `weft.Agent`; what is not given is as the session's settings say. `force` takes the
        session from a writer that is alive; that one can write no more. `broken_by` is the error that ended the last
        writer, where whoever opens knows it: what that one left open is closed with it as the reason.
        """
        lease = await store.acquire(session, this_holder(), force=force)
        reach("lease.taken")
        try:
            info = await store.info(session)
            past = await read_past(store, session, SessionSettings.of(info.settings))
            contents = await contents_of(store, session, past)
            await close_delegates(store, session)
            async for delegate in delegates_of(store, session):
                theirs = await read_past(store, delegate.id, SessionSettings())
                contents |= await contents_of(store, delegate.id, theirs)
                past.changes += theirs.changes
            past.changes.sort(key=lambda change: change.revision)  # each file's are in order then
            opened = cls(store, lease, info, past, **options)
        except BaseException:
            try:
                await store.release(lease)
            except StoreError:
                let_go(lease.holder)
            raise
        try:
            _restore_files(opened.workspace, past, contents)
            await opened._take_up(past, broken_by.happened if isinstance(broken_by, StoreError) else ENDED)
        except BaseException:
            with suppress(StoreError):
                await opened.close()
            raise
        return opened

    async def _take_up(self, past: Past, why: str) -> None:
        """Go on from where the last writer was, dead or not."""
        if past.unfinished.exchange is not None or past.waiting:
            await self._close_what_is_open(past, why)
        for request, earlier in past.requests.items():
            if earlier.response is not None:
                self.engine.remember(request, PastExchange(self.engine, earlier, earlier.response))
        for queued in past.waiting:
            if queued.message is not None:
                exchange = self.engine.submit(
                    queued.message,
                    shape=self._shape,
                    cause=queued.cause,
                    client_request_id=queued.client_request_id,
                    exchange_id=queued.request,
                )
                self._resumed.append(exchange)

    async def _close_what_is_open(self, past: Past, why: str) -> None:
        reach("recovery.before")
        following = self.subscribe(lambda event: past.feed(event) if event.session == self.session else None)
        self.bus.publish_apart(SessionResumed(past.seq, [queued.request for queued in past.waiting]))
        if past.unfinished.exchange is not None:
            self.bus.exchange = past.unfinished.exchange
            if past.unfinished.repeatable:
                self.bus.publish_all(list(past.unfinished.before_repeating()))
                await run_again(self.runtime, past.unfinished.repeatable, self.bus.publish)
                await self.flush()
            self.bus.publish_all(list(past.unfinished.closing(why)))
            self.bus.exchange = None
        await self.flush()
        following.close()
        self.engine.messages[:] = past.state.messages
        reach("recovery.after")

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

    async def suspend(self) -> None:
        """Close it, and leave what waits to whoever opens it next."""
        self._left = self.engine.set_aside()
        await self.close()

    async def _close(self) -> None:
        self._renewing.cancel()
        await asyncio.wait([self._renewing])
        await (self._ending if self._ending is not None else self.engine.close())
        for position, exchange in enumerate(self._left, 1):
            self.engine.say_queued(exchange, position)  # the last word of the log is that something waits
        try:
            await self._recorder.close()
        finally:
            for exchange in self._left:
                exchange.give_up(WeftError("The session was closed; the request waits there until it is opened again."))
            await self.bus.close()
            try:
                await self._store.release(self._lease)
            except StoreError:
                let_go(self._lease.holder)

    # --- the conversation --------------------------------------------------------------------------------------------

    @property
    def error(self) -> Exception | None:
        """Why nothing can be stored any more; opening the session again may mend it."""
        return self._recorder.error

    def on_failure(self, then: Callable[[Exception], object]) -> None:
        """Call back when nothing can be stored any more: from then on nobody hears anything of this session."""
        self._on_failure.append(then)

    @property
    def epoch(self) -> int:
        return self._lease.epoch

    @property
    def stored(self) -> SessionSettings:
        """The settings that are kept with the session."""
        return self._kept

    @property
    def resumed(self) -> list[Exchange]:
        """Requests that waited when the last writer died, and were taken up by this one."""
        return list(self._resumed)

    async def flush(self) -> None:
        """Wait until all that happened so far is stored."""
        await self._recorder.flush()

    async def accepted(self, exchange: Exchange) -> None:
        """Wait until a request that was just sent is stored: from then on it is answered, whatever happens to the
        process, or its log says why not. Raises why it cannot be stored."""
        await asyncio.sleep(0)  # one that need not wait is published by the first step of its own task
        await self._recorder.flush()

    async def configure(self, **changes: Any) -> None:
        """Keep other settings. They are in force when the session is next opened."""
        self._kept = SessionSettings.of(msgspec.structs.replace(self._kept, **changes).data())
        await self._store.configure(self.session, self._kept.data())

    def tell(self, message: Message) -> None:
        """Let the model know something at its next turn. Nothing is asked of it."""
        current = self.engine.current
        if current is None or not current.steer(message):
            self.bus.publish_apart(UserMessage(message))
            self.engine.messages.append(message)

    async def forget_allowed(self) -> int:
        """Take back what was allowed with `always`: from now on each such call is asked for again. How many it were."""
        forgotten = {*self._kept.always, *self.runtime.permissions.always}
        self.runtime.permissions.always.clear()
        await self.configure(always=[])
        return len(forgotten)

    async def reset(self) -> None:
        """Begin the conversation anew. Log and files stay."""
        await self.rewind(0)

    async def rewind(self, seq: int) -> None:
        """Go on from an earlier event as if nothing had come after it. Log and files stay as they are."""
        self._check_idle()
        await self._recorder.flush()
        if not 0 <= seq <= self.bus.seq:
            raise WeftError(f"The log has the events 1 to {self.bus.seq}; there is no {seq} to rewind to.")
        past = await read_past(self._store, self.session, self._kept, upto=seq)
        if past.state.exchange is not None:
            raise WeftError(f"The event {seq} is inside an exchange; rewind to its end or to before its request.")
        self._check_idle()  # one may have begun meanwhile
        self.bus.publish_apart(SessionRewound(seq))
        self.engine.messages[:] = past.state.messages
        await self._recorder.flush()

    def _check_idle(self) -> None:
        if self.engine.current is not None:
            raise WeftError("An exchange runs; cancel it or wait for its end before you rewind.")

    # --- what is stored ----------------------------------------------------------------------------------------------

    async def _stored_first(self, invocation: Invocation, run: Next) -> Any:
        """A call's start is in the store before its body runs."""
        await self._recorder.flush()
        reach("tool.before")
        value = await run(invocation)
        reach("tool.after")
        return value

    def _contents(self, event: Event) -> Mapping[str, bytes]:
        """What is nowhere else goes with the event that tells of it: what a file was before the session touched it,
        and whatever a project's file holds."""
        change = event.data
        if not isinstance(change, FileChanged):
            return {}
        kept = {change.found: self._content(change.path, 0, MAX_COMPARED)} if change.found is not None else {}
        if self.workspace.is_project and change.hash is not None:
            kept[change.hash] = self._content(change.path, change.revision)
        return {digest: content for digest, content in kept.items() if content is not None}

    def _content(self, path: str, revision: int, limit: int | None = None) -> bytes | None:
        try:
            content = self.workspace.content_at(path, revision)
        except PathFault:
            return None
        return content if content is None or limit is None or len(content) <= limit else None

    async def _keep_allowed(self, digest: str) -> None:
        if digest not in self._kept.always:
            await self.configure(always=[*self._kept.always, digest])

    def _failed(self, error: Exception) -> None:
        self.engine.give_up(error)
        self._ending = asyncio.get_running_loop().create_task(self.engine.close())
        for then in self._on_failure:
            then(error)

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
    project = workspace if isinstance(workspace, MemoryWorkspace) else None
    if project is not None:
        for path, digest in past.settings.files.items():
            if digest in contents:
                project.put(path, contents[digest])
    if not isinstance(workspace, RevisedFiles) or not past.changes:
        return
    fields = Change.__struct_fields__
    changes = [Change(**{name: getattr(change, name) for name in fields}) for change in past.changes]
    workspace.restore(changes, contents)
    if project is None:
        return
    for path, last in {change.path: change for change in changes}.items():
        if last.hash is None or last.hash in contents:
            project.put(path, contents[last.hash] if last.hash is not None else None)
