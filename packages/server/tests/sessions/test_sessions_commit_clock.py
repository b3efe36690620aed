"""When deltas are stored: at once if somebody watches, together where they come together."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

import heald
from heald.agent.bus import EventBus
from heald.core.envelope import Event
from heald.core.events import ConversationStart, TextDelta
from heald.http1.shared_reads import shared_reads
from heald.providers.scripted import ScriptedModel
from heald.sessions.commit_clock import FEW_SESSIONS, PAUSE, CommitClock, clock_of
from heald.sessions.delegate_logs import DelegateLogs
from heald.sessions.leases import Lease
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
    monkeypatch.setattr("heald.sessions.commit_clock.PAUSE", NEVER)
    store = CountingStore()
    return Recording(store, await leased(store))


async def _work() -> None:
    """Let everything run that waits for no timer."""
    for _ in range(30):
        await asyncio.sleep(0)


def _clock() -> tuple[CommitClock, ManualLoop, asyncio.AbstractEventLoop]:
    loop = ManualLoop()
    return CommitClock(), loop, cast(asyncio.AbstractEventLoop, loop)


def test_after_a_pause_a_commit_begins_at_once() -> None:
    clock, loop, as_loop = _clock()
    commits: list[float] = []
    times: list[float] = []
    for _ in range(3):
        times.append(loop.now)
        clock.add(as_loop, lambda: commits.append(loop.now))
        assert len(commits) < len(times)
        loop.advance()
        loop.advance(2 * PAUSE)
    assert commits == times


def test_sessions_whose_deltas_come_within_a_pause_commit_together() -> None:
    clock, loop, as_loop = _clock()
    commits: list[tuple[str, float]] = []
    calls = {name: (lambda name=name: commits.append((name, loop.now))) for name in "abc"}
    clock.add(as_loop, calls["a"])
    loop.advance()
    for name in "bcb":  # twice is once
        clock.add(as_loop, calls[name])
    loop.advance(PAUSE / 2)
    assert commits == [("a", 100.0)]
    loop.advance(PAUSE)
    assert commits[1:] == [("b", loop.now), ("c", loop.now)]
    loop.advance(10 * PAUSE)
    assert len(commits) == 3


@pytest.mark.parametrize(("sessions", "pauses"), [(1, 1), (3, 1), (6, 2), (12, 4), (500, 4.5)])
def test_the_pause_grows_with_the_sessions_that_stream(sessions: int, pauses: float) -> None:
    clock, loop, as_loop = _clock()
    commits: list[float] = []
    for _ in range(sessions):
        clock.add(as_loop, lambda: None)
    loop.advance()
    clock.add(as_loop, lambda: commits.append(loop.now))
    loop.advance(0.9 * pauses * PAUSE)
    assert commits == []
    loop.advance(0.2 * pauses * PAUSE)
    assert len(commits) == 1


def test_streams_are_read_together_before_a_commit_while_many_sessions_take_part() -> None:
    clock, loop, as_loop = _clock()
    reads = shared_reads(as_loop)
    moments: list[str] = []
    for _ in range(FEW_SESSIONS + 1):
        clock.add(as_loop, lambda: None)
    loop.advance()
    assert reads.is_active
    reads.hold(lambda: moments.append("read"))
    loop.advance(2 * PAUSE)
    clock.add(as_loop, lambda: moments.append("commit"))  # what was read is part of the same commit
    for _ in range(3):
        assert moments == ["read"]
        loop.advance()
    assert moments == ["read", "commit"]
    assert not reads.is_active, "one session is few"


def test_streams_are_released_when_no_session_commits_any_more() -> None:
    clock, loop, as_loop = _clock()
    reads = shared_reads(as_loop)
    released: list[float] = []
    for _ in range(FEW_SESSIONS + 1):
        clock.add(as_loop, lambda: None)
    loop.advance()
    reads.hold(lambda: released.append(loop.now))
    for _ in range(5):
        loop.advance(2 * PAUSE)
    assert len(released) == 1
    assert not reads.is_active


async def test_many_streams_over_sockets_lose_nothing(tmp_path: Path) -> None:
    """More sessions than few stream at once from a real server; their reads and commits are shared."""
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
    assert not shared_reads(asyncio.get_running_loop()).is_active


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
    monkeypatch.setattr("heald.sessions.commit_clock.PAUSE", 0.0)
    recording.bus.subscribe(lambda _: None)
    recording.store.free.clear()
    for _ in range(7):
        recording.publish_delta()
        await _work()
    assert recording.store.commits == [["text_delta"]]
    recording.store.free.set()
    await _work()
    assert recording.store.commits == [["text_delta"], ["text_delta"] * 6]


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


async def test_a_session_that_only_runs_does_not_count_as_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a session wants every delta itself: else all commits of the server would be small."""
    monkeypatch.setattr("heald.sessions.recorder.DELAY", NEVER)
    monkeypatch.setattr("heald.sessions.commit_clock.PAUSE", 0.0)
    store = CountingStore()
    info = await Sessions(store).create()
    model = ScriptedModel(["Hello there, all of you."], piece=2, pause=0.001)
    async with await Sessions(store).open(info.id, model=model) as session:
        await session.run("Go.")
    deltas = [types.count("text_delta") for types in store.commits if "text_delta" in types]
    assert sum(deltas) == 12
    assert len(deltas) <= 2, "the first one may be stored with the events before it"
