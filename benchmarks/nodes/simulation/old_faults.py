"""Faults that nodes had, each of which can be brought back. The simulation has to find them: a check of the checks."""

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from benchmarks.nodes.simulation.schedule import FAULTS, Simulation
from heald.core.errors import HealdError
from heald.sessions.store_errors import StoreError
from heald_nodes.postgres import driver_errors, sharing, store, writer
from heald_nodes.postgres.driver import asyncpg
from heald_nodes.postgres.driver_errors import LOST
from heald_nodes.postgres.schema import CLAIMABLE, FREE, NODE_DEAD, NOW, alive
from heald_nodes.postgres.store import PostgresStore
from heald_server.cluster import node
from heald_server.cluster.node import ServerNode
from heald_server.cluster.node_tasks import NodeTasks
from heald_server.streams.event_stream import EventStream

Replacement = tuple[Any, str, object]
_BY_SERVICE_CLOCK = re.compile(
    r"CASE WHEN n\.lease IS NULL THEN (n\.expires > .*?) ELSE n\.lease > .*? END\)", re.DOTALL
)
_APPEND_CHECK = re.compile(r" AND s\.epoch = w\.epoch AND .*? = w\.after\)\)", re.DOTALL)


@dataclass(frozen=True)
class OldFault:
    """A fault that nodes had."""

    name: str
    sign: str
    """A part of the violation that shows it; empty if any violation does."""
    causes: tuple[str, ...]
    """Faults of the world that bring it to light."""
    replacements: tuple[Replacement, ...]

    @contextmanager
    def brought_back(self) -> Generator[None]:
        with ExitStack() as stack:
            for target, attribute, replacement in self.replacements:
                stack.enter_context(patch.object(target, attribute, replacement))
            yield

    def find(
        self, simulation: Simulation, seeds: Iterable[int], faults: Sequence[str] = FAULTS, length: str = ""
    ) -> tuple[int, str] | None:
        """Return the seed of the first schedule that shows it, and how; None if none does."""
        with self.brought_back():
            for outcome in simulation.run(seeds, faults, length):
                for violation in outcome.violations:
                    if self.sign in violation:
                        return outcome.seed, violation.partition("\n")[0]
        return None


def _cut(text: str, part: str, replacement: str = "") -> str:
    """Replace a part of a statement that must be there."""
    return _cut_match(text, re.compile(re.escape(part)), replacement)


def _cut_match(text: str, part: re.Pattern[str], replacement: str = "") -> str:
    cut, count = part.subn(lambda _: replacement, text)
    if not count:
        raise StoreError(f"The statement has no {part.pattern!r} any more; change the fault that replaces it.")
    return cut


def _by_wall_clock(condition: str) -> str:
    return _BY_SERVICE_CLOCK.sub(r"\1)", condition)


_CLAIMED_WHILE_EXPIRED = _by_wall_clock(_cut(CLAIMABLE, f" AND (NOT $1::boolean OR {alive('$2')})"))
_CLAIMED_FOR_EVER = _cut(
    _cut(_CLAIMED_WHILE_EXPIRED, "ELSE s.node <> $2 AND (s.expires", "ELSE (s.expires"),
    f"THEN s.not_before <= {NOW} OR (s.node <> $2 AND",
    "THEN s.node = '' OR (s.node <> $2 AND",
)
_BY_WALL_CLOCK: tuple[Replacement, ...] = (
    (sharing, "FREE", _by_wall_clock(FREE)),
    (store, "FREE", _by_wall_clock(FREE)),
)


async def _run_once(tasks: NodeTasks, name: str, run: Callable[[], Any]) -> None:
    await tasks._run_once(name, run())  # pyright: ignore[reportPrivateUsage]


async def _use_as_it_is(server: ServerNode, session: str) -> None:
    """Continue a claimed session, also one that is open here, whose lease the claim has ended."""
    with suppress(HealdError):
        info = await server._store.info(session)  # pyright: ignore[reportPrivateUsage]
        async with server._sessions.use(info):  # pyright: ignore[reportPrivateUsage]
            pass
    server.end_start(session)


async def _count_running(store: PostgresStore, _session: str, owner: str, **_limit: int) -> int:
    return await store.count_running(owner)


async def _believe_news(_stream: EventStream, _seconds: float) -> bool:
    return False


async def _read_one_page(server: ServerNode, stale: Mapping[str, int]) -> None:
    sessions = server._sessions  # pyright: ignore[reportPrivateUsage]
    hubs = [sessions.hub(name) for name in stale if sessions.is_watched(name)]
    cursors = {hub.session: hub.tail for hub in hubs if hub.tail is not None}
    for hub in hubs:
        if hub.tail is None:
            hub.invalidate()
            hub.tail = end if (end := stale[hub.session]) < 2**62 else None
    if cursors:
        for session, events in (await server._store.read_many(cursors)).items():  # pyright: ignore[reportPrivateUsage]
            sessions.hub(session).extend(events)


_HELD_FOR_EVER = f"(s.holder = '' OR s.expires <= {NOW})"
_ONLY_NEWS: tuple[Replacement, ...] = (
    (EventStream, "_is_behind", _believe_news),
    (node, "EVENTS_SECONDS", 10_000.0),
)
OLD_FAULTS = (
    # a stall of the database
    OldFault(
        "leases by the wall clock",
        "which lives, lost",
        ("stall",),
        ((sharing, "CLAIMABLE", _CLAIMED_WHILE_EXPIRED), *_BY_WALL_CLOCK),
    ),
    OldFault(
        "claims that never end",
        "for ever",
        ("stall",),
        ((sharing, "CLAIMABLE", _CLAIMED_FOR_EVER), (ServerNode, "_continue", _use_as_it_is), *_BY_WALL_CLOCK),
    ),
    # a restart of the database
    OldFault(
        "a task that ends",
        "",
        ("restart", "lost answers"),
        (
            (driver_errors, "LOST", tuple(error for error in LOST if error is not asyncpg.InternalClientError)),
            (NodeTasks, "_run_for_ever", _run_once),
        ),
    ),
    # news that do not arrive
    OldFault("readers that only news wake", "stands still", ("lost news",), _ONLY_NEWS),
    OldFault(
        "readers that get one page",
        "stands still",
        ("lost news",),
        ((ServerNode, "_read_stale", _read_one_page), *_ONLY_NEWS),
    ),
    # what two nodes do at once
    OldFault(
        "a limit that is only counted", "exchanges run where", FAULTS, ((PostgresStore, "admit_work", _count_running),)
    ),
    OldFault(
        "a writer without a fence",
        "",
        ("freeze", "partition"),
        ((writer, "APPEND", _cut_match(writer.APPEND, _APPEND_CHECK)),),
    ),
    # a node that was killed
    OldFault(
        "leases of dead nodes that never end",
        "for ever",
        ("kill",),
        (
            (sharing, "CLAIMABLE", _cut(CLAIMABLE, f"(s.expires <= {NOW} OR {NODE_DEAD})", f"s.expires <= {NOW}")),
            (sharing, "FREE", _HELD_FOR_EVER),
            (store, "FREE", _HELD_FOR_EVER),
        ),
    ),
)
