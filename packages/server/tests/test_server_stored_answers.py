"""What a client decided, answered or sent is in the log when the server accepts it: a crash a moment later loses
nothing."""

import asyncio
from pathlib import Path
from time import sleep
from typing import Any

import pytest

import heald
from heald.core.events import ApprovalResolved, QuestionAnswered
from heald.core.messages import ToolResult
from heald.core.payload import Payload
from heald.sessions.database_thread import DatabaseThread
from heald.sessions.settings import SessionSettings
from serving_parts import S, Served, served

SLOW = 0.3
"""Seconds of a commit."""
WHERE = {"name": "where_am_i", "description": "Where the user is."}


@pytest.fixture
def slow_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    run_jobs: Any = vars(DatabaseThread)["_run"]

    def run_slowly(thread: Any, connection: Any, jobs: Any) -> Any:
        if vars(thread)["_writes"]:
            sleep(SLOW)
        return run_jobs(thread, connection, jobs)

    monkeypatch.setattr(DatabaseThread, "_run", run_slowly)


async def until_pending(server: Served, session: str, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            async with server.client.get(f"/sessions/{session}/pending") as answer:
                waiting = (await answer.json())[kind]
            if waiting:
                return waiting[0]
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("kind", "name", "path", "body", "payload"),
    [
        ("approvals", "approval", "approvals/{}", {"decision": "approve"}, ApprovalResolved),
        ("approvals", "approval", "approvals/{}", {"decision": "deny"}, ApprovalResolved),
        ("questions", "question", "questions/{}", {"answer": "Yes"}, QuestionAnswered),
        ("client_calls", "id", "tool_results", {"content": "Oslo"}, ToolResult),
    ],
    ids=["approve", "deny", "answer", "result"],
)
async def test_what_is_accepted_is_stored(
    kind: str, name: str, path: str, body: dict[str, Any], payload: type[Payload], slow_commits: None, tmp_path: Path
) -> None:
    calls = {
        "approvals": S.call("create_file", path="a.txt", content="a"),
        "questions": S.call("ask_user", question="Really?", suggestions=["Yes", "No"]),
        "client_calls": S.call("where_am_i"),
    }

    def model() -> heald.testing.ScriptedModel:
        return S([[calls[kind]], "Done."])

    settings = SessionSettings(permissions="ask", tools=["files", "ask"])
    async with served(tmp_path, model, defaults=settings) as server:
        session = await server.session(client_tools=[WHERE])
        exchange = (await server.send(session))["exchange"]
        waiting = await until_pending(server, session, kind)
        more = {"call_id": waiting[name]} if kind == "client_calls" else {}
        url = f"/sessions/{session}/{path.format(waiting[name])}"
        async with server.client.post(url, json={**body, **more}) as answer:
            assert answer.status == 200, await answer.text()
        stored = await server.log(session)
        assert any(isinstance(event.data, payload) for event in stored), stored[-1].type
        await server.ended(session, exchange)


async def test_a_decision_on_a_call_of_a_sub_agent_is_stored_too(slow_commits: None, tmp_path: Path) -> None:
    write = S.call("create_file", path="made.txt", content="one\n")
    helper = heald.Agent(S([[write], "Written."]), tools=["files"], permissions="ask").as_tool("helper", "Helps.")
    (tmp_path / "work").mkdir()
    options: dict[str, Any] = {"tools": {"helper": helper}, "workspaces": {"work": str(tmp_path / "work")}}
    async with served(tmp_path, lambda: S([[S.call("helper", prompt="Write it.")], "Done."]), **options) as server:
        session = await server.session(workspace="work", tools=["helper"], permissions="ask")
        exchange = (await server.send(session))["exchange"]
        for asked in ("helper", "create_file"):
            waiting = await until_pending(server, session, "approvals")
            assert waiting["name"] == asked
            url = f"/sessions/{session}/approvals/{waiting['approval']}"
            async with server.client.post(url, json={"decision": "approve"}) as answer:
                assert answer.status == 200, await answer.text()
        async with server.client.get(f"/sessions/{session}/delegates") as answer:
            (delegate,) = (await answer.json())["delegates"]
        stored = await server.log(delegate["session"])
        assert any(isinstance(event.data, ApprovalResolved) for event in stored), stored[-1].type
        await server.ended(session, exchange)
