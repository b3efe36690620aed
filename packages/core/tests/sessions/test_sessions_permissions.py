"""The permission mode of a session that names none."""

import pytest

import heald
from heald.core.events import ApprovalRequested
from heald.core.messages import ToolResult
from heald.sessions.memory import MemoryStore
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.tools.permissions import Mode
from sessions_bench import call, log_of, model


@heald.tool(effect="write")
async def change(what: str) -> str:
    """Changes."""
    return f"changed {what}"


async def refuse(request: ApprovalRequested) -> bool:
    return False


@pytest.mark.parametrize(
    ("stored", "attended", "status"),
    [(None, True, "denied"), (None, False, "ok"), ("auto", True, "ok"), ("read-only", False, "denied")],
)
async def test_it_asks_where_somebody_can_answer(stored: Mode | None, attended: bool, status: str) -> None:
    sessions = Sessions(MemoryStore())
    info = await sessions.create(model="scripted", permissions=stored)
    turns = model([call("change", what="it")], "Done.")
    callback = refuse if attended else None
    session = await sessions.open(info.id, model=turns, tools=[change], on_approval=callback)
    await session.run("Change it.")
    await session.close()
    results = [event.data for event in await log_of(sessions.store, info.id) if isinstance(event.data, ToolResult)]
    assert [result.status for result in results] == [status]


async def test_rules_without_a_mode_are_applied() -> None:
    sessions = Sessions(MemoryStore())
    info = await sessions.create(model="scripted", rules=["deny change"])
    session = await sessions.open(info.id, model=model("Done."), tools=[change], on_approval=refuse)
    assert (session.permissions.mode, [rule.tool for rule in session.permissions.rules]) == ("ask", ["change"])
    await session.close()


def test_an_explicit_mode_is_stored() -> None:
    assert SessionSettings(permissions="auto").data() == {"permissions": "auto"}
    assert SessionSettings().data() == {}
