"""One schedule: nodes, clients, readers and faults, all chosen by a seed, and what must hold at its end."""

import asyncio
import gc
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import pairwise
from typing import Any

from benchmarks.nodes.simulation.database import ObserverPool, SimulatedDatabase
from benchmarks.nodes.simulation.driver import SimulatedDriver
from benchmarks.nodes.simulation.ledger import Ledger
from benchmarks.nodes.simulation.network import Network
from benchmarks.nodes.simulation.patches import simulated_world
from benchmarks.nodes.simulation.simulated_node import Reader, SimulatedNode
from benchmarks.nodes.simulation.virtual_loop import VirtualLoop
from benchmarks.nodes.simulation.work_session import text_of
from heald.core.envelope import Event
from heald.core.errors import HealdError
from heald.sessions.store import PAGE
from heald_nodes.postgres.log import LogReader

FAULTS = ("stall", "restart", "partition", "slow", "kill", "freeze", "clock", "lost answers", "lost news")
QUIET_SECONDS = 200.0
"""Virtual seconds after the last fault in which everything has to end."""
_OWNER = "ann"
_HARMLESS = {"stall", "lost news"}
"""Faults after which no node has lost a session."""
_SECONDS_OF_WORK = (0.04, 0.8, 0.8)
"""Seconds after requests at which a fault begins, at most: they arrive then, or they run."""
_OVERLAPPING = 0.4
"""The share of faults during which the next one begins."""
_GREY = 0.4
"""The share of schedules in which the database is slow and nothing dies."""
_WEIGHTS = {"stall": 1.5, "lost news": 2.0, "partition": 2.0}
"""How much more often than others a kind is the only fault of a schedule: it brings different troubles to light."""
_AIMED = 0.7
"""The share of faults that hit a node that works, if one does."""


@dataclass(frozen=True)
class ScheduleLength:
    """How much happens in a schedule. All numbers are chosen from a range."""

    nodes: range
    sessions: range
    readers: range
    """Of each session."""
    faults: range
    requests: range
    """Before each fault."""
    later_requests: range
    """After each fault."""
    steps: range
    """Of a request."""
    seconds: Mapping[str, tuple[float, ...]]
    """How long faults take, by their kind. Nodes that wait cost nothing, and nodes that poll do."""
    migrates: bool = False
    """Whether nodes migrate the schema when they start."""


_SECONDS: Mapping[str, tuple[float, ...]] = dict.fromkeys(FAULTS, (0.3, 1.0, 2.0, 4.0, 8.0))
_SHORT_SECONDS: Mapping[str, tuple[float, ...]] = {
    **dict.fromkeys(FAULTS, (0.3, 1.0, 2.0)),
    **dict.fromkeys(("freeze", "partition"), (2.0, 4.0, 5.0)),
    "stall": (2.0, 4.0, 8.0),
    "lost news": (1.0, 2.0, 4.0),
    "kill": (0.3, 4.0),
}
LENGTHS = {
    "short": ScheduleLength(
        range(2, 3), range(1, 4), range(1, 2), range(1, 2), range(1, 4), range(2), range(2, 4), _SHORT_SECONDS
    ),
    "middle": ScheduleLength(
        range(2, 4), range(1, 4), range(1, 3), range(1, 3), range(1, 3), range(1, 3), range(1, 5), _SECONDS
    ),
    "long": ScheduleLength(
        range(2, 4), range(2, 6), range(2, 3), range(2, 5), range(1, 4), range(1, 4), range(1, 7), _SECONDS, True
    ),
}
"""A short schedule is one fault while two nodes work. Most faults of nodes need no more; a few need several."""
_SHARES = {"short": 0.92, "middle": 0.07, "long": 0.01}


@dataclass(frozen=True)
class ScheduleOutcome:
    """What a schedule came to."""

    seed: int
    violations: tuple[str, ...]
    faults: tuple[str, ...]
    events: int
    virtual_seconds: float
    digest: str
    """Of all logs: the same for the same seed."""


class Schedule:
    """Runs one schedule."""

    def __init__(
        self,
        seed: int,
        loop: VirtualLoop,
        database: SimulatedDatabase,
        driver: SimulatedDriver,
        faults: Sequence[str] = FAULTS,
        length: str = "",
    ) -> None:
        self._seed = seed
        self._loop = loop
        self._database = database
        self._chance = random.Random(seed)
        self._length = LENGTHS[length or self._chance.choices([*_SHARES], [*_SHARES.values()])[0]]
        self._network = driver.network = Network(seed)
        driver.migrates = self._length.migrates
        self._ledger = Ledger()
        self._limit = 0
        self._nodes: list[SimulatedNode] = []
        self._dead: list[SimulatedNode] = []
        self._readers: list[Reader] = []
        self._faults: list[str] = []
        self._requests = 0
        self._asks: list[tuple[SimulatedNode, asyncio.Task[None]]] = []
        self._allowed = faults
        self._kinds: tuple[str, ...] = ()
        self._logs: dict[str, list[Event]] = {}

    async def run(self) -> ScheduleOutcome:
        chance, length = self._chance, self._length
        self._database.reset()
        self._database.on_work = self._check_limit
        random.seed(self._seed)
        began = self._loop.now
        harmless = [kind for kind in self._allowed if kind in _HARMLESS]
        kinds = harmless if harmless and chance.random() < _GREY else list(self._allowed)
        if length.faults.stop == 2:
            self._kinds = tuple(chance.choices(kinds, [_WEIGHTS.get(kind, 1.0) for kind in kinds]))
        else:
            self._kinds = tuple(chance.sample(kinds, min(chance.randrange(1, 4), len(kinds))))
        self._ledger.reports_takeovers = _HARMLESS.issuperset(self._kinds)
        sessions = [f"ses_{number}" for number in range(chance.choice(length.sessions))]
        self._limit = chance.choice((1, len(sessions)))
        for number in range(chance.choice(length.nodes)):
            self._nodes.append(self._new_node(f"host{number}", 1))
        await self._wait_ready()
        for session in sessions:
            self._database.read(
                "INSERT INTO sessions (id, owner, kind, title, title_key, created, updated, epoch, settings, draft)"
                " VALUES (?, ?, '', '', '', 0, 0, 0, CAST('{}' AS BLOB), 0)",
                session,
                _OWNER,
            )
            self._readers += [Reader(session, self._ledger) for _ in range(chance.choice(length.readers))]
        self._connect_readers()
        overlapping: list[asyncio.Task[None]] = []
        for _ in range(chance.choice(length.faults)):
            self._ask(sessions, length.requests)
            await asyncio.sleep(chance.random() * chance.choice(_SECONDS_OF_WORK))
            fault = asyncio.create_task(self._do_fault(chance.choice(self._kinds)))
            overlapping.append(fault)
            await (asyncio.sleep(chance.random()) if chance.random() < _OVERLAPPING else fault)
            self._connect_readers()
            self._ask(sessions, length.later_requests)
        await asyncio.gather(*overlapping)
        await self._wait_quiet(sessions)
        await self._read_logs()
        self._check_logs(sessions)
        for error in self._database.errors:
            self._ledger.report(error)
        await self._end()
        stored = [
            self._database.read("SELECT * FROM chunks ORDER BY 1, 2"),
            self._database.read("SELECT id, last_seq, tail FROM sessions ORDER BY 1"),
        ]
        digest = sha256(repr(stored).encode()).hexdigest()
        return ScheduleOutcome(
            self._seed,
            tuple(self._ledger.violations),
            tuple(self._faults),
            len(self._ledger.acknowledged),
            self._loop.now - began,
            digest,
        )

    # --- nodes and clients -------------------------------------------------------------------------------------------

    def _new_node(self, host: str, life: int) -> SimulatedNode:
        return SimulatedNode(host, life, self._ledger, self._chance, self._limit)

    async def _wait_ready(self) -> None:
        while not all(node.is_ready for node in self._nodes):  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    def _ask(self, sessions: list[str], requests: range) -> None:
        for _ in range(self._chance.choice(requests)):
            nodes = [node for node in self._nodes if node.is_ready]
            if not nodes:
                return
            self._requests += 1
            node, session = self._chance.choice(nodes), self._chance.choice(sessions)
            request, steps = f"r{self._requests}", self._chance.choice(self._length.steps)
            self._asks.append((node, node.run(partial(node.ask, session, _OWNER, request, steps))))

    def _connect_readers(self) -> None:
        for reader in self._readers:
            if reader.node is None or reader.node.process.is_dead:
                nodes = [node for node in self._nodes if node.is_ready]
                if nodes:
                    reader.connect(self._chance.choice(nodes))

    # --- faults ------------------------------------------------------------------------------------------------------

    def _choose_node(self) -> SimulatedNode:
        """Choose the node that a fault hits: mostly one that works."""
        writers = {writer.partition("/")[0] for writer in self._ledger.working.values()}
        working = [node for node in self._nodes if node.process.name in writers]
        return self._chance.choice(working if working and self._chance.random() < _AIMED else self._nodes)

    async def _do_fault(self, kind: str) -> None:
        chance, network = self._chance, self._network
        if not self._nodes:
            return  # all were killed, and start anew
        node = self._choose_node()
        seconds = chance.choice(self._length.seconds[kind])
        self._faults.append(f"{kind} {node.process.name} {seconds}")
        match kind:
            case "stall":
                network.is_stalled = True
                await asyncio.sleep(seconds)
                network.is_stalled = False
                network.release()
            case "restart":
                network.is_stalled = True
                await asyncio.sleep(chance.random())
                network.is_stalled = False
                network.is_down = True
                network.break_connections()
                network.release()
                await asyncio.sleep(seconds)
                network.is_down = False
                self._database.started = self._database.clock()
            case "partition":
                network.partitioned.add(node.host)
                await asyncio.sleep(seconds)
                if chance.random() < 0.5:
                    network.break_connections(node.host)
                network.partitioned.discard(node.host)
                network.release()
            case "slow":
                network.slowness[node.host] = chance.choice((20.0, 100.0))
                await asyncio.sleep(seconds)
                network.slowness.clear()
            case "kill":
                self._kill(node)
                await asyncio.sleep(seconds)
                life = int(node.process.name.rpartition(".")[2]) + 1
                self._nodes.append(self._new_node(node.host, life))
            case "freeze":
                self._loop.freeze(node.process)
                await asyncio.sleep(seconds)
                self._loop.thaw(node.process)
            case "clock":
                self._database.jump += chance.choice((-30.0, -3.0, 3.0, 3600.0))
                await asyncio.sleep(seconds / 2)
            case "lost answers":
                network.lost_answers = chance.choice((0.1, 0.3))
                await asyncio.sleep(seconds)
                network.lost_answers = 0.0
            case _:
                network.lost_notices = chance.choice((0.3, 1.0))
                await asyncio.sleep(seconds)
                network.lost_notices = 0.0

    def _kill(self, node: SimulatedNode) -> None:
        self._loop.kill(node.process)
        self._network.break_connections(node.host)
        self._nodes.remove(node)
        self._dead.append(node)

    # --- what must hold ----------------------------------------------------------------------------------------------

    def _check_limit(self) -> None:
        (running,) = self._database.read("SELECT count(*) FROM sessions WHERE work <> 'idle'")[0]
        if running > self._limit:
            self._ledger.report(f"{running} exchanges run where {self._limit} are allowed")

    async def _wait_quiet(self, sessions: list[str]) -> None:
        """Wait until no session has work and all readers have all events."""
        until = self._loop.now + QUIET_SECONDS
        while self._loop.now < until:
            self._connect_readers()
            if not self._is_asked() and not self._working() and not self._behind():
                break
            await asyncio.sleep(0.2)
        else:
            self._report_standstill()
        for node in self._nodes:
            for task in node.process.ended_tasks():
                self._ledger.report(f"the task {task} of {node.process.name} has ended")

    def _report_standstill(self) -> None:
        """Report the sessions whose work has not ended and the readers that have not read on."""
        for session, work, node, holder in self._working():
            self._ledger.report(f"{session} is {work} for ever; node {node!r}, holder {holder!r}")
        for reader, end in self._behind():
            self._ledger.report(f"a reader of {reader.session} stands still at {len(reader.texts)} of {end}")

    def _is_asked(self) -> bool:
        """Whether a client of a living node waits for an answer."""
        return any(not task.done() and not node.process.is_dead for node, task in self._asks)

    def _behind(self) -> list[tuple[Reader, int]]:
        """Return the readers that have not read to the ends of their logs, and these ends."""
        ends = {row[0]: row[1] for row in self._database.read("SELECT id, last_seq FROM sessions")}
        return [(reader, ends[reader.session]) for reader in self._readers if len(reader.texts) < ends[reader.session]]

    def _working(self) -> list[Any]:
        return self._database.read("SELECT id, work, node, holder FROM sessions WHERE work <> 'idle'")

    async def _read_logs(self) -> None:
        """Read the logs with a reader that has read nothing before."""
        reader = LogReader(ObserverPool(self._database))  # pyright: ignore[reportArgumentType]
        for session, key, end in self._database.read("SELECT id, key, last_seq FROM sessions"):
            log: list[Event] = []
            self._logs[session] = log
            try:
                while len(log) < end and (events := await reader.read(key, end, after=len(log), upto=None, limit=PAGE)):
                    log += events
            except HealdError as error:
                self._ledger.report(f"the log of {session} cannot be read: {error}")

    def _check_logs(self, sessions: list[str]) -> None:
        logged: set[str] = set()
        for session in sessions:
            log = self._logs[session]
            texts = [text_of(event) for event in log]
            for (name, seq), text in self._ledger.acknowledged.items():
                if name == session and (seq > len(texts) or texts[seq - 1] != text):
                    self._ledger.report(f"event {seq} of {session} was acknowledged and is not in the log")
            if any(later.epoch < event.epoch for event, later in pairwise(log)):
                self._ledger.report(f"a writer of {session} wrote after its successor")
            requests = [text.split()[1] for text in texts if text.startswith("request ")]
            logged.update(requests)
            if len(requests) != len(set(requests)):
                self._ledger.report(f"a request of {session} was accepted twice")
            for reader in self._readers:
                if reader.session == session and reader.texts != texts[: len(reader.texts)]:
                    self._ledger.report(f"a reader of {session} got other events than the log has")
        for request in sorted(self._ledger.accepted - logged):
            self._ledger.report(f"the request {request} was accepted and is not in the log")
        for (session, step), count in self._ledger.effects.items():
            if count > 1:
                self._ledger.report(f"the step {step} of {session} took place {count} times")

    async def _end(self) -> None:
        """Let every process end."""
        for node in (*self._nodes, *self._dead):
            node.process.is_dead = False
            self._loop.thaw(node.process)
        self._network.is_down = True
        self._network.break_connections()
        current = asyncio.current_task()
        tasks = [task for task in self._loop.tasks if task is not current and not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Simulation:
    """Runs schedules, one after the other, in one loop and on one database."""

    def __init__(self) -> None:
        self._loop = VirtualLoop()
        self._database = SimulatedDatabase(self._loop.time)
        self._driver = SimulatedDriver(self._database)

    def run(self, seeds: Iterable[int], faults: Sequence[str] = FAULTS, length: str = "") -> Iterator[ScheduleOutcome]:
        """Yield the outcome of the schedule of each seed, with faults of some kinds. Its seed chooses its length too,
        unless one is named."""
        with simulated_world(self._driver, self._loop.time):
            for seed in seeds:
                self._loop.reset()
                schedule = Schedule(seed, self._loop, self._database, self._driver, faults, length)
                yield self._loop.run_until_complete(schedule.run())
                del schedule
                gc.collect(0)  # while what is left of it is in the cache of the processor

    def close(self) -> None:
        self._loop.close()
