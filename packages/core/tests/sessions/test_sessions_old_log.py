"""A log with the field names of version 0.1 is opened, folded, exported, checked and continued."""

import io
import json
from pathlib import Path

import heald
from heald.core.envelope import decode_event
from heald.core.events import ApprovalResolved, MessageStart
from heald.core.json import encode
from heald.sessions.history import read_history
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald_check import check_log
from old_log import OLD_ARCHIVE, OLD_EXCHANGE, OLD_LOG, write_old_store
from sessions_bench import log_of, model


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Changes."""
    return f"changed {what}"


RULES = heald.Permissions("auto", ["ask change"])


async def approve_the_open_call(sessions: Sessions, name: str) -> None:
    """Continue the open exchange to its end."""
    session = await sessions.open(name, model=model("Both are done."), tools=[change], permissions=RULES)
    (request,) = session.approvals
    assert (request.call_id, request.name) == (json.loads(OLD_LOG[-1])["data"]["call"], "change")
    assert session.current is not None
    session.approve(request.approval)
    result = await session.current.result()
    assert (result.status, result.text) == ("completed", "Both are done.")
    await session.close()


async def test_a_stored_log_is_continued(tmp_path: Path) -> None:
    name = await write_old_store(tmp_path / "s.db")
    store = SqliteStore(tmp_path / "s.db")
    state = (await read_history(store, name, SessionSettings())).state
    assert (state.status, [request.name for request in state.approvals.values()]) == ("waiting", ["change"])
    await approve_the_open_call(Sessions(store), name)
    log = await log_of(store, name)
    assert [encode(event) for event in log[: len(OLD_LOG)]] == [encode(decode_event(line)) for line in OLD_LOG]
    assert len([event for event in log if isinstance(event.data, ApprovalResolved)]) == 2
    assert check_log(log) == []
    await store.close()


async def test_an_export_has_the_present_names(tmp_path: Path) -> None:
    name = await write_old_store(tmp_path / "s.db")
    store = SqliteStore(tmp_path / "s.db")
    exported = [json.loads(line) async for line in Sessions(store).export(name)]
    starts = [line["data"] for line in exported if line.get("type") == "message_start"]
    assert starts
    assert all({*start} == {*MessageStart.__struct_fields__} for start in starts)
    await store.close()


async def test_an_old_archive_is_imported_and_continued() -> None:
    sessions = Sessions(MemoryStore())
    info = await sessions.import_from(io.BytesIO(OLD_ARCHIVE.read_bytes()))
    assert info.last_seq >= len(OLD_LOG)
    assert check_log(await log_of(sessions.store, info.id)) == []
    session = await sessions.open(info.id, model=model("Go on."), tools=[change])
    assert (await session.run("And now?")).text == "Go on."
    await session.close()
    assert check_log(await log_of(sessions.store, info.id)) == []


async def test_an_old_log_can_be_forked(tmp_path: Path) -> None:
    name = await write_old_store(tmp_path / "s.db")
    store = SqliteStore(tmp_path / "s.db")
    fork = await Sessions(store).fork(name, at=len(OLD_EXCHANGE))
    log = await log_of(store, fork.id)
    assert check_log(log) == []
    assert [event.data for event in log] == [decode_event(line).data for line in OLD_EXCHANGE]
    await store.close()
