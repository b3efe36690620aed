"""Sessions: stored before seen, and the same after a restart."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

import heald
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.core.json import JsonObject
from heald.core.messages import Image, ToolResult, user_message
from heald.sessions.leases import Lease
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store_errors import Fenced, SessionBusy, StoreFull, StoreLocked
from heald.sessions.work import Work
from heald_check import check_log
from sessions_bench import call, fresh, log_of, look, model, types_of


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", patience=0.2)
    yield store
    await store.close()


class Batches(MemoryStore):
    """Remembers what was appended together."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []

    async def append(
        self,
        lease: Lease,
        events: Sequence[Event],
        blobs: Mapping[str, bytes] | None = None,
        *,
        work: Work | None = None,
    ) -> None:
        await super().append(lease, events, blobs, work=work)
        self.batches.append(types_of(events))


# --- storing ---------------------------------------------------------------------------------------------------------


async def test_an_event_is_stored_before_it_is_seen(store: SqliteStore, tmp_path: Path) -> None:
    session = await Session.open(
        store, await fresh(store), model=model(["Let me see. ", call("look", n=1)], "I saw it."), tools=[look]
    )
    other = sqlite3.connect(tmp_path / "s.db")
    seen: list[int] = []

    def check(event: Event) -> None:
        assert other.execute("SELECT max(seq) FROM events").fetchone()[0] >= event.seq
        seen.append(event.seq)

    subscription = session.subscribe(check)
    await session.run("Go.")
    assert subscription.failures == 0
    assert seen == list(range(1, session.last_seq + 1))
    await session.close()
    other.close()


async def test_a_turn_is_one_transaction_and_deltas_ride_along() -> None:
    store = Batches()
    session = await Session.open(
        store, await fresh(store), model=model(["Let me see. " * 50, call("look", n=1)], "I saw it."), tools=[look]
    )
    await session.run("Go.")
    await session.close()
    for kinds in store.batches:
        assert ("message_stop" in kinds) == ("assistant_message" in kinds)
        assert ("tool_completed" in kinds) == ("tool_result" in kinds)
        assert kinds.count("tool_call") == kinds.count("tool_planned")
    deltas = sum(kinds.count("text_delta") for kinds in store.batches)
    alone = sum(set(kinds) == {"text_delta"} for kinds in store.batches)
    assert deltas > 50
    assert alone <= deltas / 4


async def test_a_delta_is_stored_before_it_is_seen(store: SqliteStore) -> None:
    """And seen while the model still writes: those after it are not stored yet."""
    slow = heald.testing.ScriptedModel(["word " * 40], piece=5, pause=0.02)
    session = await Session.open(store, await fresh(store), model=slow)
    ahead = [
        (await store.info(session.session)).last_seq - event.seq
        async for event in session.stream("Go.")
        if event.type == "text_delta"
    ]
    assert len(ahead) == 40
    assert min(ahead) == 0
    await session.close()


async def test_a_tool_runs_only_when_its_start_is_stored(store: SqliteStore, tmp_path: Path) -> None:
    stored: list[list[str]] = []

    @heald.tool
    async def peek() -> str:
        """Look into the store."""
        with sqlite3.connect(tmp_path / "s.db") as other:
            rows = other.execute("SELECT json_extract(body, '$.type') FROM events ORDER BY seq").fetchall()
        other.close()
        stored.append([kind for (kind,) in rows])
        return ""

    session = await Session.open(store, await fresh(store), model=model([call("peek")], "Done."), tools=[peek])
    await session.run("Go.")
    assert stored[0][-1] == "tool_executing"
    assert "assistant_message" in stored[0]
    await session.close()


async def test_a_result_is_reported_when_it_is_stored(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("Hello."))
    await session.run("Hi.")
    assert types_of(await log_of(store, name))[-1] == "exchange_response"
    await session.close()


async def test_disconnecting_a_stream_cancels(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=heald.testing.ScriptedModel(["word " * 500], pause=0.002))
    stream = session.stream("Go.")
    async for event in stream:
        if event.type == "text_delta":
            break
    await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    await session.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert isinstance(log[-1].data, ExchangeResponse)
    assert log[-1].data.status == "cancelled"


# --- after a restart -------------------------------------------------------------------------------------------------


async def test_the_conversation_goes_on(store: SqliteStore) -> None:
    name = await fresh(store)
    first = await Session.open(store, name, model=model([call("look", n=1)], "One."), tools=[look])
    await first.run(user_message("Go.", Image(data="QUJD" * 100_000)))
    before = first.messages
    await first.close()
    script = model([call("look", n=2)], "Two.")
    second = await Session.open(store, name, model=script, tools=[look])
    assert second.messages == before
    assert (second.epoch, second.last_seq) == (2, (await store.info(name)).last_seq)
    await second.run("More.")
    assert script.requests[0].messages[:-1] == before
    await second.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert {event.epoch for event in log} == {1, 2}
    assert "session_resumed" not in types_of(log)


async def test_the_same_request_is_the_same_exchange_after_a_restart(store: SqliteStore) -> None:
    name = await fresh(store)
    first = await Session.open(store, name, model=model("Once."))
    exchange = first.send("Go.", client_request_id="r1")
    result = await exchange.result()
    await first.close()
    second = await Session.open(store, name, model=model("Twice."))
    again = second.send("Go.", client_request_id="r1")
    told = await again.result()
    assert (again.id, told.text, told.status, told.usage) == (exchange.id, "Once.", "completed", result.usage)
    await second.close()
    assert types_of(await log_of(store, name)).count("exchange_request") == 1


async def test_a_project_regains_its_files_and_revisions_go_on(store: SqliteStore) -> None:
    name = await fresh(store, tools=["files"])
    write = [call("write_file", path="a.txt", content="one\n"), call("write_file", path="b.txt", content="b\n")]
    patch = "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\n"
    first = await Session.open(store, name, model=model(write, [call("apply_patch", patch=patch)], "Done."))
    await first.run("Go.")
    await first.close()
    second = await Session.open(store, name, model=model([call("write_file", path="a.txt", content="two\n")], "Done."))
    assert second.workspace.read("a.txt") == b"one\n"
    assert not second.workspace.exists("b.txt")
    result = await second.run("Go.")
    assert result.files == {"a.txt": "two\n"}
    assert [change.revision for change in second.workspace.revisions("a.txt")] == [1, 2]
    assert second.workspace.content_at("a.txt", 1) == b"one\n"
    assert check_log(await log_of(store, name), content_at=second.workspace.content_at) == []
    await second.close()


async def test_revisions_of_a_folder_go_on(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    name = await fresh(store, tools=["files"], workspace=str(tmp_path / "work"))
    for content in ("one\n", "two\n"):
        script = model([call("write_file", path="a.txt", content=content)], "Done.")
        session = await Session.open(store, name, model=script)
        await session.run("Go.")
        await session.close()
    assert (tmp_path / "work" / "a.txt").read_text() == "two\n"
    assert check_log(await log_of(store, name)) == []


async def test_settings_are_kept(store: SqliteStore) -> None:
    name = await fresh(store, tools=["files"], instructions="Be brief.", permissions="read-only", temperature=0.5)
    script = model([call("write_file", path="a.txt", content="x")], "Done.")
    session = await Session.open(store, name, model=script)
    await session.run("Go.")
    assert "Be brief." in script.requests[0].settings.system
    assert script.requests[0].settings.temperature == 0.5
    assert session.workspace.files() == {}
    await session.configure(instructions="Be long.", temperature=None)
    await session.close()
    script = model("Hello.")
    session = await Session.open(store, name, model=script)
    await session.run("Hi.")
    assert "Be long." in script.requests[0].settings.system
    assert script.requests[0].settings.temperature is None
    await session.close()


async def test_settings_that_stay_as_they_are_are_not_stored(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await Session.open(store, await fresh(store), model=model("Hello."))
    stored: list[JsonObject] = []
    configure = store.configure

    async def count(name: str, settings: JsonObject) -> None:
        stored.append(settings)
        await configure(name, settings)

    monkeypatch.setattr(store, "configure", count)
    await session.set_client_tools([])
    assert stored == []
    await session.configure(instructions="Be long.")
    assert [settings["instructions"] for settings in stored] == ["Be long."]
    await session.close()


async def test_settings_that_make_no_sense(store: SqliteStore) -> None:
    with pytest.raises(ConfigurationError, match="settings"):
        await fresh(store, permissions="everything")


@pytest.mark.parametrize(
    ("prompt", "title"),
    [("  Build a\n page ", "Build a page"), ("word " * 40, "word " * 15 + "word…"), ("x" * 80, "x" * 80)],
)
async def test_the_first_request_is_the_title(store: SqliteStore, prompt: str, title: str) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two."))
    await session.run(prompt)
    await session.run("Another.")
    await session.close()
    assert (await store.info(name)).title == title


# --- one writer ------------------------------------------------------------------------------------------------------


async def test_a_session_is_opened_once(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("Hi."))
    with pytest.raises(SessionBusy):
        await Session.open(store, name, model=model("Hi."))
    await session.close()
    await (await Session.open(store, name, model=model("Hi."))).close()


async def test_anyone_who_is_replaced_can_state_no_more(store: SqliteStore) -> None:
    name = await fresh(store)
    old = await Session.open(store, name, model=heald.testing.ScriptedModel(["word " * 200, "More."], pause=0.002))
    shown_seqs: list[int] = []
    old.subscribe(lambda event: shown_seqs.append(event.seq))
    running, waiting = old.send("Go."), old.send("And then?")
    while not shown_seqs:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    new = await Session.open(store, name, after_crash="close", model=model("Then this.", "Mine."), force=True)
    for exchange in (running, waiting):
        with pytest.raises(Fenced, match="opened elsewhere"):
            await exchange.result()
    assert [exchange.id for exchange in new.resumed] == [waiting.id]
    assert (await new.resumed[0].result()).text == "Then this."
    with pytest.raises(Fenced):
        old.send("Again.")
    await new.run("Hi.")
    await new.close()
    await old.close()
    log = await log_of(store, name)
    assert check_log(log) == []
    assert max(shown_seqs) <= next(event.seq for event in log if event.type == "session_resumed")


async def test_opening_in_vain_keeps_it_free(store: SqliteStore) -> None:
    name = await fresh(store)
    with pytest.raises(ConfigurationError, match="names no model"):
        await Session.open(store, name)
    await (await Session.open(store, name, model=model("Hi."))).close()


async def test_a_session_has_no_loop_of_its_own(store: SqliteStore) -> None:
    session = await Session.open(store, await fresh(store), model=model("Hi."))
    with pytest.raises(ConfigurationError, match="event loop"):
        session.run_sync("Hi.")
    await session.close()


# --- a store that fails ----------------------------------------------------------------------------------------------


async def limit_pages(store: SqliteStore, more: int) -> None:
    def job(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + more}").fetchone()

    await store._write(job)  # pyright: ignore[reportPrivateUsage]


async def drained(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


@pytest.mark.parametrize("how", ["run", "stream"])
async def test_a_full_disk_ends_the_exchange_and_what_was_seen_is_stored(store: SqliteStore, how: str) -> None:
    name = await fresh(store)
    script = heald.testing.ScriptedModel([["word " * 3000, call("look", n=1)], "Done."], piece=20)
    session = await Session.open(store, name, model=script, tools=[look])
    delivered: list[Event] = []
    session.subscribe(delivered.append)
    await limit_pages(store, 8)
    with pytest.raises(StoreFull, match="make room"):
        await (session.run("Go.") if how == "run" else drained(session.stream("Go.")))
    with pytest.raises(StoreFull):
        await session.run("Again.")
    await session.close()
    assert delivered == await log_of(store, name)
    assert "tool_executing" not in types_of(delivered)
    await limit_pages(store, 100_000)
    again = await Session.open(store, name, after_crash="close", model=model("Better."))
    assert (await again.run("Go on.")).text == "Better."
    await again.close()
    log = await log_of(store, name)
    assert log[: len(delivered)] == delivered
    assert check_log(log) == []


async def test_a_locked_database_ends_the_exchange(store: SqliteStore, tmp_path: Path) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("Hello."))
    other = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLocked, match="locked"):
        await session.run("Go.")
    other.execute("ROLLBACK")
    other.close()
    await session.close()
    again = await Session.open(store, name, model=model("Hello."))
    assert (await again.run("Go.")).completed
    await again.close()


# --- back, anew, apart -----------------------------------------------------------------------------------------------


async def test_rewind_and_reset(store: SqliteStore) -> None:
    name = await fresh(store)
    session = await Session.open(store, name, model=model("One.", "Two.", "Three.", "Four."))
    await session.run("First.")
    mark, then = session.last_seq, session.messages
    await session.run("Second.")
    await session.rewind(mark)
    assert session.messages == then
    await session.run("Third.")
    assert [message.text for message in session.messages] == ["First.", "One.", "Third.", "Three."]
    with pytest.raises(HealdError, match="inside an exchange"):
        await session.rewind(mark - 2)
    with pytest.raises(HealdError, match="there is no 9999"):
        await session.rewind(9999)
    now = session.messages
    await session.close()
    session = await Session.open(store, name, model=model("Five."))
    assert session.messages == now
    await session.reset()
    await session.run("Anew.")
    assert [message.text for message in session.messages] == ["Anew.", "Five."]
    await session.close()
    assert check_log(await log_of(store, name)) == []


async def test_nothing_is_rewound_while_an_exchange_runs(store: SqliteStore) -> None:
    session = await Session.open(store, await fresh(store), model=model("One."))
    exchange = session.send("Go.")
    with pytest.raises(HealdError, match="exchange runs"):
        await session.rewind(0)
    await exchange.result()
    await session.close()


async def test_fork_at_every_event(store: SqliteStore) -> None:
    name = await fresh(store, tools=["files"], title="The first")
    write = [call("write_file", path="a.txt", content="one\n"), call("read_file", path="nowhere")]
    session = await Session.open(store, name, model=model(["Well. ", *write], "Done.", "More."))
    await session.run("Go.")
    await session.run("On.")
    await session.close()
    log, sessions = await log_of(store, name), Sessions(store)
    for at in range(len(log) + 1):
        fork = await sessions.fork(name, at)
        assert (fork.parent, fork.title, fork.epoch) == (name, "The first", 2)
        assert fork.parent_seq is not None
        assert fork.parent_seq <= at
        copied = await log_of(store, fork.id)
        assert check_log(copied) == []
        assert [e.data for e in copied[: fork.parent_seq]] == [e.data for e in log[: fork.parent_seq]]
        assert {event.session for event in copied} <= {fork.id}
    whole = await sessions.fork(name)
    other = await sessions.open(whole.id, model=model([call("write_file", path="a.txt", content="two\n")], "Done."))
    await other.run("Differently.")
    assert other.workspace.files() == {"a.txt": "two\n"}
    await other.close()
    assert check_log([*await log_of(store, whole.id), *log]) == []
    assert await log_of(store, name) == log
    with pytest.raises(HealdError, match="to fork at"):
        await sessions.fork(name, len(log) + 1)


async def test_recover_closes_what_dead_writers_left(store: SqliteStore) -> None:
    sessions = Sessions(store)
    name, quiet = await fresh(store), await fresh(store)
    for session_id, keep in ((name, 8), (quiet, 99)):
        source = await Session.open(store, session_id, model=model("Hello there."))
        await source.run("Go.")
        await source.close()
        log = (await log_of(store, session_id))[:keep]
        await store.delete(session_id)
        await sessions.create(session=session_id)
        lease = await store.acquire(session_id, "elsewhere/1/1/x", seconds=0.0)
        await store.append(lease, log, work="running")
    assert await sessions.recover() == [name]
    assert await sessions.recover() == []
    for session_id in (name, quiet):
        assert check_log(await log_of(store, session_id)) == []


# --- what agents do besides ------------------------------------------------------------------------------------------


async def test_an_agent_that_works_for_a_session_is_received_in_its_place(store: SqliteStore) -> None:
    helper = heald.Agent(model([call("look", n=7)], "Seven."), tools=[look]).as_tool("helper", "Helps.")
    name = await fresh(store)
    session = await Session.open(store, name, model=model([call("helper", prompt="Look.")], "Done."), tools=[helper])
    heard = await drained(session.stream("Go."))
    await session.close()
    assert check_log(heard) == []
    assert [event for event in heard if event.session == name] == await log_of(store, name)
    theirs = [number for number, event in enumerate(heard) if event.session != name]
    kinds = [event.type if event.session == name else "" for event in heard]
    assert kinds.index("tool_executing") < theirs[0] < theirs[-1] < kinds.index("tool_result")


async def test_anyone_who_decides_is_asked_after_the_question_is_stored(store: SqliteStore) -> None:
    name = await fresh(store, permissions="ask")

    @heald.tool(effect="write")
    async def change() -> str:
        """Change it."""
        return "changed"

    async def decide(request: object) -> bool:
        assert (await store.info(name)).last_seq >= 1
        assert types_of(await log_of(store, name))[-1] == "approval_requested"
        return True

    session = await Session.open(
        store, name, model=model([call("change")], "Done."), tools=[change], on_approval=decide
    )
    result = await session.run("Go.")
    await session.close()
    assert [block.status for block in result.messages[2].content if isinstance(block, ToolResult)] == ["ok"]
    assert check_log(await log_of(store, name)) == []


async def test_a_cancel_is_prompt_and_stored(store: SqliteStore) -> None:
    name = await fresh(store)

    @heald.tool
    async def forever() -> str:
        """Wait."""
        await asyncio.sleep(3600)
        return ""

    session = await Session.open(store, name, model=model([call("forever")], "Done."), tools=[forever])
    exchange = session.send("Go.")
    started = asyncio.Event()
    session.subscribe(lambda _: started.set(), types=["tool_executing"])
    await asyncio.wait_for(started.wait(), 60)
    session.cancel("Enough.")
    async with asyncio.timeout(60):
        assert (await exchange.result()).status == "cancelled"
    assert types_of(await log_of(store, name))[-1] == "exchange_response"
    await session.close()
    assert check_log(await log_of(store, name)) == []


async def test_a_suspended_session_keeps_its_queue_to_the_next_writer(tmp_path: Path):
    store = SqliteStore(tmp_path / "s.db")
    sessions = Sessions(store)
    info = await sessions.create(model="scripted/x")
    slow = heald.testing.ScriptedModel(
        ["One, slowly, in many pieces, so that the second has to wait."], piece=1, pause=0.05
    )
    session = await sessions.open(info.id, model=slow)
    session.send("First.")
    waiting = session.send("Second.", client_request_id="second")
    await session.accepted(waiting)
    await session.suspend()
    with pytest.raises(HealdError, match="waits there"):
        await waiting.result()
    assert await store.claim_work(5) == [info.id]
    again = await sessions.open(info.id, model=heald.testing.ScriptedModel(["Two."]))
    await asyncio.gather(*(exchange.result() for exchange in again.resumed))
    await again.close()
    events = await log_of(store, info.id)
    assert not check_log(events)
    requests = [event.data for event in events if isinstance(event.data, ExchangeRequest)]
    assert [request.message.text for request in requests] == ["First.", "Second."]
    assert requests[1].client_request_id == "second"
    await store.close()
