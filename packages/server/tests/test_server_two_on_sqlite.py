"""Two servers on one SQLite file: streams, commands, limits and files of a session work on either of them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import heald
from heald.core.envelope import Event
from heald.core.events import ExchangeResponse
from heald.sessions.settings import SessionSettings
from heald_check import check_log
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import S, Served, native_events, served

SLOW = "word " * 400


def _model() -> heald.testing.ScriptedModel:
    def reply(request: Any) -> Any:
        asked = next(message.text for message in request.messages if message.role == "user")
        turn = sum(message.role == "assistant" for message in request.messages)
        if asked.startswith("Write") and turn == 0:
            return [S.call("write_file", path="a.txt", content="hello\n")]
        if asked.startswith("Ask") and turn == 0:
            return [S.call("ask_user", question="Really?", suggestions=["yes", "no"])]
        return SLOW if asked.startswith("Slow") else "Done."

    return S([reply] * 50, piece=5, pause=0.01)


@asynccontextmanager
async def two_servers(folder: Path, **options: Any) -> AsyncGenerator[tuple[Served, Served]]:
    """A server that holds the sessions, and another one that is asked."""
    async with served(folder, _model, **options) as holder, served(folder, _model, **options) as other:
        yield holder, other


async def read_until(server: Served, session: str, kind: str) -> list[Event]:
    """The events of a session, live, up to one of a type."""
    events: list[Event] = []
    async with asyncio.timeout(120), server.client.get(f"/sessions/{session}/events?after=0") as stream:
        async for event in native_events(stream):
            events.append(event)
            if event.type == kind:
                return events
    raise AssertionError("the stream ended first")


async def post(server: Served, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    async with asyncio.timeout(120), server.client.post(path, json=body) as answer:
        return answer.status, await answer.json()


async def test_a_reader_elsewhere_gets_what_is_written_live(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (holder, other):
        session = await holder.session()
        reading = asyncio.create_task(read_until(other, session, "exchange_response"))
        await asyncio.sleep(0.3)
        await holder.send(session, "Slow.")
        await read_until(other, session, "text_delta")
        assert not reading.done()
        log = await reading
        assert [event.seq for event in log] == list(range(1, len(log) + 1))
        assert check_log(log) == []


async def test_a_message_a_steer_and_a_cancel_reach_the_holder(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (holder, other):
        session = await holder.session()
        await holder.send(session, "Slow.")
        await read_until(holder, session, "text_delta")
        status, queued = await post(other, f"/sessions/{session}/messages", {"text": "And then?"})
        assert (status, queued["state"]) == (202, "queued")
        steer = {"text": "Shorter.", "when_busy": "steer"}
        status, steered = await post(other, f"/sessions/{session}/messages", steer)
        assert (status, steered["state"]) == (202, "steered")
        assert await post(other, f"/sessions/{session}/cancel", {}) == (200, {"cancelled": True})
        ended = await other.ended(session, queued["exchange"])
        assert isinstance(ended.data, ExchangeResponse)
        assert ended.data.status == "completed"
        log = await other.log(session)
        assert check_log(log) == []
        assert [e.data.status for e in log if isinstance(e.data, ExchangeResponse)] == ["cancelled", "completed"]
        assert len({event.epoch for event in log}) == 1  # one writer did it all


async def test_an_approval_and_an_answer_reach_the_holder(tmp_path: Path) -> None:
    defaults = SessionSettings(permissions="ask", tools=["files", "ask_user"])
    async with two_servers(tmp_path, defaults=defaults) as (holder, other):
        session = await holder.session()
        await holder.send(session, "Write.")
        log = await read_until(other, session, "approval_requested")
        async with other.client.get(f"/sessions/{session}/pending") as answer:
            (waiting,) = (await answer.json())["approvals"]
        assert waiting["approval"] == log[-1].data.approval  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        status, _ = await post(other, f"/sessions/{session}/approvals/{waiting['approval']}", {"decision": "approve"})
        assert status == 200
        await read_until(other, session, "exchange_response")
        async with other.client.get(f"/sessions/{session}/files/a.txt") as answer:
            assert await answer.read() == b"hello\n"
        asking = await holder.session()
        await holder.send(asking, "Ask.")
        question = (await read_until(other, asking, "question_asked"))[-1].data.question  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        status, _ = await post(other, f"/sessions/{asking}/questions/{question}", {"answer": "yes"})
        assert status == 200
        await read_until(other, asking, "exchange_response")


async def test_an_idle_session_is_used_on_either_server(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (holder, other):
        session = await holder.session()
        for server in (holder, other, holder):
            accepted = await server.send(session, "Quick.")
            assert (await server.ended(session, accepted["exchange"])).data.status == "completed"  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        status, _ = await post(other, f"/sessions/{session}/rewind", {"seq": 0})
        assert status == 200
        async with other.client.patch(f"/sessions/{session}", json={"title": "Renamed"}) as answer:
            assert answer.status == 200, await answer.text()
        log = await holder.log(session)
        assert check_log(log) == []


@pytest.mark.parametrize("number", [1])
async def test_limits_hold_for_both_together(tmp_path: Path, number: int) -> None:
    settings = ServerSettings(port=0, limits=ServerLimits(exchanges=number))
    async with two_servers(tmp_path, settings=settings) as (holder, other):
        first, second = await holder.session(), await other.session()
        await holder.send(first, "Slow.")
        await read_until(other, first, "text_delta")
        await asyncio.sleep(1.1)  # what other servers use may be a second old
        status, body = await post(other, f"/sessions/{second}/messages", {"text": "Slow."})
        assert status == 429, body


async def test_a_server_that_stops_hands_its_exchange_to_the_other(tmp_path: Path) -> None:
    settings = ServerSettings(port=0, goodbye_seconds=0.0)
    async with served(tmp_path, _model, settings=settings) as other:
        async with served(tmp_path, _model, settings=settings) as holder:
            session = await holder.session()
            accepted = await holder.send(session, "Slow.")
            await read_until(other, session, "text_delta")
        ended = await other.ended(session, accepted["exchange"])
        assert isinstance(ended.data, ExchangeResponse)
        assert ended.data.status == "completed"
        log = await other.log(session)
        assert check_log(log) == []
        assert {"session_released", "session_resumed"} <= {event.type for event in log}
