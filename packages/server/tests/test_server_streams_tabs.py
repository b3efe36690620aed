"""Several clients on one session: all see the same, and what they ask is answered in turn."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from stream_readers import Copy, ReceivedFrame

import heald
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald.sessions.sqlite import SqliteStore
from heald_check.checker import check_log
from serving_parts import S, Served, context_on, served, serving


def _slow() -> heald.testing.ScriptedModel:
    turns = ["Word after word. " * 20, "The second. " * 4, "The third. " * 4, "The fourth.", "The fifth."]
    return S(turns, piece=4, pause=0.005)


async def _until_running(server: Served, session: str) -> None:
    async with asyncio.timeout(120):
        while (await server.store.info(session)).last_seq < 5:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def _exchanges(log: list[Any]) -> list[str]:
    return [event.exchange for event in log if isinstance(event.data, ExchangeRequest)]


def _statuses(log: list[Any]) -> list[str]:
    return [event.data.status for event in log if isinstance(event.data, ExchangeResponse)]


def _ends(count: int) -> Any:
    seen: set[str] = set()

    def enough(told: ReceivedFrame) -> bool:
        if told.json.get("type") == "exchange_response":
            seen.add(told.json["exchange"])
        return len(seen) == count

    return enough


async def test_tabs_see_the_same_events_and_requests_are_queued(tmp_path: Path) -> None:
    async with served(tmp_path, _slow) as server:
        session = await server.session()
        tabs = [Copy(server.client, session, over=over) for over in ("sse", "ws", "sse", "ws")]
        reading = [asyncio.create_task(tab.read(_ends(3))) for tab in tabs]
        first = await server.send(session, "One.")
        await _until_running(server, session)
        others = [await server.send(session, text) for text in ("Two.", "Three.")]
        async with asyncio.timeout(60):
            assert all(await asyncio.gather(*reading))
        log = await server.log(session)
        assert (first["state"], [other["state"] for other in others]) == ("started", ["queued", "queued"])
        assert _exchanges(log) == [accepted["exchange"] for accepted in (first, *others)]
        assert _statuses(log) == ["completed"] * 3
        assert not check_log(log)
        for tab in tabs:
            assert [told.json["id"] for told in tab.frames] == [event.id for event in log]


@pytest.mark.parametrize("over", ["rest", "ws"])
async def test_a_second_request_is_refused_steers_or_interrupts_as_it_states(over: str, tmp_path: Path) -> None:
    @heald.tool
    async def wait(word: str) -> str:
        """Wait a moment."""
        await asyncio.sleep(0.3)
        return word

    def model() -> heald.testing.ScriptedModel:
        return S([["Words. " * 30, S.call("wait", word="a")], "Steered. " * 20, "Last."], piece=4, pause=0.005)

    async with served(tmp_path, model, tools={"wait": wait}) as server:
        session = await server.session()
        async with server.client.ws_connect("/ws") as socket:

            async def ask(text: str, when_busy: str) -> dict[str, Any]:
                body = {"text": text, "when_busy": when_busy}
                if over == "rest":
                    async with server.client.post(f"/sessions/{session}/messages", json=body) as answer:
                        return await answer.json()
                await socket.send_json({"type": "send", "session": session, "id": text, **body})
                said = await socket.receive_json()
                assert said["id"] == text
                return said["result"] if said["type"] == "reply" else said

            first = await ask("One.", "queue")
            await _until_running(server, session)
            refused = await ask("Two.", "refuse")
            assert refused["error"]["code"] == "busy"
            steered = await ask("Mind this.", "steer")
            assert (steered["state"], steered["exchange"]) == ("steered", first["exchange"])
            async with asyncio.timeout(60):
                while b"Mind this." not in await _raw(server, session):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            last = await ask("Now!", "interrupt")
        assert last["exchange"] != first["exchange"]
        await server.ended(session, last["exchange"])
        log = await server.log(session)
        assert _exchanges(log) == [first["exchange"], last["exchange"]]
        assert _statuses(log) == ["cancelled", "completed"]
        assert not check_log(log)


async def _raw(server: Served, session: str) -> bytes:
    async with server.client.get(f"/sessions/{session}/messages") as answer:
        return await answer.read()


async def test_fifty_duplicates_over_both_wires_make_one_exchange_also_after_a_restart(tmp_path: Path) -> None:
    calls: list[str] = []

    @heald.tool
    async def effect(word: str) -> str:
        """Do it."""
        calls.append(word)
        return word

    def model() -> heald.testing.ScriptedModel:
        return S([["So. ", S.call("effect", word="once")], "Done.", "What else?"])

    async def submits(server: Served, session: str) -> list[dict[str, Any]]:
        async def over_ws() -> dict[str, Any]:
            async with server.client.ws_connect("/ws") as socket:
                command = {"type": "send", "session": session, "text": "Do it.", "client_request_id": "r1", "id": 1}
                await socket.send_json(command)
                return (await socket.receive_json())["result"]

        posts = [server.send(session, "Do it.", client_request_id="r1") for _ in range(25)]
        return list(await asyncio.gather(*posts, *(over_ws() for _ in range(25))))

    async def on(store: SqliteStore) -> Any:
        return context_on(store, {"scripted": model}, tools={"effect": effect})

    async with serving(await on(SqliteStore(tmp_path / "sessions.db"))) as server:
        session = await server.session()
        answers = await submits(server, session)
        assert len({answer["exchange"] for answer in answers}) == 1
        assert sorted(answer["state"] for answer in answers) == ["repeated"] * 49 + ["started"]
        await server.ended(session, answers[0]["exchange"])
    async with serving(await on(SqliteStore(tmp_path / "sessions.db"))) as server:
        later = await submits(server, session)
        assert {answer["exchange"] for answer in later} == {answers[0]["exchange"]}
        assert {answer["state"] for answer in later} == {"repeated"}
        log = await server.log(session)
    assert len(_exchanges(log)) == 1
    assert calls == ["once"]
    assert not check_log(log)


async def test_one_socket_receives_several_sessions_each_in_order(tmp_path: Path) -> None:
    async with served(tmp_path, _slow) as server:
        sessions = [await server.session() for _ in range(8)]
        heard: dict[str, list[str]] = {session: [] for session in sessions}
        open_ones = set(sessions)
        async with server.client.ws_connect("/ws") as socket:
            for session in sessions:
                await socket.send_json({"type": "subscribe", "session": session})
                await socket.send_json({"type": "send", "session": session, "text": "Go."})
            async with asyncio.timeout(60):
                while open_ones:
                    said = await socket.receive_json()
                    if "layer" not in said:
                        continue
                    heard[said["session"]].append(said["id"])
                    if said["type"] == "exchange_response":
                        open_ones.discard(said["session"])
            await socket.send_json({"type": "unsubscribe", "session": sessions[0], "id": "u"})
            assert (await socket.receive_json())["id"] == "u"
        for session in sessions:
            assert heard[session] == [event.id for event in await server.log(session)]
