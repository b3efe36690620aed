"""Between the bus and those who listen."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from heald.agent.bus import EventBus
from heald.core.envelope import Event, is_event
from heald.core.events import (
    AssistantMessage,
    ConversationStart,
    ExchangeRequest,
    MessageStop,
    TextDelta,
    ToolPlanned,
)
from heald.core.json import encode
from heald.core.messages import Message, user_message
from heald.providers.scripted import ScriptedModel
from heald.sessions.delegate_logs import DelegateLogs
from heald.sessions.leases import Lease
from heald.sessions.memory import MemoryStore
from heald.sessions.recorder import EventRecorder
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import OnAppended
from heald.sessions.store_errors import StoreError, StoreFull
from heald.sessions.titles import make_title
from heald.sessions.work import Work
from heald_server.streams.event_hub import EventHub
from sessions_bench import event, leased, log_of, types_of


class Disk(MemoryStore):
    """A store that can be held up, and can be full."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()
        self.free.set()
        self.error: Exception | None = None

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> None:
        await self.free.wait()
        if self.error is not None:
            raise self.error
        await super().append(lease, events, blobs, work=work)


class SubmitDisk(Disk):
    """A disk that is asked to store without a task of the recorder."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: set[asyncio.Task[None]] = set()

    def submit_events(
        self,
        lease: Lease,
        events: Sequence[Event],
        on_done: OnAppended,
        *,
        blobs: Mapping[str, bytes] | None = None,
        work: Work | None = None,
        title: str = "",
    ) -> None:
        async def append() -> None:
            await self.append(lease, events, blobs, work=work)
            if title:
                await self.rename(lease.session, title, only_untitled=True)

        task = asyncio.get_running_loop().create_task(append())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda done: on_done(None, cast("Exception | None", done.exception())))


class Bench:
    def __init__(self, store: Disk, lease: Lease) -> None:
        self.store = store
        self.bus = EventBus("ses_a")
        self.failures: list[Exception] = []
        self.recorder = EventRecorder(
            store,
            lease,
            self.bus,
            titled=False,
            attach=lambda _: {},
            on_failure=self.failures.append,
            delegates=DelegateLogs(store, SessionInfo(id="ses_a")),
        )
        self.bus.attach_sink(self.recorder, seq=0, epoch=lease.epoch, now=0.0)
        self.seen: list[Event] = []
        self.bus.subscribe(self.seen.append)

    async def stored(self) -> list[str]:
        return types_of(await log_of(self.store, "ses_a"))


@pytest.fixture(params=[Disk, SubmitDisk])
async def bench(request: pytest.FixtureRequest) -> Bench:
    store: Disk = request.param()
    return Bench(store, await leased(store))


async def test_nothing_is_seen_before_it_is_stored(bench: Bench) -> None:
    bench.store.free.clear()
    bench.bus.publish(ConversationStart())
    await asyncio.sleep(0.02)
    assert bench.seen == []
    bench.store.free.set()
    await bench.recorder.flush()
    assert bench.seen == await log_of(bench.store, "ses_a")
    assert len(bench.seen) == 1


async def test_the_end_of_a_message_waits_for_the_message(bench: Bench) -> None:
    """However long the provider takes between them: half a turn is never stored."""
    bench.bus.publish(TextDelta(0, "b", "Hi"))
    bench.bus.publish(MessageStop("m"))
    await asyncio.sleep(0.1)
    assert await bench.stored() == ["text_delta"]
    bench.bus.publish_all([AssistantMessage(Message(role="assistant", content=[], id="m")), ToolPlanned("c", "t")])
    await bench.recorder.flush()
    assert await bench.stored() == ["text_delta", "message_stop", "assistant_message", "tool_planned"]
    assert types_of(bench.seen) == await bench.stored()


async def test_a_delta_alone_is_stored_soon(bench: Bench) -> None:
    bench.bus.publish(TextDelta(0, "b", "Hi"))
    await asyncio.sleep(0)
    assert await bench.stored() == []
    async with asyncio.timeout(60):
        while not bench.seen:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    assert await bench.stored() == ["text_delta"]


async def test_events_of_other_sessions_keep_their_place_and_are_not_stored(bench: Bench) -> None:
    bench.bus.publish(ConversationStart())
    bench.bus.relay(event("ses_child", 1))
    bench.bus.publish(ConversationStart())
    await bench.recorder.flush()
    assert [seen.session for seen in bench.seen] == ["ses_a", "ses_child", "ses_a"]
    assert len(await bench.stored()) == 2


async def test_when_it_fails_all_who_wait_are_reported(bench: Bench) -> None:
    told: list[Exception | None] = []
    bench.store.free.clear()
    bench.bus.publish(ConversationStart())
    bench.bus.call_when_delivered(told.append)
    await asyncio.sleep(0.01)  # the first batch is on its way
    bench.bus.publish(ConversationStart())
    bench.bus.call_when_delivered(told.append)
    waiting = asyncio.ensure_future(bench.recorder.flush())
    await asyncio.sleep(0)
    bench.store.error = StoreFull("Full.")
    bench.store.free.set()
    with pytest.raises(StoreFull):
        await waiting
    assert told == [bench.store.error, bench.store.error]
    bench.bus.publish(ConversationStart())
    bench.bus.call_when_delivered(told.append)
    assert told[2] is bench.store.error
    assert (bench.seen, bench.failures) == ([], [bench.store.error])
    with pytest.raises(StoreFull):
        await bench.recorder.flush()
    await bench.recorder.close()


async def test_a_fault_that_is_no_store_error_is_reported_as_one(bench: Bench) -> None:
    bench.store.error = RuntimeError("/home/somebody/secret")
    bench.bus.publish(ConversationStart())
    with pytest.raises(StoreError, match="RuntimeError") as raised:
        await bench.recorder.flush()
    assert "secret" not in str(raised.value)


async def test_the_first_request_names_the_session(bench: Bench) -> None:
    bench.bus.publish(ExchangeRequest(user_message("Paint it.")))
    await bench.recorder.flush()
    assert (await bench.store.info("ses_a")).title == "Paint it."
    assert make_title(user_message("")) == ""


async def test_an_event_is_encoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the store; a listener gets the same bytes."""
    encoded: list[Event] = []

    def counting(value: object) -> bytes:
        if is_event(value):
            encoded.append(value)
        return encode(value)

    for module in ("heald.sessions.event_codec", "heald_server.streams.event_hub"):
        monkeypatch.setattr(f"{module}.encode", counting)
    store = SqliteStore(tmp_path / "sessions.db", durable=False)
    name = (await Sessions(store).create(title="")).id
    hub = EventHub(name)
    reader = hub.subscribe()
    session = await Session.open(store, name, model=ScriptedModel(["Hello."]))
    session.on_stored(hub.add)
    await session.run("Hi.")
    await session.close()
    entries = hub.read(reader)
    assert entries is not None
    assert [entry.event for entry in entries] == encoded == await log_of(store, name)
    assert all(entry.json == encode(entry.event) for entry in entries)
    await store.close()


async def test_a_store_that_does_not_encode_gives_no_bytes(bench: Bench) -> None:
    stored: list[tuple[Event, bytes | None]] = []
    bench.recorder.on_stored(lambda event, json: stored.append((event, json)), lambda: True)
    bench.bus.publish(ConversationStart())
    await bench.recorder.flush()
    assert stored == [(bench.seen[0], None)]


async def test_the_end_of_a_batch_is_reported_once_and_after_its_events(bench: Bench) -> None:
    calls: list[str] = []
    bench.recorder.on_stored(lambda event, _: calls.append(event.type), lambda: True, lambda: calls.append("end"))
    bench.bus.publish_all([ConversationStart(), ToolPlanned("c", "t")])
    await bench.recorder.flush()
    assert calls == ["conversation_start", "tool_planned", "end"]


async def test_who_waits_for_a_batch_that_is_being_stored_is_told_once_of_a_failure(bench: Bench) -> None:
    told: list[Exception | None] = []
    bench.store.free.clear()
    bench.bus.publish(ConversationStart())
    bench.bus.call_when_delivered(told.append)
    await asyncio.sleep(0.02)
    bench.recorder.fail(StoreError("fenced"))
    bench.store.free.set()
    await asyncio.sleep(0.02)
    assert [str(error) for error in told] == ["fenced"]
