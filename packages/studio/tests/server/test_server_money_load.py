"""M01 to M07: what a client may spend, and how much it may ask for at once."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

import heald
from heald.core.events import ExchangeResponse
from heald.core.turn import Usage
from heald.sessions.sqlite import SqliteStore
from heald_server.access.usage_meters import DAY, UsageMeters
from heald_server.http.errors import ApiError
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import OTHER, S, context_on, served, serving


def _settings(**limits: object) -> ServerSettings:
    return ServerSettings(port=0, limits=ServerLimits(**limits))  # type: ignore[arg-type]


@heald.tool
async def again(number: int) -> str:
    """Ask for more."""
    return f"{number} is not enough."


async def test_m01_a_model_that_never_ends_is_ended(tmp_path: Path) -> None:
    calls = 0

    def endless() -> heald.testing.ScriptedModel:
        def turn() -> list[object]:
            nonlocal calls
            calls += 1
            return [S.call("again", number=calls)]

        return S([turn() for _ in range(500)])  # type: ignore[arg-type]

    async with served(tmp_path, endless, tools={"again": again}) as server:
        session = await server.session()
        response = await server.ended(session, (await server.send(session))["exchange"])
        log = await server.log(session)
    assert isinstance(response.data, ExchangeResponse)
    assert response.data.status == "limit"
    assert response.data.turns == 20
    assert sum(event.type == "message_start" for event in log) == 20


async def test_m02_who_has_used_up_the_day_is_refused_and_others_are_not(tmp_path: Path) -> None:
    def costly() -> heald.testing.ScriptedModel:
        return S([["Dear.", S.stop("end_turn", Usage(input=10, output=10_000_000))]] * 3)

    async with served(tmp_path, costly, settings=_settings(tokens_per_day=100_000)) as server:
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
        messages = [{"role": "user", "content": "Hi."}]
        for path, body in (
            (f"/sessions/{session}/messages", {"text": "More."}),
            ("/api/chat", {"messages": messages}),
            ("/agui", {"threadId": "t", "runId": "r", "messages": messages}),
            ("/v1/chat/completions", {"messages": messages}),
        ):
            async with server.client.post(path, json=body) as answer:
                assert answer.status == 402, (path, await answer.text())
                assert int(answer.headers["Retry-After"]) > 3600
        async with server.client.ws_connect("/ws") as socket:
            await socket.send_json({"type": "send", "session": session, "text": "More.", "id": 1})
            assert (await socket.receive_json())["error"]["code"] == "budget"
        other = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.post("/api/chat", json={"messages": messages}, headers=other) as answer:
            assert answer.status == 200
            await answer.read()
        assert sum(event.type == "exchange_request" for event in await server.log(session)) == 1


def test_m02_a_day_is_a_day():
    now = [0.0]
    meters = UsageMeters(ServerLimits(usd_per_day=1.0), lambda: now[0])
    meters._usage_of("").spent.append((0.0, 5, 1.5))  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ApiError) as refused:
        meters.check_exchange("")
    assert refused.value.status == 402
    now[0] = DAY + 1
    meters.check_exchange("")


async def test_m04_two_hundred_at_once(tmp_path: Path) -> None:
    def slow() -> heald.testing.ScriptedModel:
        return S(["word " * 200], piece=5, pause=0.02)

    async with served(tmp_path, slow, settings=_settings(exchanges=10)) as server:
        sessions = [await server.session() for _ in range(40)]

        async def send_request(number: int) -> int:
            body = {"text": "Go."}
            async with server.client.post(f"/sessions/{sessions[number % 40]}/messages", json=body) as answer:
                if answer.status == 429:
                    assert int(answer.headers["Retry-After"]) >= 1
                return answer.status

        statuses = await asyncio.gather(*(send_request(number) for number in range(200)))
        assert sorted(set(statuses)) == [202, 429]
        assert statuses.count(202) == 10
        other = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.post("/sessions", json={}, headers=other) as answer:
            theirs = (await answer.json())["id"]
        async with server.client.post(f"/sessions/{theirs}/messages", json={"text": "x"}, headers=other) as answer:
            assert answer.status == 202
        for session in sessions:
            async with server.client.post(f"/sessions/{session}/cancel") as answer:
                assert answer.status == 200
        for _ in range(100):
            if server.context.open_sessions.busy <= 1:
                break
            await asyncio.sleep(0.05)
        await server.send(sessions[0])  # there is room again


async def test_m04_a_thousand_sessions(tmp_path: Path) -> None:
    async with served(tmp_path, settings=_settings(sessions_per_minute=50)) as server:
        made = refused = 0
        for number in range(120):
            path = "/sessions" if number % 2 else "/api/chat"
            body = {} if number % 2 else {"messages": [{"role": "user", "content": "Hi."}]}
            async with server.client.post(path, json=body) as answer:
                made += answer.status in (200, 201)
                refused += answer.status == 429
                if answer.status == 429:
                    assert int(answer.headers["Retry-After"]) >= 1
                await answer.read()
        assert (made, refused) == (50, 70)


async def test_m04_one_session_queues_so_many(tmp_path: Path) -> None:
    def slow() -> heald.testing.ScriptedModel:
        return S(["word " * 400] * 50, piece=5, pause=0.02)

    async with served(tmp_path, slow, settings=_settings(queue=3, exchanges=100)) as server:
        session = await server.session()
        statuses: list[int] = []
        for _ in range(8):
            async with server.client.post(f"/sessions/{session}/messages", json={"text": "x"}) as answer:
                statuses.append(answer.status)
        assert statuses == [202] * 4 + [429] * 4


async def test_m07_disconnecting_right_after_asking_loses_nothing_and_leaks_nothing(tmp_path: Path) -> None:
    async with served(tmp_path, lambda: S(["Hello."]), settings=_settings(exchanges=1000)) as server:
        sessions: set[str] = set()
        for number in range(100):
            body = {"messages": [{"role": "user", "content": f"{number}"}], "stream": True}
            path = ("/api/chat", "/v1/chat/completions")[number % 2]
            timeout = aiohttp.ClientTimeout(total=None)
            answer = await server.client.post(path, json=body, timeout=timeout)
            sessions.add(answer.headers["X-Heald-Session"])
            answer.close()
        for _ in range(200):
            if not server.context.open_sessions.busy:
                break
            await asyncio.sleep(0.05)
        assert server.context.open_sessions.busy == 0
        assert len(sessions) == 100
        for session in sessions:
            log = await server.log(session)
            assert log[-1].type == "exchange_response"
            assert log[-1].data.status == "completed"  # type: ignore[union-attr]
        for _ in range(100):
            if not server.context._streams:  # pyright: ignore[reportPrivateUsage]
                break
            await asyncio.sleep(0.05)
        assert not server.context._streams  # pyright: ignore[reportPrivateUsage]


async def test_m04_variants_count_one_by_one(tmp_path: Path):
    """A project asks for as many exchanges as it has variants."""
    settings = ServerSettings(port=0, limits=ServerLimits(exchanges=3))
    store = SqliteStore(tmp_path / "s.db", durable=False)
    context = context_on(store, {"scripted": lambda: S(["Hello."], pause=0.2)}, settings=settings)
    async with serving(context) as server:
        body = {"prompt": {"text": "A page."}, "stack": "html_css", "models": ["scripted"], "variants": 4}
        async with server.client.post("/projects", json=body) as answer:
            assert answer.status == 429
            assert "start fewer" in (await answer.json())["error"]["message"]
        async with server.client.post("/projects", json=body | {"variants": 3}) as answer:
            assert answer.status == 201
