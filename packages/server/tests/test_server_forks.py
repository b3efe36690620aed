"""Forks over HTTP: another model, prompt, result or approval, who decided it, and two sessions compared."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ApprovalResolved, AssistantMessage, ExchangeResponse, SessionForked
from heald.core.json import encode
from heald.core.messages import ToolResult
from heald.providers.scripted import ScriptedRequest
from heald_check.checker import check_log
from serving_parts import TOKEN, S, Served, served

WRITE = S.call("write_file", path="a.txt", content="x")


def answer(request: ScriptedRequest) -> Any:
    """Write a file first, then say what came of it."""
    last = request.messages[-1]
    results = [block for block in last.content if isinstance(block, ToolResult)]
    return f"Heard: {results[-1].text}" if results else [WRITE]


def writer() -> S:
    return S([answer] * 20)


async def post(server: Served, path: str, body: dict[str, Any], status: int = 201) -> dict[str, Any]:
    async with server.client.post(path, json=body) as response:
        assert response.status == status, await response.text()
        return await response.json() if response.content_type == "application/json" else {}


async def asked(server: Served, decision: str = "approve") -> tuple[str, list[Event]]:
    """A session in which a call was decided on, and its log."""
    session = await server.session(tools=["files"], permissions="ask")
    sent = await server.send(session, "Write it.")
    while not (waiting := await pending(server, session)):
        pass
    await post(server, f"/sessions/{session}/approvals/{waiting[0]}", {"decision": decision}, 200)
    await server.ended(session, sent["exchange"])
    return session, await server.log(session)


async def pending(server: Served, session: str) -> list[str]:
    async with server.client.get(f"/sessions/{session}/pending") as response:
        return [approval["approval"] for approval in (await response.json())["approvals"]]


def seq_of(log: list[Event], kind: type) -> int:
    return next(event.seq for event in log if isinstance(event.data, kind))


async def forked(server: Served, session: str, at: int, change: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    """A fork that has come to its end, and its log."""
    view = await post(server, f"/sessions/{session}/fork", {"at": at, "change": change})
    async with server.context.open_sessions.use(await server.context.sessions.store.info(view["id"])) as opened:
        for exchange in opened.resumed:
            await exchange.result()
        await opened.flush()
    log = await server.log(view["id"])
    assert check_log(log) == []
    return view, log


def bodies(log: list[Event], upto: int) -> list[bytes]:
    return [encode(msgspec.structs.replace(event, session="", id="")) for event in log[:upto]]


async def test_each_kind_of_change_continues_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, writer, owners={TOKEN: "ann"}) as server:
        session, log = await asked(server)
        at = seq_of(log, ToolResult)
        changes: list[tuple[dict[str, Any], str]] = [
            ({"result": {"content": "a lion"}}, "Heard: a lion"),
            ({"result": {"content": {"n": 1}, "is_error": True}}, 'Heard: {"n":1}'),
            ({"approval": {"decision": "deny", "reason": "Not today."}}, "Heard: The user did not allow this call."),
        ]
        for change, text in changes:
            view, after = await forked(server, session, at, change)
            assert (view["parent"], view["parent_seq"] < at) == (session, True)
            assert bodies(after, view["parent_seq"]) == bodies(log, view["parent_seq"])
            said = [event.data.message.text for event in after if isinstance(event.data, AssistantMessage)]
            assert said[-1].startswith(text)
            assert isinstance(after[-1].data, ExchangeResponse)
            made = next(event.data for event in after if isinstance(event.data, SessionForked))
            assert (made.by, made.changed) == ("ann", list(change))


async def test_a_changed_prompt_waits_for_its_approval_in_the_fork(tmp_path: Path) -> None:
    async with served(tmp_path, writer) as server:
        session, log = await asked(server)
        view = await post(server, f"/sessions/{session}/fork", {"at": len(log), "change": {"prompt": "Write again."}})
        assert view["parent_seq"] == 0
        assert view["busy"] is True
        while not (waiting := await pending(server, view["id"])):
            pass
        await post(server, f"/sessions/{view['id']}/approvals/{waiting[0]}", {"decision": "deny"}, 200)


async def test_who_decided_is_in_the_log(tmp_path: Path) -> None:
    for number, (owners, name) in enumerate((({TOKEN: "ann"}, "ann"), ({TOKEN: ""}, "operator"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with served(folder, writer, owners=owners) as server:
            for decision in ("approve", "deny"):
                _, log = await asked(server, decision)
                assert [event.data.by for event in log if isinstance(event.data, ApprovalResolved)] == [name]


async def test_two_sessions_are_compared(tmp_path: Path) -> None:
    async with served(tmp_path, writer) as server:
        session, log = await asked(server)
        change = {"approval": {"decision": "deny"}}
        view, _ = await forked(server, session, seq_of(log, ApprovalRequested), change)
        async with server.client.get(f"/sessions/{session}/compare/{view['id']}") as response:
            comparison = await response.json()
        assert comparison["shared"] == view["parent_seq"] == seq_of(log, ApprovalRequested)
        assert (comparison["left"]["calls"], comparison["right"]["calls"]) == (1, 0)
        assert (comparison["left"]["failed_calls"], comparison["right"]["failed_calls"]) == (0, 1)
        assert comparison["left"]["files"] == ["a.txt"]
        assert comparison["right"]["fork"]["changed"] == ["approval"]
        async with server.client.get(f"/sessions/{session}/compare/ses_none") as response:
            assert response.status == 404


async def test_a_change_that_cannot_be_made_creates_no_session(tmp_path: Path) -> None:
    async with served(tmp_path, writer) as server:
        session, log = await asked(server)
        before = len((await server.context.sessions.list()).sessions)
        cases: list[tuple[dict[str, Any], Callable[[str], bool]]] = [
            ({"at": 1, "change": {"result": {"content": "x"}}}, lambda text: "belongs to no call" in text),
            ({"at": len(log), "change": {"model": "no/such"}}, lambda text: "no/such" in text),
            (
                {"at": 1, "change": {"prompt": "a", "result": {"content": "x"}}},
                lambda text: "exclude each other" in text,
            ),
            ({"at": 9999, "change": {}}, lambda text: "there is no 9999" in text),
            ({"at": 1, "change": {"promt": "a"}}, lambda text: "promt" in text),
        ]
        for body, is_said in cases:
            async with server.client.post(f"/sessions/{session}/fork", json=body) as response:
                assert response.status in (400, 404, 422), (body, await response.text())
                assert is_said(await response.text()), await response.text()
        assert len((await server.context.sessions.list()).sessions) == before
