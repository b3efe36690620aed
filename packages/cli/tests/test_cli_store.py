"""`heald store` and `heald check`, on SQLite and on PostgreSQL."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest

import heald
from heald.sessions.memory import MemoryStore
from heald.sessions.session import Session
from heald.sessions.sessions import Sessions
from heald.sessions.shared_store import SharedStore
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_copy import copy_sessions
from heald.sessions.stores import open_store
from heald_cli.main import main


async def talk(store: Store, *texts: str, owner: str = "") -> str:
    """A session with an exchange for each text."""
    info = await Sessions(store).create(title="A talk", owner=owner, model="scripted")
    session = await Session.open(
        store, info.id, model=heald.testing.ScriptedModel([f"Answer to {text}" for text in texts])
    )
    for text in texts:
        await session.run(text)
    await session.close()
    return info.id


async def fill(url: str) -> list[str]:
    store = open_store(url)
    names = [await talk(store, "One", "Two", owner="ann"), await talk(store, "Three")]
    await store.put_blob(names[0], b"a picture")
    assert isinstance(store, SharedStore)
    await store.put_record("secret", "previews", b"key")
    await store.close()
    return names


def damage(file: Path, session: str) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(
            "UPDATE events SET body = X'00' WHERE seq = 3 AND session = (SELECT key FROM sessions WHERE id = ?)",
            (session,),
        )
    connection.close()


def test_a_store_is_copied_whole(tmp_path: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"sqlite:///{tmp_path / 'a.db'}"
    names = asyncio.run(fill(source))
    assert main(["store", "copy", source, postgres_url]) == 0
    assert "2 sessions" in capsys.readouterr().out
    assert main(["store", "copy", source, postgres_url]) == 0
    assert "2 were there already" in capsys.readouterr().out
    asyncio.run(_compare(source, postgres_url, names))
    assert main(["store", "check", "--store", postgres_url, "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert (checked["sessions"], checked["damaged"]) == (2, {})
    assert main(["check", "--store", postgres_url]) == 0
    back = f"sqlite:///{tmp_path / 'b.db'}"
    assert main(["store", "copy", postgres_url, back]) == 0
    asyncio.run(_compare(source, back, names))


async def _compare(left: str, right: str, names: list[str]) -> None:
    source, target = open_store(left), open_store(right)
    for name in names:
        assert [event async for event in iterate_events(source, name)] == [
            event async for event in iterate_events(target, name)
        ]
        first, second = await source.info(name), await target.info(name)
        assert (first.owner, first.title, first.settings) == (second.owner, second.title, second.settings)
        assert (first.created, first.updated) == (second.created, second.updated)
        assert await source.list_blobs(name) == await target.list_blobs(name)
    assert [info.id for info in (await source.list()).sessions] == [info.id for info in (await target.list()).sessions]
    assert isinstance(target, SharedStore)
    assert await target.read_records("secret") == {"previews": b"key"}
    await source.close()
    await target.close()


def test_a_store_that_a_server_uses_is_not_copied(
    tmp_path: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = f"sqlite:///{tmp_path / 'a.db'}"
    asyncio.run(fill(source))

    async def copy_beside_a_server() -> int:
        server = open_store(postgres_url, node="shop")
        assert isinstance(server, SharedStore)
        try:
            await server.heartbeat(room=1)
            return await asyncio.to_thread(main, ["store", "copy", source, postgres_url])
        finally:
            await server.end_node()
            await server.close()

    assert asyncio.run(copy_beside_a_server()) == 2
    assert "A server (shop) uses" in capsys.readouterr().err
    assert main(["store", "copy", source, postgres_url]) == 0


def test_damaged_sessions_are_named_and_do_not_hide_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sessions.db"
    names = asyncio.run(fill(f"sqlite:///{file}"))
    damage(file, names[0])
    assert main(["store", "check", "--data", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "2 sessions" in captured.out
    assert f"{names[0]}: The log of the session is damaged at event 3" in captured.err
    assert main(["check", "--data", str(tmp_path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["log"] == names[0]
    assert main(["check", names[1], "--data", str(tmp_path)]) == 0
    assert main(["store", "copy", f"sqlite:///{file}", f"sqlite:///{tmp_path / 'copy.db'}"]) == 1
    captured = capsys.readouterr()
    assert "1 sessions" in captured.out
    assert names[0] in captured.err


def test_damaged_settings_do_not_hide_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sessions.db"
    names = asyncio.run(fill(f"sqlite:///{file}"))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE sessions SET settings = X'00' WHERE id = ?", (names[1],))
    connection.close()
    assert main(["sessions", "list", "--data", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in names)
    assert main(["check", "--data", str(tmp_path)]) == 1
    assert "settings of the session are damaged" in capsys.readouterr().out


def test_the_address_of_a_store_is_shown_without_its_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "copy", "mysql://heald:s3cret@db/heald", "memory:"]) == 2
    error = capsys.readouterr().err
    assert "There is no store 'mysql://heald@db/heald'" in error
    assert "s3cret" not in error


async def test_a_copy_that_was_interrupted_is_repeated() -> None:
    source, target = MemoryStore(), MemoryStore()
    first, second = await talk(source, "One"), await talk(source, "Two")
    await copy_sessions(source, target)
    await target.delete(second)
    result = await copy_sessions(source, target)
    assert (result.copied, result.existing) == (1, 1)
    assert [info.id for info in (await target.list()).sessions] == [second, first]


def test_a_damaged_file_is_named_by_check_and_by_doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sessions.db"
    asyncio.run(fill(f"sqlite:///{file}"))
    assert main(["store", "check", "--data", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == []
    with sqlite3.connect(file) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'spent'"
        (page,) = connection.execute(query).fetchone()
    connection.close()
    data = bytearray(file.read_bytes())
    data[(page - 1) * 4096 : (page - 1) * 4096 + 30] = b"\xa5" * 30
    file.write_bytes(data)
    assert main(["store", "check", "--data", str(tmp_path)]) == 1
    assert "damaged" in (text := capsys.readouterr().err)
    assert "put a backup in its place" in text
    assert main(["doctor", "--data", str(tmp_path), "--json"]) == 1
    [row] = [row for row in json.loads(capsys.readouterr().out)["findings"] if row["name"] == "sessions"]
    assert row["state"] == "wrong"
    assert "is damaged" in row["text"]


def test_a_lost_wal_is_named_by_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "sessions.db"
    asyncio.run(fill(f"sqlite:///{file}"))
    backup = file.read_bytes()
    asyncio.run(fill(f"sqlite:///{file}"))
    file.write_bytes(backup)
    assert main(["store", "check", "--data", str(tmp_path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["missing_commits"] > 2
    assert main(["store", "check", "--data", str(tmp_path)]) == 0
