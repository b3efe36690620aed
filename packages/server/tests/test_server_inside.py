"""The permissions `inside` on a server: a client sets them, and answers the questions about hosts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from heald.core.messages import ToolResult
from heald.sessions.settings import SessionSettings
from heald.tools.shell.network import folder_hosts
from heald.tools.shell.sandbox import Sandbox
from heald_check import check_log
from serving_parts import S, Served, served

DEFAULTS = SessionSettings(permissions="ask", tools=["shell"])
HOST = "no-such-host.invalid"


async def _question(server: Served, session: str) -> dict[str, Any]:
    for _ in range(500):
        async with server.client.get(f"/sessions/{session}/pending") as answer:
            pending = await answer.json()
        assert pending["approvals"] == []
        if pending["questions"]:
            return pending["questions"][0]
        await asyncio.sleep(0.02)
    raise AssertionError("nobody was asked")


@pytest.mark.skipif(not Sandbox().has_network or Sandbox().available() is not None, reason="there is no sandbox here")
async def test_a_client_chooses_it_and_allows_a_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "work"
    folder.mkdir()
    model = S([[S.call("run_command", command=f"echo made > a.txt; curl -sS http://{HOST}/")], "Done."])
    async with served(tmp_path, lambda: model, defaults=DEFAULTS, workspaces={"work": str(folder)}) as server:
        session = await server.session(workspace="work", permissions="inside")
        accepted = await server.send(session, "Go.")
        asked = await _question(server, session)
        assert HOST in asked["text"]
        assert asked["suggestions"] == [f"Allow {HOST} in this folder", "Deny"]
        answer = {"answer": asked["suggestions"][0]}
        async with server.client.post(f"/sessions/{session}/questions/{asked['question']}", json=answer) as reply:
            assert reply.status == 200
        await server.ended(session, accepted["exchange"])
        log = await server.log(session)
    [result] = [event.data for event in log if isinstance(event.data, ToolResult)]
    assert "is not known" in result.text  # allowed, and then there is no such host
    assert (folder / "a.txt").read_text() == "made\n"
    assert folder_hosts.allowed_in(str(folder)) == {HOST}
    assert check_log(log) == []
