"""A session: an agent whose events are stored before they are delivered, and which continues after a restart."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any

import msgspec

from heald.agent.agent import Agent
from heald.agent.agent_stream import StreamedExchange
from heald.agent.background_loop import is_in_loop
from heald.agent.exchange import Exchange
from heald.agent.interface import ExchangeInterface
from heald.agent.model_chain import ModelLike
from heald.agent.request_message import Prompt, ReadPrompt
from heald.agent.result import AgentResult
from heald.core.context_events import ConversationCompacted, ConversationRestored
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import SessionReleased, SessionRewound, UserMessage
from heald.core.messages import Message, ToolDefinition, ToolResult
from heald.core.type_parameters import OutputT
from heald.sessions.acquired_log import AcquiredLog, acquire_log, release_lease
from heald.sessions.allowed_calls import AllowedCalls, add_allowed
from heald.sessions.changes import Changes
from heald.sessions.delegate_logs import DelegateLogs, close_delegates
from heald.sessions.delegate_usage import add_delegate_usage
from heald.sessions.event_contents import EventContents
from heald.sessions.fork_change import ForkChange
from heald.sessions.history import SessionHistory, read_history
from heald.sessions.leases import LEASE_SECONDS, Lease
from heald.sessions.recorder import EventRecorder, OnStored
from heald.sessions.resumption import DEFAULT_AFTER_CRASH, AfterCrash, SessionResumption
from heald.sessions.session_files import add_delegated_changes, open_initial_files, restore_files
from heald.sessions.session_fork import fork_session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store
from heald.sessions.store_errors import Fenced, HandedOver, StoreError
from heald.sessions.work import WorkTracker
from heald.tools.client_tools import ClientPrecedence, ClientToolLike, read_client_tools
from heald.tools.permissions import Permissions
from heald.tools.runtime import Invocation, Middleware, Next
from heald.tools.workspace.memory import MemoryWorkspace


class Session(Agent[OutputT]):
    """One conversation in a store. Open it with `Session.open`, one writer at a time, and close it with `close`.

    If the store fails, running exchanges end and waiting callers get the error of the store; every delivered event is
    stored. Opening the session again continues from there.
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        info: SessionInfo,
        history: SessionHistory,
        *,
        model: ModelLike | None = None,
        middleware: Sequence[Middleware] = (),
        **options: Any,
    ) -> None:
        self._open_options: dict[str, Any] = {**options, "model": model, "middleware": middleware}
        settings = history.settings
        model = model or settings.model
        if not model:
            raise ConfigurationError("The session names no model; give one when it is created or opened.")
        options = settings.options() | options
        permissions = options.pop("permissions", None)
        if permissions is None:
            permissions = Permissions(settings.mode(options.get("on_approval")), settings.rules)
        elif not isinstance(permissions, Permissions):
            permissions = Permissions(permissions)
        client_tools = read_client_tools(options.pop("client_tools", ()))
        super().__init__(  # pyrefly: ignore[bad-argument-type]
            model,
            session=lease.session,
            history=history.state.context,
            permissions=add_allowed(permissions, settings.always),
            middleware=[self._store_start_first, *middleware],
            **options,
        )
        self.share_middleware([self._store_start_first])
        self._runtime.approvals.can_be_answered = lambda: True  # by a client that connects later, or another process
        self.permissions.planning = settings.planning
        self._restore_agent(history)
        self._given_client_tools = client_tools
        self._runtime.set_client_tools(
            self._without_shadows([*client_tools, *settings.client_tools], settings.client_precedence),
            settings.client_precedence,
        )
        self._store = store
        self._restore_whole_results(history)
        self._runtime.text_calls.add(history.text_calls)
        self._lease = lease
        self._stored_settings = settings
        self._loop = asyncio.get_running_loop()
        self._owns_store = False
        self._resumed: list[ExchangeInterface[Any]] = []
        self.waiting_events: Sequence[Event] = ()
        """The events of the approvals, questions and client calls of an earlier process that still wait."""
        self._ending: asyncio.Task[None] | None = None
        self._suspended: list[Exchange] = []
        self._on_failure: list[Callable[[Exception], object]] = []
        self._recorder = EventRecorder(
            store,
            lease,
            self._bus,
            titled=bool(info.title),
            attach=EventContents(self.workspace, self._runtime.whole_results),
            on_failure=self._failed,
            delegates=DelegateLogs(store, info),
            work=WorkTracker(history.unfinished.exchange, [queued.request for queued in history.waiting]),
        )
        self._bus.attach_sink(self._recorder, seq=history.seq, epoch=lease.epoch, now=history.time)
        self.changes = Changes(self, store, history, self._runtime.locks)
        """The changes of files, for a person to accept or to revert."""
        self.subscribe(AllowedCalls(self.session, self._runtime, self._store_allowed))
        self._renewing = asyncio.get_running_loop().create_task(self._renew(), name=f"heald-lease-{lease.session}")

    @classmethod
    async def open(
        cls,
        store: Store,
        session: str,
        *,
        force: bool = False,
        broken_by: Exception | None = None,
        after_crash: AfterCrash = DEFAULT_AFTER_CRASH,
        node: str = "",
        deps: object = None,
        **options: Any,
    ) -> "Session[Any]":
        """Open a session to continue it. An exchange that an earlier process left open is continued, or closed first
        with `after_crash="close"`; queued requests are started.

        Options are those of `heald.Agent`; the session's settings are their defaults. `force` fences a living writer,
        which cannot write any more. `broken_by` is the error that ended the last writer, if it is known:
        the reason with which its open exchange is closed. `node` is the name of the server that opens it, for the log.
        `deps` is an object for the tools, in exchanges that bring none of their own: also those that are continued.
        """
        acquired = await acquire_log(store, session, force=force)
        return await cls._open_acquired(
            store, acquired, broken_by=broken_by, after_crash=after_crash, node=node, deps=deps, **options
        )

    @classmethod
    async def _open_acquired(
        cls,
        store: Store,
        acquired: AcquiredLog,
        *,
        broken_by: Exception | None = None,
        after_crash: AfterCrash = DEFAULT_AFTER_CRASH,
        node: str = "",
        deps: object = None,
        **options: Any,
    ) -> "Session[Any]":
        lease, info, delegates, session = acquired.lease, acquired.info, acquired.delegates, acquired.lease.session
        try:
            settings = SessionSettings.of(info.settings)
            history = await read_history(store, session, settings, first_page=acquired.events, last_seq=info.last_seq)
            await close_delegates(store, delegates)
            contents = await add_delegated_changes(store, session, history, delegates)
            if (unfinished := history.unfinished).exchange is not None:
                await add_delegate_usage(store, session, unfinished.call_ids, unfinished.tracker)
            opened = cls(store, lease, info, history, **options)
            opened.deps = opened._runtime.deps = deps
        except BaseException:
            await release_lease(store, lease)
            raise
        try:
            restore_files(opened.workspace, history, contents)
            resumption = SessionResumption(opened, opened._engine, history, opened.flush)
            opened._resumed = await resumption.run(broken_by, after_crash, node)
            opened.waiting_events = resumption.waiting_events
            if info.work != "idle" and not opened._resumed and opened.current is None:
                await store.append(lease, [], work="idle")  # the work was stored when the log was not known
        except BaseException:
            with suppress(StoreError):
                await opened.close()
            raise
        return opened

    def _may_get_tools(self) -> bool:
        return True  # clients bring theirs

    def _begin_with(self, request: ReadPrompt) -> None:
        raise ConfigurationError(
            "A stored session begins with the messages of the agent that it is created with; give the earlier ones to "
            "heald.Agent(history=…), and send the last message."
        )

    def _restore_agent(self, history: SessionHistory) -> None:
        """Continue with the agent that the conversation was handed over to."""
        state = history.state
        if self._handover is not None:
            self._handover.restore(state.agent, state.next_agent)
        elif state.agent:
            logging.getLogger("heald").warning(
                "The session %s was handed over to the agent %r, and is opened without handoffs.",
                self.session,
                state.agent,
            )

    def _restore_whole_results(self, history: SessionHistory) -> None:
        """Make the handles of large results known that earlier processes kept."""
        whole_results = self._runtime.whole_results
        for message in history.state.messages:
            for block in message.content:
                if isinstance(block, ToolResult) and block.whole is not None:
                    whole_results.restore(block.whole)
        whole_results.load = lambda digest: self._store.blob(self.session, digest)
        if len(whole_results):
            self._runtime.offer_read_result()

    # --- the agent interface -----------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._recorder.error is not None:
            raise self._recorder.error

    async def _read_events(
        self, streamed: StreamedExchange, prompt: Prompt, output: Any, deps: object
    ) -> AsyncGenerator[Event]:
        async with aclosing(super()._read_events(streamed, prompt, output, deps)) as events:
            async for event in events:
                yield event
        self._check_open()

    def _run_in_background(self, prompt: Prompt, output: Any, deps: object) -> AgentResult[Any]:
        """Run a request in the event loop that opened the session, from another thread."""
        if is_in_loop(self._loop):
            raise ConfigurationError("A session lives in the event loop that opened it; await its `run` there.")
        running = self.run(prompt, output=output, deps=deps)
        return asyncio.run_coroutine_threadsafe(running, self._loop).result()

    async def suspend(self) -> None:
        """Close the session and keep its queued requests for the next writer."""
        self._suspended = self._engine.drain_queue()
        await self.close()

    def fence(self) -> None:
        """Stop writing: another process has acquired the session."""
        self._recorder.fail(
            Fenced(f"The session {self.session!r} was opened elsewhere; what runs here may write it no more.")
        )

    async def only_waits(self) -> bool:
        """Whether the running exchange waits for a person or a client, and nothing of it runs."""
        await self._recorder.flush()
        history = await read_history(self._store, self.session, self._stored_settings)
        calls = history.unfinished.calls.values()
        return bool(calls) and all(call.waits or call.approval is not None for call in calls)

    async def hand_over(self) -> None:
        """Stop here and release the session, with its exchange open and its requests queued: another process continues
        them. Callers that wait here get an error."""
        if self._recorder.error is None and self.current is not None:
            self.publish(SessionReleased())
            await self._recorder.flush()
        self._recorder.fail(HandedOver("The session was handed over to another process, which continues it."))
        await self.close()

    async def _close(self) -> None:
        self._renewing.cancel()
        await asyncio.wait([self._renewing])
        await (self._ending if self._ending is not None else self._engine.close())
        for position, exchange in enumerate(self._suspended, 1):
            self._engine.publish_queued(exchange, position)  # the log ends with the queued requests
        try:
            await self._recorder.close()
        finally:
            for exchange in self._suspended:
                exchange.abort(HealdError("The session was closed; the request waits there until it is opened again."))
            await self._bus.close()
            await release_lease(self._store, self._lease)
            if self._owns_store:
                await self._store.close()

    def own_store(self) -> None:
        """Close the store together with the session."""
        self._owns_store = True

    # --- the conversation --------------------------------------------------------------------------------------------

    @property
    def error(self) -> Exception | None:
        """The reason why nothing can be stored any more. Opening the session again may help."""
        return self._recorder.error

    def on_failure(self, callback: Callable[[Exception], object]) -> None:
        """Call back when nothing can be stored any more; from then on no event is delivered."""
        self._on_failure.append(callback)

    def on_stored(
        self,
        callback: OnStored,
        *,
        is_watched: Callable[[], bool] = lambda: True,
        on_batch: Callable[[], object] | None = None,
    ) -> None:
        """Call back with each event once it is stored and delivered, and with its JSON if the store has encoded it.

        `on_batch` is called after the events that were stored together. While `is_watched` returns False, deltas may
        wait a little longer and share their commits.
        """
        self._recorder.on_stored(callback, is_watched, on_batch)

    @property
    def epoch(self) -> int:
        return self._lease.epoch

    @property
    def stored_settings(self) -> SessionSettings:
        """The settings that are stored with the session."""
        return self._stored_settings

    @property
    def resumed(self) -> list[ExchangeInterface[Any]]:
        """Requests that were queued when the last writer stopped, and are continued by this one."""
        return list(self._resumed)

    async def flush(self) -> None:
        """Wait until every event so far is stored."""
        await self._recorder.flush()

    async def store_work(self) -> None:
        """Store whether the session has work, as its log has it."""
        await self._recorder.flush()
        await self._store.append(self._lease, [], work=self._recorder.work)

    async def accepted(self, exchange: ExchangeInterface[Any]) -> None:
        """Wait until a request that was just sent is stored. From then on it is answered, even after a crash, or the
        log has the reason why not. Raises the error of the store."""
        await asyncio.sleep(0)  # a request that starts at once is published by the first step of its task
        await self._recorder.flush()

    async def configure(self, **changes: Any) -> None:
        """Store other settings. They apply when the session is opened again."""
        settings = SessionSettings.of(msgspec.structs.replace(self._stored_settings, **changes).data())
        if settings != self._stored_settings:
            self._stored_settings = settings
            await self._store.configure(self.session, settings.data())

    async def set_planning(self, planning: bool) -> None:
        """Permit only reading until a person approves the plan, or end that. It is stored and holds after a crash."""
        self.permissions.planning = planning
        await self.configure(planning=planning)

    async def set_client_tools(
        self, tools: Sequence[ClientToolLike], precedence: ClientPrecedence = "distinct"
    ) -> None:
        """Replace the tools that clients run, and store them. The model is offered them from its next turn on.

        Those that the program gave when it opened the session stay, unless one of the new ones has the same name.
        `precedence` says how they stand to the agent's own tools.
        """
        definitions = read_client_tools(tools)
        names = {definition.name for definition in definitions}
        program_tools = [definition for definition in self._given_client_tools if definition.name not in names]
        self._runtime.set_client_tools([*program_tools, *definitions], precedence)
        await self.configure(client_tools=definitions, client_precedence=precedence)

    def _without_shadows(
        self, definitions: Sequence[ToolDefinition], precedence: ClientPrecedence
    ) -> list[ToolDefinition]:
        """Return the stored client tools without those whose names the agent has come to use itself, unless the
        client's win."""
        agent_names = self._runtime.registry.agent_names if precedence == "distinct" else []
        usable = {definition.name: definition for definition in definitions if definition.name not in agent_names}
        for name in {definition.name for definition in definitions} - usable.keys():
            logging.getLogger("heald").warning("The agent has its own tool %s now; the client's is dropped.", name)
        return list(usable.values())

    def notify_model(self, message: Message) -> None:
        """Show the model a message at its next turn, without a request. Secret values in it are hidden."""
        self._runtime.find_secrets()
        message = self._runtime.secret_mask.hide_message(message)
        current = self.current
        if current is None or not current.steer(message):
            self.publish(UserMessage(message))
            self._conversation.messages.append(message)

    async def forget_allowed(self) -> int:
        """Revoke all permissions that were given with `always`. Returns how many there were."""
        forgotten = {*self._stored_settings.always, *self.permissions.always}
        self.permissions.always.clear()
        await self.configure(always=[])
        return len(forgotten)

    async def reset(self) -> None:
        """Start the conversation over. Log and files stay."""
        await self.rewind(0)

    async def compact(self) -> ConversationCompacted | None:
        compaction = await super().compact()
        await self._recorder.flush()
        return compaction

    async def undo_compaction(self) -> bool:
        """Send the model the conversation as it was before the last compaction. Returns False if there was none."""
        self._check_idle()
        await self._recorder.flush()
        history = await read_history(self._store, self.session, self._stored_settings)
        at = history.state.compacted_at
        if at is None or self.current is not None:
            return False
        restored = ConversationRestored(at)
        following = self.subscribe(lambda event: history.feed(event) if event.data is restored else None)
        self.publish(restored)
        await self._recorder.flush()
        following.close()
        self._conversation.messages[:] = history.state.context
        return True

    async def rewind(self, seq: int) -> None:
        """Continue from an earlier event as if nothing had come after it. Log and files stay as they are."""
        self._check_idle()
        await self._recorder.flush()
        if not 0 <= seq <= self.last_seq:
            raise HealdError(f"The log has the events 1 to {self.last_seq}; there is no {seq} to rewind to.")
        history = await read_history(self._store, self.session, self._stored_settings, upto=seq)
        if history.state.exchange is not None:
            raise HealdError(f"The event {seq} is inside an exchange; rewind to its end or to before its request.")
        self._check_idle()  # an exchange may have started meanwhile
        self.publish(SessionRewound(seq))
        self._conversation.messages[:] = history.state.context
        if self._handover is not None:
            await self._handover.close_model()
            self._handover.restore(history.state.agent, history.state.next_agent)
        await self._recorder.flush()

    async def fork(
        self, at: int | None = None, *, change: ForkChange | None = None, title: str | None = None
    ) -> "Session[OutputT]":
        """Fork the session at an event, the last one by default, and open the fork with the options of this session.

        Up to that event the logs are equal and no model is asked. From there on the fork continues as the `change`
        says, see `ForkChange`; `resumed` has the exchange that runs in it. The caller closes the fork.
        """
        await self._recorder.flush()
        info = await fork_session(self._store, self.session, at, title=title, change=change, by="")
        options = {**self._open_options}
        if change is not None and change.model is not None:
            options["model"] = change.model
        if isinstance(workspace := options.get("workspace"), MemoryWorkspace):
            options["workspace"] = await open_initial_files(self._store, self.session, workspace)
        return await Session.open(self._store, info.id, deps=self.deps, **options)

    def _check_idle(self) -> None:
        if self.current is not None:
            raise HealdError("An exchange runs; stop it or wait for its end before you rewind.")

    # --- storage --------------------------------------------------------------------------------------------------

    async def _store_start_first(self, invocation: Invocation, run: Next) -> Any:
        """Store the start of a call before its body runs (middleware)."""
        await self._recorder.flush()
        return await run(invocation)

    async def _store_allowed(self, digest: str) -> None:
        if digest not in self._stored_settings.always:
            await self.configure(always=[*self._stored_settings.always, digest])

    def _failed(self, error: Exception) -> None:
        self._engine.abort_queued(error)
        self._ending = asyncio.get_running_loop().create_task(self._engine.close())
        if isinstance(error, HandedOver):
            return
        for callback in self._on_failure:
            callback(error)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            try:
                await self._store.renew(self._lease)
            except Fenced as error:
                self._recorder.fail(error)
                return
            except StoreError:
                continue  # the next append raises the error


async def open_acquired(store: Store, acquired: AcquiredLog, **options: Any) -> Session[Any]:
    """Open a session that the caller has acquired, as `Session.open` does. It is released if it cannot be opened."""
    return await Session._open_acquired(store, acquired, **options)
