"""A full disk and a locked database: one sentence with 503, nothing lost that was acknowledged, and it passes."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from heald_check.checker import check_log
from locking import locked
from serving_parts import S, Served, context_on, serving


def _talks() -> heald.testing.ScriptedModel:
    return S(["word " * 600, *["Better now."] * 50], piece=5, pause=0.002)


@asynccontextmanager
async def on(database: Path):
    store = SqliteStore(database, patience=0.3)
    async with serving(context_on(store, {"scripted": _talks})) as server:
        yield server


async def is_refused(answer: Any, folder: Path) -> None:
    """503, one sentence that says what to do, and nothing of this machine."""
    said = await answer.text()
    assert answer.status == 503, said
    assert int(answer.headers["Retry-After"]) >= 1
    message: str = loads(said)["error"]["message"]
    assert message.endswith(".")
    assert ";" in message
    assert "\n" not in message
    assert str(folder) not in said
    assert "Traceback" not in said


async def _stored(server: Served, session: str) -> list[int]:
    async with server.client.get(f"/sessions/{session}/log?limit=1000") as answer:
        assert answer.status == 200, await answer.text()
        return [event["seq"] for event in (await answer.json())["events"]]


async def _answered(server: Served, session: str) -> str:
    """Ask until it is taken, as a client would that was told to come back."""
    for _ in range(100):
        async with server.client.post(f"/sessions/{session}/messages", json={"text": "Go on."}) as answer:
            if answer.status == 202:
                return (await answer.json())["exchange"]
            assert answer.status in (409, 503), await answer.text()
        await asyncio.sleep(0.1)
    raise AssertionError("it does not recover")


async def _is_whole(server: Served, session: str, acknowledged: str, seqs: list[int]) -> None:
    last = await _answered(server, session)
    response = await server.ended(session, last)
    assert isinstance(response.data, ExchangeResponse)
    assert response.data.status == "completed"
    log = await server.log(session)
    assert not check_log(log)
    assert [event.seq for event in log][: len(seqs)] == seqs
    assert any(event.type == "exchange_request" and event.exchange == acknowledged for event in log)
    ends = [event.exchange for event in log if event.type == "exchange_response"]
    assert ends.count(acknowledged) == 1
    assert ends.count(last) == 1


async def test_a_database_that_another_process_keeps(tmp_path: Path) -> None:
    async with on(tmp_path / "s.db") as server:
        session = await server.session()
        accepted = await server.send(session)
        await asyncio.sleep(0.2)
        async with locked(tmp_path / "s.db"):
            seqs = await _stored(server, session)
            async with server.client.post("/sessions", json={}) as answer:
                await is_refused(answer, tmp_path)
            await asyncio.sleep(0.5)
            async with server.client.post(f"/sessions/{session}/messages", json={"text": "More."}) as answer:
                await is_refused(answer, tmp_path)
            async with server.client.post("/api/chat", json={"messages": [{"role": "user", "content": "x"}]}) as answer:
                await is_refused(answer, tmp_path)
            async with server.client.ws_connect("/ws") as socket:
                await socket.send_json({"type": "send", "session": session, "text": "More.", "id": 1})
                said = await socket.receive_json()
                assert said["error"]["code"] == "unavailable"
            for path in ("/health", "/sessions", f"/sessions/{session}", f"/sessions/{session}/messages"):
                async with server.client.get(path) as answer:  # who only reads waits for nobody
                    assert answer.status == 200, path
        await _is_whole(server, session, accepted["exchange"], seqs)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for sixteen megabytes: a log of writes grows to four before it is folded in."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def _fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


async def test_a_disk_that_is_full_in_the_middle_of_an_exchange(small_disk: Path) -> None:
    async with on(small_disk / "s.db") as server:
        session = await server.session()
        stream = await server.client.get(f"/sessions/{session}/events")
        accepted = await server.send(session)
        for _ in range(2):
            await stream.content.readany()
        _fill(small_disk / "ballast")
        seqs = await _stored(server, session)
        for _ in range(200):
            async with server.client.post(f"/sessions/{session}/messages", json={"text": "x" * 50_000}) as answer:
                if answer.status == 503:
                    await is_refused(answer, small_disk)
                    break
            await asyncio.sleep(0.02)
        else:
            raise AssertionError("nobody noticed that the disk is full")
        async with server.client.post("/sessions", json={"title": "y" * 400, "instructions": "z" * 100_000}) as answer:
            await is_refused(answer, small_disk)
        async with server.client.get("/health") as answer:
            assert answer.status == 200
        stream.close()
        (small_disk / "ballast").unlink()
        await _is_whole(server, session, accepted["exchange"], seqs)


async def test_what_was_stored_is_there_for_the_next_server(tmp_path: Path) -> None:
    async with on(tmp_path / "s.db") as server:
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
    async with on(tmp_path / "s.db") as server:
        assert (await _stored(server, session))[0] == 1
