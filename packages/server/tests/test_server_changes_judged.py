"""What a session made of its files: looked at, accepted and taken back over HTTP, by file and by hunk."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.events import FileAccepted, FileChanged, UserMessage
from heald.core.messages import ToolResult
from heald.providers.scripted import Script, ScriptedRequest
from heald.tools.definitions import Access
from heald_check.checker import check_log
from serving_parts import OTHER, S, Served, served

LINES = [f"line {number}\n" for number in range(30)]


def text(*numbers: int) -> str:
    return "".join(f"NEW {n}\n" if n in numbers else line for n, line in enumerate(LINES))


def edit(*numbers: int) -> Any:
    edits = [{"old_text": LINES[n], "new_text": f"NEW {n}\n"} for n in numbers]
    return S.call("edit_file", path="src/a.txt", edits=edits)


READ = S.call("read_file", path="src/a.txt")
HEARD: list[ScriptedRequest] = []


def listening(request: ScriptedRequest) -> Script:
    HEARD.append(request)
    return "I see."


def model(*turns: Script) -> Any:
    return lambda: S([*turns, *([listening] * 20)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "a.txt").write_text(text())
    (work / "gone.txt").write_text("to be deleted\n")
    return work


async def worked(server: Served, text: str = "Go on.", session: str | None = None) -> str:
    session = session or await server.session(workspace="work", tools=["files"], permissions="auto")
    sent = await server.send(session, text)
    await server.ended(session, sent["exchange"])
    return session


async def listed(server: Served, session: str) -> list[dict[str, Any]]:
    async with server.client.get(f"/sessions/{session}/changes") as answer:
        assert answer.status == 200, await answer.text()
        return (await answer.json())["changes"]


async def looked(server: Served, session: str, path: str = "src/a.txt") -> dict[str, Any]:
    async with server.client.get(f"/sessions/{session}/changes/{path}") as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def judged(
    server: Served, session: str, decision: str, seen: dict[str, Any], hunks: Sequence[int] | None = None
) -> tuple[int, dict[str, Any]]:
    body = {"decision": decision, "base": seen["base"], "hash": seen["hash"]} | ({"hunks": hunks} if hunks else {})
    if hunks is not None:
        body["hunks"] = list(hunks)
    async with server.client.post(f"/sessions/{session}/changes/{seen['path']}", json=body) as answer:
        return answer.status, await answer.json()


async def test_one_hunk_is_reverted_and_the_other_stays(tmp_path: Path, folder: Path):
    HEARD.clear()
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        assert [(listed_change["path"], listed_change["kind"]) for listed_change in await listed(server, session)] == [
            ("src/a.txt", "changed")
        ]
        seen = await looked(server, session)
        assert [hunk["text"].count("NEW") for hunk in seen["hunks"]] == [1, 1]
        status, left = await judged(server, session, "revert", seen, [0])
        assert status == 200
        assert [hunk["text"].count("NEW 20") for hunk in left["hunks"]] == [1]
        assert (folder / "src" / "a.txt").read_text() == text(20)

        log = await server.log(session)
        exchange, change = next(
            (event.exchange, event.data)
            for event in log
            if isinstance(event.data, FileChanged) and event.data.cause == "user"
        )
        assert exchange is None
        assert change.hash == sha256(text(20).encode()).hexdigest()
        told = log[-1].data
        assert isinstance(told, UserMessage)
        assert told.message.said == "Reverted 1 of 2 changes in src/a.txt."
        await worked(server, "And now?", session)
        messages = [message for message in HEARD[-1].messages if message.role == "user"]
        assert "reverted 1 of 2 changes in src/a.txt" in messages[-2].text
        assert "-NEW 2\n+line 2\n" in messages[-2].text
        assert messages[-1].text == "And now?"
        assert not check_log(await server.log(session), host_paths=[str(tmp_path)])


async def test_what_is_accepted_is_listed_no_more_not_even_after_a_restart(tmp_path: Path, folder: Path):
    folders = {"work": str(folder)}
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces=folders) as server:
        session = await worked(server)
        status, left = await judged(server, session, "accept", await looked(server, session), [1])
        assert status == 200
        assert len(left["hunks"]) == 1
        assert (folder / "src" / "a.txt").read_text() == text(2, 20)
        assert isinstance((await server.log(session))[-1].data, FileAccepted)
    async with served(tmp_path, model(), workspaces=folders) as server:
        seen = await looked(server, session)
        assert [hunk["text"].count("NEW 2\n") for hunk in seen["hunks"]] == [1]
        assert (await judged(server, session, "revert", seen))[0] == 200
        assert (folder / "src" / "a.txt").read_text() == text(20)
        assert await listed(server, session) == []
        assert not check_log(await server.log(session))


async def test_a_whole_file_is_accepted(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        assert (await judged(server, session, "accept", await looked(server, session)))[0] == 200
        assert await listed(server, session) == []
        status, refused = await judged(server, session, "revert", await looked(server, session))
        assert (status, refused["error"]["code"]) == (409, "conflict")
        assert (folder / "src" / "a.txt").read_text() == text(2, 20)


async def test_files_that_came_and_went(tmp_path: Path, folder: Path):
    patch = "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch\n"
    turns = ([S.call("create_file", path="new/b.txt", content="b\n")], [S.call("apply_patch", patch=patch)], "Done.")
    async with served(tmp_path, model(*turns), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        kinds = {change["path"]: change["kind"] for change in await listed(server, session)}
        assert kinds == {"gone.txt": "deleted", "new/b.txt": "created"}
        for path in kinds:
            assert (await judged(server, session, "revert", await looked(server, session, path), [0]))[0] == 200
        assert not (folder / "new" / "b.txt").exists()
        assert (folder / "gone.txt").read_text() == "to be deleted\n"
        assert await listed(server, session) == []
        told = [event.data.message for event in await server.log(session) if isinstance(event.data, UserMessage)]
        assert [message.said for message in told[-2:]] == [f"Reverted all changes in {path}." for path in kinds]
        assert "it is deleted" in told[-1].text
        assert not check_log(await server.log(session))


async def test_a_file_that_changed_since_is_left_alone(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        seen = await looked(server, session)
        (folder / "src" / "a.txt").write_text(text(2, 20) + "by hand\n")
        for decision in ("revert", "accept"):
            status, refused = await judged(server, session, decision, seen, [0])
            assert (status, refused["error"]["code"]) == (409, "conflict")
            assert refused["error"]["message"] == "'src/a.txt' has changed since you looked at it; look again."
        assert (folder / "src" / "a.txt").read_text() == text(2, 20) + "by hand\n"
        again = await looked(server, session)
        assert (await judged(server, session, "revert", again | {"base": "0" * 64}, [0]))[0] == 409
        assert (await judged(server, session, "revert", again, [7]))[0] == 409
        assert (await judged(server, session, "revert", again, [0]))[0] == 200
        assert (folder / "src" / "a.txt").read_text() == text(20) + "by hand\n"
        assert not check_log(await server.log(session))


async def test_two_people_who_decide_at_once_do_not_both(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        seen = await looked(server, session)
        answers = await asyncio.gather(*(judged(server, session, "revert", seen, [0]) for _ in range(8)))
        assert sorted(status for status, _ in answers) == [200] + [409] * 7
        assert (folder / "src" / "a.txt").read_text() == text(20)
        assert not check_log(await server.log(session))


async def test_what_is_no_text_is_decided_on_as_a_whole(tmp_path: Path, folder: Path):
    (folder / "raw.bin").write_bytes(b"\x00\x01\x02")
    read = [S.call("read_file", path="raw.bin")]
    turn = [S.call("write_file", path="raw.bin", content="text now\n")]
    async with served(tmp_path, model(read, turn, "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        seen = await looked(server, session, "raw.bin")
        assert seen["hunks"] is None
        assert (await judged(server, session, "revert", seen, [0]))[0] == 409
        assert (await judged(server, session, "revert", seen))[0] == 200
        assert (folder / "raw.bin").read_bytes() == b"\x00\x01\x02"


async def test_not_while_a_tool_is_at_the_file(tmp_path: Path, folder: Path):
    """Others may be decided on meanwhile, and the model hears of it in the same exchange."""
    HEARD.clear()
    there, go_on = asyncio.Event(), asyncio.Event()

    @heald.tool(access=lambda _: [Access(resource="file:src/a.txt", changes=True)])
    async def ponder() -> str:
        """Think about a file."""
        there.set()
        await go_on.wait()
        return "Thought."

    turns = ([READ, S.call("create_file", path="b.txt", content="b\n")], [edit(2)], [S.call("ponder")])
    options: dict[str, Any] = {"workspaces": {"work": str(folder)}, "tools": {"ponder": ponder}}
    async with served(tmp_path, model(*turns), **options) as server:
        session = await server.session(workspace="work", tools=["files", "ponder"], permissions="auto")
        sent = await server.send(session)
        await there.wait()
        status, refused = await judged(server, session, "revert", await looked(server, session), [0])
        assert (status, refused["error"]["message"]) == (
            409,
            "A tool is at 'src/a.txt' right now; try again when it is done.",
        )
        assert (await judged(server, session, "revert", await looked(server, session, "b.txt")))[0] == 200
        assert not (folder / "b.txt").exists()
        go_on.set()
        await server.ended(session, sent["exchange"])
        assert "reverted all changes in b.txt" in HEARD[0].messages[-1].text
        assert (await judged(server, session, "revert", await looked(server, session), [0]))[0] == 200
        assert not check_log(await server.log(session))


async def test_the_model_must_read_what_was_reverted_before_it_writes_it(tmp_path: Path, folder: Path):
    turns = ([READ], [edit(2)], "Done.", [edit(20)], [READ], [edit(20)], "Now.")
    async with served(tmp_path, model(*turns), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        assert (await judged(server, session, "revert", await looked(server, session)))[0] == 200
        await worked(server, "Again.", session)
        results = [event.data for event in await server.log(session) if isinstance(event.data, ToolResult)]
        assert [result.status for result in results] == ["ok", "ok", "error", "ok", "ok"]
        assert "read it again" in str(results[2].content)
        assert (folder / "src" / "a.txt").read_text() == text(20)
        assert not check_log(await server.log(session))


async def test_a_project_and_its_fork_have_changes_too(tmp_path: Path):
    turns = ([S.call("create_file", path="a.txt", content=text())], "One.", [READ_PROJECT], [EDIT_PROJECT], "Two.")
    async with served(tmp_path, model(*turns)) as server:
        session = await server.session(tools=["files"], permissions="auto")
        await worked(server, "First.", session)
        assert (await judged(server, session, "accept", await looked(server, session, "a.txt")))[0] == 200
        await worked(server, "Second.", session)
        async with server.client.post(f"/sessions/{session}/fork", json={}) as answer:
            fork = (await answer.json())["id"]
        for branch in (session, fork):
            seen = await looked(server, branch, "a.txt")
            assert (seen["kind"], len(seen["hunks"])) == ("changed", 1)
            assert (await judged(server, branch, "revert", seen, [0]))[0] == 200
            assert not check_log(await server.log(branch))
        async with server.client.get(f"/sessions/{fork}/files/a.txt") as answer:
            assert await answer.text() == text()


async def test_a_fork_knows_what_a_folders_files_were(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2, 20)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        async with server.client.post(f"/sessions/{session}/fork", json={}) as answer:
            fork = (await answer.json())["id"]
        seen = await looked(server, fork)
        assert len(seen["hunks"]) == 2
        assert (await judged(server, fork, "revert", seen))[0] == 200
        assert (folder / "src" / "a.txt").read_text() == text()
        assert not check_log(await server.log(fork))


READ_PROJECT = S.call("read_file", path="a.txt")
EDIT_PROJECT = S.call("edit_file", path="a.txt", edits=[{"old_text": LINES[2], "new_text": "NEW\n"}])


async def test_who_may_not_and_what_is_not_there(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        seen = await looked(server, session)
        headers = {"Authorization": f"Bearer {OTHER}"}
        async with aiohttp.ClientSession(server.url, headers=headers) as stranger:
            theirs = Served(server.context, stranger)
            assert (await judged(theirs, session, "revert", seen))[0] == 404
            async with stranger.get(f"/sessions/{session}/changes") as answer:
                assert answer.status == 404
        for path, status in {"gone.txt": 404, "none.txt": 404, "src%2f..%2f..%2f..%2fx": 400, "a%00b": 400}.items():
            async with server.client.get(f"/sessions/{session}/changes/{path}") as answer:
                assert answer.status == status, (path, await answer.text())
                assert str(tmp_path) not in await answer.text()
        for body in (
            {},
            {"decision": "burn", "base": None, "hash": None},
            seen | {"decision": "revert", "hunks": [-1]},
        ):
            async with server.client.post(f"/sessions/{session}/changes/src/a.txt", json=body) as answer:
                assert answer.status == 400
        assert (folder / "src" / "a.txt").read_text() == text(2)


async def test_a_link_that_was_put_there_is_not_followed_out(tmp_path: Path, folder: Path):
    async with served(tmp_path, model([READ], [edit(2)], "Done."), workspaces={"work": str(folder)}) as server:
        session = await worked(server)
        seen = await looked(server, session)
        outside = tmp_path / "outside.txt"
        outside.write_text(text(2))
        (folder / "src" / "a.txt").unlink()
        (folder / "src" / "a.txt").symlink_to(outside)
        status, refused = await judged(server, session, "revert", seen)
        assert status == 409
        assert str(tmp_path) not in refused["error"]["message"]
        assert (await listed(server, session))[0]["problem"] != ""
        assert outside.read_text() == text(2)
