"""Agents that worked for a session: found again, with what they changed."""

from pathlib import Path
from typing import Any

import heald
from heald_check.checker import check_log
from serving_parts import S, served

WRITE = S.call("create_file", path="made.txt", content="one\n")


def tools() -> dict[str, Any]:
    helper = heald.Agent(S([[WRITE], "Written."]), tools=["files"]).as_tool(
        "helper", "Lets another agent do something."
    )
    return {"helper": helper}


async def test_they_are_listed_by_their_call_and_their_changes_can_be_judged(tmp_path: Path):
    (tmp_path / "work").mkdir()
    folders = {"work": str(tmp_path / "work")}
    ask = [S.call("helper", prompt="Write it.")]
    async with served(tmp_path, lambda: S([ask, "Done."]), tools=tools(), workspaces=folders) as server:
        session = await server.session(workspace="work", tools=["helper", "files"], permissions="auto")
        sent = await server.send(session)
        await server.ended(session, sent["exchange"])
        calls = [event.data for event in await server.log(session) if event.type == "tool_call"]
        async with server.client.get(f"/sessions/{session}/delegates") as answer:
            (delegate,) = (await answer.json())["delegates"]
        assert [delegate["call_id"]] == [getattr(call, "id", None) for call in calls]
        theirs = await server.log(delegate["session"])
        assert len(theirs) == delegate["last_seq"]
        assert not check_log([*await server.log(session), *theirs])
    async with served(tmp_path, lambda: S([]), tools=tools(), workspaces=folders) as server:
        async with server.client.get(f"/sessions/{session}/changes") as answer:
            (change,) = (await answer.json())["changes"]
        assert (change["path"], change["kind"]) == ("made.txt", "created")
        body = {"decision": "revert", "base": change["base"], "hash": change["hash"]}
        async with server.client.post(f"/sessions/{session}/changes/made.txt", json=body) as answer:
            assert answer.status == 200, await answer.text()
        assert not (tmp_path / "work" / "made.txt").exists()
        assert not check_log([*await server.log(session), *await server.log(delegate["session"])])


async def test_one_that_changed_a_file_of_the_folder_keeps_what_it_was(tmp_path: Path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "made.txt").write_text("before\n")
    write = S.call("write_file", path="made.txt", content="after\n")
    script = S([[S.call("read_file", path="made.txt")], [write], "Written."])
    helper = heald.Agent(script, tools=["files"]).as_tool("helper", "Lets another agent do something.")
    options: dict[str, Any] = {"tools": {"helper": helper}, "workspaces": {"work": str(tmp_path / "work")}}
    async with served(tmp_path, lambda: S([[S.call("helper", prompt="Write it.")], "Done."]), **options) as server:
        session = await server.session(workspace="work", tools=["helper"], permissions="auto")
        sent = await server.send(session)
        await server.ended(session, sent["exchange"])
    async with served(tmp_path, lambda: S([]), **options) as server:
        async with server.client.get(f"/sessions/{session}/changes/made.txt") as answer:
            change = await answer.json()
        assert [hunk["text"] for hunk in change["hunks"]] == ["@@ -1 +1 @@\n-before\n+after\n"]
        body = {"decision": "revert", "base": change["base"], "hash": change["hash"], "hunks": [0]}
        async with server.client.post(f"/sessions/{session}/changes/made.txt", json=body) as answer:
            assert answer.status == 200, await answer.text()
        assert (tmp_path / "work" / "made.txt").read_text() == "before\n"
