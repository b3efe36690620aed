"""`heald check`: stored sessions, exported ones and files of events."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

import heald
from clean_machine import clean_machine
from cli_bench import run
from heald.core.envelope import Event
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from old_log import OLD_EXCHANGE, write_old_store

__all__ = ["clean_machine"]
Capture = pytest.CaptureFixture[str]


async def talk(file: Path) -> str:
    """Store a session with one exchange."""
    store = SqliteStore(file)
    info = await Sessions(store).create(title="A talk", model="scripted")
    session = await Session.open(store, info.id, model=heald.testing.ScriptedModel(["Hello."]))
    await session.run("Hi")
    await session.close()
    await store.close()
    return info.id


async def test_sessions_are_checked(tmp_path: Path, capsys: Capture) -> None:
    name = await talk(tmp_path / "sessions.db")
    ran = await run(capsys, "check", "--data", str(tmp_path))
    assert (ran.code, ran.out) == (0, "")
    assert "1 logs were checked; 0 have problems." in ran.err
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        connection.execute("UPDATE events SET body = X'00' WHERE seq = 3")
    connection.close()
    ran = await run(capsys, "check", name[:8], "--data", str(tmp_path), "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["log"] == name
    assert "damaged at event 3" in json.loads(ran.out)["problem"]


async def test_files_are_checked(tmp_path: Path, capsys: Capture) -> None:
    name = await talk(tmp_path / "sessions.db")
    exported = tmp_path / "talk.heald"
    assert (await run(capsys, "sessions", "export", name, "-o", str(exported), "--data", str(tmp_path))).code == 0
    lines = (await run(capsys, "sessions", "show", name, "--json", "--data", str(tmp_path))).out.splitlines()
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    whole.write_text("\n".join(lines))
    cut.write_text("\n".join([*lines[:2], *lines[3:]]))
    assert (await run(capsys, "check", str(exported), str(whole))).code == 0
    ran = await run(capsys, "check", str(cut))
    assert ran.code == 1
    assert ran.out.startswith(f"{cut}: I")


async def test_logs_of_an_earlier_version_are_checked(tmp_path: Path, capsys: Capture) -> None:
    lines, cut = tmp_path / "lines.jsonl", tmp_path / "cut.jsonl"
    lines.write_bytes(b"\n".join(OLD_EXCHANGE))
    ran = await run(capsys, "check", str(lines))
    assert (ran.code, ran.out) == (0, "")
    stop = next(at for at, line in enumerate(OLD_EXCHANGE) if b'"message_stop"' in line)
    cut.write_bytes(b"\n".join([*OLD_EXCHANGE[:stop], *OLD_EXCHANGE[stop + 1 :]]))
    ran = await run(capsys, "check", str(cut))
    assert (ran.code, "I20" in ran.out) == (1, True)
    await write_old_store(tmp_path / "sessions.db")
    ran = await run(capsys, "check", "--data", str(tmp_path))
    assert (ran.code, ran.out) == (0, "")


async def test_what_does_not_exist_is_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    ran = await run(capsys, "check", "nothing.jsonl", "--data", str(tmp_path))
    assert ran.code == 2
    assert ran.err.startswith("heald: There is no file 'nothing.jsonl'. ")
    (tmp_path / "text").write_text("no events")
    ran = await run(capsys, "check", str(tmp_path / "text"))
    assert ran.code == 2
    assert "line 1 is not an event" in ran.err


async def test_a_log_that_is_thinned_out_while_it_is_read_is_no_false_alarm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    info = await Sessions(store).create(model="scripted")
    model = heald.testing.ScriptedModel(["word " * 40], piece=5)
    session = await Session.open(store, info.id, model=model)
    await session.run("Go.")
    await session.close()
    await store.close()
    read_page = SqliteStore.read
    count = 0

    async def read(store: SqliteStore, session: str, *, after: int = 0, upto: int | None = None) -> Sequence[Event]:
        nonlocal count
        count += 1
        if count == 4:
            assert await store.thin_out(seconds=-1.0) == 1
        return await read_page(store, session, after=after, upto=upto, limit=5)

    monkeypatch.setattr(SqliteStore, "read", read)
    ran = await run(capsys, "check", "--data", str(tmp_path))
    assert (ran.code, ran.out) == (0, "")
    assert count > 20  # it was read a second time
