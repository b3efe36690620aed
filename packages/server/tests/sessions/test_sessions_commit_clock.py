"""When deltas are stored: at once if somebody watches, together where they come together."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

import heald
from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.events import ConversationResponding, ConversationStart, TextContentBlockStart, TextDelta
from heald.http1.shared_reads import shared_reads
from heald.providers.scripted import ScriptedModel
from heald.sessions.commit_clock import (
    COMMIT_PACING,
    FEW_SESSIONS,
    LONGEST_PAUSE,
    LONGEST_SHARED_PAUSE,
    CommitClock,
    Pacing,
    clock_of,
)
from heald.sessions.delegate_logs import DelegateLogs
from heald.sessions.leases import Lease
from heald.sessions.loop_load import MOMENTS, LoopLoad
from heald.sessions.memory import MemoryStore
from heald.sessions.recorder import EventRecorder
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.work import Work
from heald.testing import Pause, ReceivedRequest, Reply, ScriptedServer, sse_event
from heald_check import check_log
from heald_server.streams.event_hub import EventHub
from sessions_bench import leased, log_of, types_of

NEVER = 3600.0
_FULL_SHARED = COMMIT_PACING.full / 2
"""The share of the time from which on nodes of one store pause for the longest time."""


class ManualLoop:
    """The clock and the timers of a loop, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self._calls: list[tuple[float, Callable[[], object]]] = []

    def time(self) -> float:
        return self.now

    def call_soon(self, call: Callable[..., object], *arguments: object) -> None:
        self.call_later(0.0, call, *arguments)

    def call_later(self, delay: float, call: Callable[..., object], *arguments: object) -> None:
        self._calls.append((self.now + delay, lambda: call(*arguments)))

    def advance(self, seconds: float = 0.0) -> None:
        self.now += seconds
        due = [call for time, call in self._calls if time <= self.now]
        self._calls = [scheduled for scheduled in self._calls if scheduled[0] > self.now]
        for call in due:
            call()


class CountingStore(MemoryStore):
    """Counts the events of each commit, and can hold commits up."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[list[str]] = []
        self.free = asyncio.Event()
        self.free.set()

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> None:
        self.commits.append(types_of(events))
        await self.free.wait()
        await super().append(lease, events, blobs, work=work)


class Recording:
    def __init__(self, store: CountingStore, lease: Lease) -> None:
        self.store = store
        self.bus = EventBus(lease.session)
        self.recorder = EventRecorder(
            store,
            lease,
            self.bus,
            titled=True,
            attach=lambda _: {},
            on_failure=lambda _: None,
            delegates=DelegateLogs(store, SessionInfo(id=lease.session)),
        )
        self.bus.attach_sink(self.recorder, seq=0, epoch=lease.epoch, now=0.0)

    def publish_delta(self) -> None:
        self.bus.publish(TextDelta(0, "b", "Hi"))


@pytest.fixture
async def recording(monkeypatch: pytest.MonkeyPatch) -> Recording:
    """No timer ends within a test: what is stored is stored because of an event."""
    monkeypatch.setattr("heald.sessions.recorder.DELAY", NEVER)
    _fix_pause(monkeypatch, NEVER)
    store = CountingStore()
    return Recording(store, await leased(store))


def _fix_pause(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Make all pauses alike, however busy the loop is."""

    def pause(pacing: Pacing, share: float, nodes: int) -> float:
        return seconds

    monkeypatch.setattr(Pacing, "pause", pause)


def _watch_stores(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that the begin and the end of each store are added to."""
    stores: list[str] = []

    def begin_store(now: float) -> None:
        stores.append("begin")

    def end_store(now: float) -> None:
        stores.append("end")

    load = clock_of(asyncio.get_running_loop()).load
    monkeypatch.setattr(load, "begin_store", begin_store)
    monkeypatch.setattr(load, "end_store", end_store)
    return stores


async def _work() -> None:
    """Let everything run that waits for no timer."""
    for _ in range(30):
        await asyncio.sleep(0)


class Busy:
    """The clock of a thread that works a share of the time."""

    def __init__(self, loop: ManualLoop, share: float) -> None:
        self.share = share
        self._loop = loop
        self._moment, self._seconds = loop.now, 0.0

    def __call__(self) -> float:
        self._seconds += (self._loop.now - self._moment) * self.share
        self._moment = self._loop.now
        return self._seconds


def _clock(share: float) -> tuple[CommitClock, ManualLoop, asyncio.AbstractEventLoop]:
    """A clock whose loop works a share of the time, and has done so for some moments."""
    loop = ManualLoop()
    as_loop = cast(asyncio.AbstractEventLoop, loop)
    load = LoopLoad(Busy(loop, share))
    load.measure(loop.now)
    loop.advance(MOMENTS)
    return CommitClock(load), loop, as_loop


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_after_a_pause_a_commit_begins_at_once(share: float) -> None:
    clock, loop, as_loop = _clock(share)
    commits: list[float] = []
    times: list[float] = []
    for _ in range(3):
        times.append(loop.now)
        clock.add(as_loop, lambda: commits.append(loop.now))
        assert len(commits) < len(times)
        loop.advance()
        loop.advance(1.1 * LONGEST_PAUSE)
    assert commits == times


def test_sessions_whose_deltas_come_within_a_pause_commit_together() -> None:
    clock, loop, as_loop = _clock(1.0)
    begin = loop.now
    commits: list[tuple[str, float]] = []
    calls = {name: (lambda name=name: commits.append((name, loop.now))) for name in "abc"}
    clock.add(as_loop, calls["a"])
    loop.advance()
    for name in "bcb":  # twice is once
        clock.add(as_loop, calls[name])
    loop.advance(LONGEST_PAUSE / 2)
    assert commits == [("a", begin)]
    loop.advance(LONGEST_PAUSE)
    assert commits[1:] == [("b", loop.now), ("c", loop.now)]
    loop.advance(10 * LONGEST_PAUSE)
    assert len(commits) == 3


@pytest.mark.parametrize("sessions", [1, 500])
@pytest.mark.parametrize(
    ("share", "pause"),
    [(COMMIT_PACING.full / 10, LONGEST_PAUSE / 10), (COMMIT_PACING.full / 2, LONGEST_PAUSE / 2), (1.0, LONGEST_PAUSE)],
)
def test_the_pause_follows_the_work_of_the_loop_and_not_the_sessions(share: float, pause: float, sessions: int) -> None:
    clock, loop, as_loop = _clock(share)
    commits: list[float] = []
    for number in range(sessions):
        clock.add(as_loop, lambda number=number: number)
    loop.advance()
    clock.add(as_loop, lambda: commits.append(loop.now))
    loop.advance(0.9 * pause)
    assert commits == []
    loop.advance(0.2 * pause)
    assert len(commits) == 1


@pytest.mark.parametrize(
    ("nodes", "share", "pause"),
    [
        (2, _FULL_SHARED / 4, LONGEST_SHARED_PAUSE / 2),
        (2, _FULL_SHARED / 2, LONGEST_SHARED_PAUSE),
        (3, 1.0, LONGEST_SHARED_PAUSE),
    ],
)
def test_the_pause_grows_with_the_nodes_that_share_the_store(nodes: int, share: float, pause: float) -> None:
    clock, loop, as_loop = _clock(share)
    clock.nodes = nodes
    commits: list[float] = []
    clock.add(as_loop, lambda: None)
    loop.advance()
    clock.add(as_loop, lambda: commits.append(loop.now))
    loop.advance(0.9 * pause)
    assert commits == []
    loop.advance(0.2 * pause)
    assert len(commits) == 1


def test_an_idle_loop_makes_no_pause() -> None:
    clock, loop, as_loop = _clock(0.0)
    commits: list[int] = []
    for number in range(5):
        clock.add(as_loop, lambda number=number: commits.append(number))
        loop.advance()
        assert commits == list(range(number + 1))


def test_a_store_that_is_busy_makes_pauses_though_the_loop_is_idle() -> None:
    clock, loop, as_loop = _clock(0.0)
    clock.load.begin_store(loop.now)
    clock.load.begin_store(loop.now)  # of another session, at the same time
    loop.advance(MOMENTS / 2)
    clock.load.end_store(loop.now)
    clock.load.end_store(loop.now)
    loop.advance(MOMENTS / 2)
    commits: list[float] = []
    clock.add(as_loop, lambda: None)
    loop.advance()
    assert clock.load.share == pytest.approx(0.25)  # a quarter of the time since the clock began
    clock.add(as_loop, lambda: commits.append(loop.now))
    loop.advance()
    assert commits == []
    loop.advance(LONGEST_PAUSE)
    assert len(commits) == 1


def test_a_store_that_does_not_answer_counts_as_busy_until_it_does() -> None:
    clock, loop, _ = _clock(0.0)
    clock.load.begin_store(loop.now)
    for _ in range(3):
        loop.advance(MOMENTS)
        clock.load.measure(loop.now)
    assert clock.load.share == pytest.approx(1.0)
    clock.load.end_store(loop.now)
    loop.advance(MOMENTS)
    clock.load.measure(loop.now)
    assert clock.load.share == pytest.approx(0.0)


def test_sessions_that_nobody_watches_share_a_wait_that_none_exceeds() -> None:
    loop, clock = ManualLoop(), CommitClock()
    waits: list[float] = []

    def add() -> None:
        began = loop.now
        clock.add_unwatched(cast(asyncio.AbstractEventLoop, loop), lambda: waits.append(loop.now - began), 0.05)

    add()
    loop.advance(0.03)
    add()
    loop.advance(0.021)
    assert waits == pytest.approx([0.051, 0.021])
    loop.advance(1.0)
    assert len(waits) == 2
    add()
    loop.advance(0.051)
    assert waits[2:] == pytest.approx([0.051])


def test_a_session_that_is_stored_earlier_waits_no_more() -> None:
    loop, clock = ManualLoop(), CommitClock()
    commits: list[str] = []

    def commit() -> None:
        commits.append("unwatched")

    clock.add_unwatched(cast(asyncio.AbstractEventLoop, loop), commit, 0.05)
    clock.remove_unwatched(commit)
    loop.advance(0.06)
    assert commits == []


def test_what_was_long_ago_does_not_count() -> None:
    loop = ManualLoop()
    busy = Busy(loop, 1.0)
    load = LoopLoad(busy)
    load.measure(loop.now)
    loop.advance(MOMENTS)
    load.measure(loop.now)
    assert load.share == pytest.approx(1.0)
    busy.share = 0.0
    loop.advance(MOMENTS / 4)
    load.measure(loop.now)
    assert load.share == pytest.approx(0.75)
    loop.advance(10 * MOMENTS)
    load.measure(loop.now)
    assert load.share == pytest.approx(0.0)


def test_streams_are_read_together_before_a_commit_while_many_sessions_take_part() -> None:
    clock, loop, as_loop = _clock(1.0)
    reads = shared_reads(as_loop)
    moments: list[str] = []
    for number in range(FEW_SESSIONS + 1):
        clock.add(as_loop, lambda number=number: number)
    loop.advance()
    assert reads.is_active
    reads.hold(lambda: moments.append("read"))
    loop.advance(1.1 * LONGEST_PAUSE)
    clock.add(as_loop, lambda: moments.append("commit"))  # what was read is part of the same commit
    for _ in range(3):
        assert moments == ["read"]
        loop.advance()
    assert moments == ["read", "commit"]
    assert not reads.is_active, "one session is few"


@pytest.mark.parametrize(("nodes", "sessions", "together"), [(1, 2, False), (3, 1, False), (3, 2, True)])
def test_few_sessions_of_a_node_are_many_where_there_are_more_nodes(nodes: int, sessions: int, together: bool) -> None:
    clock, loop, as_loop = _clock(1.0)
    clock.nodes = nodes
    for number in range(sessions):
        clock.add(as_loop, lambda number=number: number)
    loop.advance()
    assert shared_reads(as_loop).is_active == together


def test_streams_are_read_as_they_come_while_the_loop_is_idle() -> None:
    clock, loop, as_loop = _clock(0.0)
    for number in range(10 * FEW_SESSIONS):
        clock.add(as_loop, lambda number=number: number)
    loop.advance()
    assert not shared_reads(as_loop).is_active


def test_streams_are_released_when_no_session_commits_any_more() -> None:
    clock, loop, as_loop = _clock(1.0)
    reads = shared_reads(as_loop)
    released: list[float] = []
    for number in range(FEW_SESSIONS + 1):
        clock.add(as_loop, lambda number=number: number)
    loop.advance()
    assert reads.is_active
    reads.hold(lambda: released.append(loop.now))
    for _ in range(5):
        loop.advance(1.1 * LONGEST_PAUSE)
    assert len(released) == 1
    assert not reads.is_active


async def test_many_streams_over_sockets_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More sessions than few stream at once from a real server; their reads and commits are shared."""
    _fix_pause(monkeypatch, LONGEST_PAUSE)  # as on a full core
    answers = {f"agent{number}": [f"{number}:{piece} " for piece in range(40)] for number in range(8)}
    shared = 0

    def reply(request: ReceivedRequest) -> Reply:
        pieces = answers[request.body["model"]]
        stream = [sse_event({"choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces]
        body: list[bytes | Pause] = []
        for event in stream:
            body += (event, Pause(0.004))
        end = sse_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + b"data: [DONE]\n\n"
        return Reply([*body, end])

    async def run(name: str, url: str) -> None:
        nonlocal shared
        model = heald.Model(name, wire="chat", base_url=url, api_key="k", provider="test")
        info = await Sessions(store).create()
        seen: list[Event] = []
        async with await Sessions(store).open(info.id, model=model) as session:
            session.subscribe(seen.append)
            result = await session.run("Go.")
        log = await log_of(store, info.id)
        deltas = [event.data.text for event in log if isinstance(event.data, TextDelta)]
        assert result.text == "".join(deltas) == "".join(answers[name])
        assert seen == log
        assert check_log(log) == []
        shared += len(deltas) < len(answers[name])

    store = SqliteStore(tmp_path / "sessions.db")
    async with ScriptedServer(reply) as server:
        await asyncio.gather(*(run(name, server.url) for name in answers))
    await store.close()
    assert shared, "no stream was read together with others"
    loop = asyncio.get_running_loop()
    next_commit = asyncio.Event()
    clock_of(loop).add(loop, next_commit.set)
    await next_commit.wait()
    assert not shared_reads(loop).is_active, "one session is few"


async def test_the_sessions_of_a_loop_share_a_clock() -> None:
    loop = asyncio.get_running_loop()
    assert clock_of(loop) is clock_of(loop)


async def test_a_delta_that_a_reactor_wants_is_stored_at_once(recording: Recording) -> None:
    seen: list[Event] = []
    recording.bus.subscribe(seen.append, types=["text_delta"])
    recording.publish_delta()
    assert seen == []
    await _work()
    assert seen == await log_of(recording.store, "ses_a")
    assert len(seen) == 1


async def test_a_delta_that_nobody_wants_waits_for_the_next_event_with_structure(recording: Recording) -> None:
    recording.bus.subscribe(lambda _: None, types=["exchange_response"])
    for _ in range(5):
        recording.publish_delta()
        await _work()
    assert recording.store.commits == []
    recording.bus.publish(ConversationStart())
    await _work()
    assert recording.store.commits == [["text_delta"] * 5 + ["conversation_start"]]


async def test_the_readers_of_a_hub_decide_whether_deltas_wait(recording: Recording) -> None:
    hub = EventHub("ses_a")
    recording.recorder.on_stored(hub.add, lambda: hub.readers > 0)
    recording.publish_delta()
    await _work()
    assert recording.store.commits == []
    await recording.recorder.flush()
    reader = hub.subscribe()
    recording.publish_delta()
    await _work()
    assert recording.store.commits == [["text_delta"], ["text_delta"]]
    assert [entry.event.seq for entry in hub.read(reader) or ()] == [2]


async def test_deltas_that_come_during_a_commit_share_the_next_one(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fix_pause(monkeypatch, 0.0)
    recording.bus.subscribe(lambda _: None)
    recording.store.free.clear()
    for _ in range(7):
        recording.publish_delta()
        await _work()
    assert recording.store.commits == [["text_delta"]]
    recording.store.free.set()
    await _work()
    assert recording.store.commits == [["text_delta"], ["text_delta"] * 6]


async def test_the_first_delta_of_a_block_waits_for_no_pause(recording: Recording) -> None:
    recording.bus.subscribe(lambda _: None)
    recording.publish_delta()
    await _work()
    recording.bus.publish_all([TextContentBlockStart(1, "b"), ConversationResponding()])
    await _work()
    recording.publish_delta()  # in a read of its own
    await _work()
    recording.publish_delta()
    await _work()
    started = ["text_content_block_start", "conversation_responding"]
    assert recording.store.commits == [["text_delta"], started, ["text_delta"]]


async def test_the_first_delta_that_nobody_wants_waits(recording: Recording) -> None:
    recording.bus.publish(TextContentBlockStart(0, "b"))
    await _work()
    recording.publish_delta()
    await _work()
    assert recording.store.commits == [["text_content_block_start"]]


async def test_watched_deltas_within_a_pause_wait_for_its_end_or_for_an_event_with_structure(
    recording: Recording,
) -> None:
    recording.bus.subscribe(lambda _: None)
    for _ in range(4):
        recording.publish_delta()
        await _work()
    assert recording.store.commits == [["text_delta"]]
    recording.bus.publish(ConversationStart())
    await _work()
    assert recording.store.commits[1:] == [["text_delta"] * 3 + ["conversation_start"]]


async def test_every_store_of_a_session_is_measured_from_its_begin_to_its_end(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = _watch_stores(monkeypatch)
    recording.store.free.clear()
    recording.bus.publish(ConversationStart())
    await _work()
    assert stores == ["begin"]
    recording.store.free.set()
    await _work()
    assert stores == ["begin", "end"]


async def test_deltas_that_sqlite_stores_are_measured_from_begin_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = _watch_stores(monkeypatch)
    store = SqliteStore(tmp_path / "sessions.db")
    info = await Sessions(store).create()
    model = ScriptedModel(["Hello there, all of you."], piece=2, pause=0.001)
    async with await Sessions(store).open(info.id, model=model) as session:
        session.subscribe(lambda _: None)
        await session.run("Go.")
    await store.close()
    assert stores == ["begin", "end"] * (len(stores) // 2)
    assert stores


async def test_a_session_that_only_runs_does_not_count_as_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a session wants every delta itself: else all commits of the server would be small."""
    monkeypatch.setattr("heald.sessions.recorder.DELAY", NEVER)
    _fix_pause(monkeypatch, 0.0)
    store = CountingStore()
    info = await Sessions(store).create()
    model = ScriptedModel(["Hello there, all of you."], piece=2, pause=0.001)
    async with await Sessions(store).open(info.id, model=model) as session:
        await session.run("Go.")
    deltas = [types.count("text_delta") for types in store.commits if "text_delta" in types]
    assert sum(deltas) == 12
    assert len(deltas) <= 2, "the first one may be stored with the events before it"
