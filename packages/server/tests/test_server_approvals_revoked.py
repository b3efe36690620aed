"""H04: what was allowed always holds in its session, across a restart, until it is taken back."""

import asyncio
from pathlib import Path
from typing import Any

import heald
from heald.sessions.settings import SessionSettings
from heald_check import check_log
from serving_parts import S, Served, served


@heald.tool
def knock(door: str) -> str:
    """Knocks."""
    return f"knocked at {door}"


def _knocks() -> heald.testing.ScriptedModel:
    return S([turn for _ in range(9) for turn in ([S.call("knock", door="a")], "Done.")])


OPTIONS: dict[str, Any] = {
    "tools": {"knock": knock},
    "defaults": SessionSettings(permissions="ask", tools=["knock"], rules=["ask knock"]),
}


async def _asked(server: Served, session: str, decision: dict[str, Any] | None) -> bool:
    """Whether a person was asked in an exchange; they decide so if they were."""
    exchange = (await server.send(session))["exchange"]
    ended = asyncio.create_task(server.ended(session, exchange))
    was_asked = False
    async with asyncio.timeout(60):
        while not ended.done():
            async with server.client.get(f"/sessions/{session}/pending") as answer:
                pending = (await answer.json())["approvals"]
            if pending:
                was_asked = True
                request = pending[0]
                path = f"/sessions/{session}/approvals/{request['approval']}"
                async with server.client.post(path, json={"digest": request["digest"], **(decision or {})}) as done:
                    assert done.status == 200, await done.text()
            await asyncio.sleep(0.02)
    return was_asked


async def test_h04_always_is_kept_and_can_be_withdrawn(tmp_path: Path) -> None:
    always = {"decision": "approve", "always": True}
    async with served(tmp_path, _knocks, **OPTIONS) as server:
        session = await server.session()
        assert await _asked(server, session, always)
        assert not await _asked(server, session, None)
    async with served(tmp_path, _knocks, **OPTIONS) as server:
        assert not await _asked(server, session, None)
        async with server.client.delete(f"/sessions/{session}/allowed") as answer:
            assert (answer.status, await answer.json()) == (200, {"forgotten": 1})
        assert await _asked(server, session, {"decision": "deny", "reason": "Not now."})
    async with served(tmp_path, _knocks, **OPTIONS) as server:
        assert await _asked(server, session, {"decision": "approve"})
        log = await server.log(session)
        assert not check_log(log)
        assert any("Not now." in getattr(event.data, "text", "") for event in log if event.type == "tool_result")
