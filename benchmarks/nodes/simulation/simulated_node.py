"""A node of the simulation: the real store, claims, leases, heartbeats, commands, hubs and streams of a server."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from benchmarks.nodes.simulation.ledger import Ledger
from benchmarks.nodes.simulation.virtual_loop import PROCESS, SimulatedProcess
from benchmarks.nodes.simulation.work_session import WorkSession, text_of
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.core.json import loads
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald_nodes.postgres.store import PostgresStore
from heald_server.cluster.forwarding import ForwardedCall
from heald_server.cluster.node import ServerNode
from heald_server.cluster.store_placement import StorePlacement
from heald_server.http.errors import ApiError
from heald_server.open_sessions import OpenSessions
from heald_server.settings import ServerSettings
from heald_server.store_recovery import StoreRecovery
from heald_server.streams.event_stream import EventStream

ASK = "POST /sessions/{session}/ask"
HEARTBEAT = 15.0
"""Seconds without events after which a stream compares its cursor with the log."""


class WorkSessions(OpenSessions):
    """The open sessions of a node. Only what is opened is simulated."""

    def __init__(self, store: PostgresStore, ledger: Ledger, pace: random.Random, writer: str) -> None:
        super().__init__(Sessions(store), _no_options, after_crash="continue", node=store.node)
        self._postgres = store
        self._ledger = ledger
        self._pace = pace
        self._writer = writer
        self._opened = 0

    async def _open_now(self, info: SessionInfo, broken_by: Exception | None) -> Any:
        self._opened += 1
        lease = await self._postgres.acquire(info.id, f"{self._writer}/{self._opened}")
        try:
            if (info.id, lease.epoch) in self._ledger.writers:
                self._ledger.report(f"two writers of {info.id} have the epoch {lease.epoch}")
            self._ledger.writers[info.id, lease.epoch] = lease.holder
            former = self._ledger.working.pop(info.id, None)
            if former is not None and self._ledger.reports_takeovers:
                self._ledger.report(f"{former}, which lives, lost {info.id} to {lease.holder}")
            work = (await self._postgres.info(info.id)).work
            log: list[Event] = []
            while events := await self._postgres.read(info.id, after=len(log)):
                log += events
            hub = self.hub(info.id)
            session = WorkSession(self._postgres, lease, log, hub, self._ledger, self._pace)
            for call in self._on_open:
                call(info, session)  # pyright: ignore[reportArgumentType]
            await session.begin(work)
            hub.invalidate()
            return session
        except BaseException:
            with suppress(HealdError):
                await self._postgres.release(lease)
            raise


async def _no_options(_: object, __: object) -> dict[str, Any]:
    return {}


class SimulatedNode:
    """A process that serves sessions."""

    def __init__(self, host: str, life: int, ledger: Ledger, chance: random.Random, limit: int) -> None:
        self.host = host
        self.process = SimulatedProcess(f"{host}.{life}")
        self._context = copy_context()
        self._context.run(PROCESS.set, self.process)
        self._ledger = ledger
        self._limit = limit
        self._pace = random.Random(chance.random())
        self.tasks: set[asyncio.Task[Any]] = set()
        self.run(self._start)

    def run(self, start: Callable[[], Any]) -> "asyncio.Task[Any]":
        """Run a coroutine in the process of the node."""
        task = self._context.run(lambda: asyncio.get_running_loop().create_task(start(), context=self._context.copy()))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _start(self) -> None:
        self.store = PostgresStore(f"postgresql://{self.host}@simulated/heald", node=self.process.name)
        self.sessions = WorkSessions(self.store, self._ledger, self._pace, self.process.name)
        self.recovery = StoreRecovery(self.sessions, lambda _: None)
        self.node = ServerNode(
            self.store, self.sessions, folders=(), settings=ServerSettings(), placement=StorePlacement()
        )
        self.node.forwarder.at_holder(ASK, self._answer)
        while True:
            try:
                await self.node.start()
                return
            except HealdError:
                await asyncio.sleep(1)

    @property
    def is_ready(self) -> bool:
        return self.process.runs and hasattr(self, "node") and self.node.is_ready

    async def _answer(self, request: Request) -> Response:
        session = request.path_params["session"]
        body = loads(await request.body())
        info = await self.store.info(session)
        async with self.sessions.use(info) as opened:
            work: Any = opened
            accepted = await work.ask(body["request"], body["steps"], self._limit, info.owner)  # type: ignore[index, call-overload]
        return JSONResponse({"accepted": accepted})

    async def ask(self, session: str, owner: str, request: str, steps: int) -> None:
        """Do what a client asks, here or on the node that holds the session."""
        body = b'{"request": "%s", "steps": %d}' % (request.encode(), steps)
        call = ForwardedCall(operation=ASK, session=session, owner=owner, path={"session": session}, body=body)
        with suppress(HealdError, ApiError):
            reply = await self.node.forwarder.deliver(call)
            if reply.status == 200 and b"true" in reply.body:
                self._ledger.accepted.add(request)


class Reader:
    """A client that follows a session, on one node after the other."""

    def __init__(self, session: str, ledger: Ledger) -> None:
        self.session = session
        self.texts: list[str] = []
        self.node: SimulatedNode | None = None
        self._ledger = ledger

    def connect(self, node: SimulatedNode) -> None:
        """Follow the session on a node, from the last event that came."""
        self.node = node
        node.run(lambda: self._follow(node))

    async def _follow(self, node: SimulatedNode) -> None:
        stream = EventStream(node.store, node.sessions.hub, self.session, len(self.texts))
        async for batch in stream.batches(HEARTBEAT):
            for entry in batch:
                if self.node is not node:
                    return
                if entry.event.seq != len(self.texts) + 1:
                    self._ledger.report(f"a reader of {self.session} got {entry.event.seq} after {len(self.texts)}")
                    return
                self.texts.append(text_of(entry.event))
        self.node = None
