"""Going back to a checkpoint over HTTP: the conversation and the files together, back and forth."""

from pathlib import Path
from typing import Any

import pytest

from heald.sessions.replayed_diff import replay_diff
from heald.tools.workspace.diff import unified_diff
from heald_check.checker import check_log
from serving_parts import S, Served, served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "old.txt").write_text("old\n")
    (work / "other.txt").write_text("mine\n")
    return work


def script() -> Any:
    return S(
        [
            S.call("write_file", path="new.txt", content="one\n"),
            "First.",
            [S.call("read_file", path="old.txt"), S.call("read_file", path="other.txt")],
            [
                S.call("write_file", path="new.txt", content="two\n"),
                S.call("edit_file", path="old.txt", edits=[{"old_text": "old", "new_text": "changed"}]),
                S.call("edit_file", path="other.txt", edits=[{"old_text": "mine", "new_text": "theirs"}]),
            ],
            "Second.",
            "Third.",
        ]
    )


async def rewind(server: Served, session: str, seq: int, *, files: bool) -> int:
    async with server.client.post(f"/sessions/{session}/rewind", json={"seq": seq, "files": files}) as answer:
        return answer.status


async def ask(server: Served, session: str, text: str) -> int:
    """Send a request and wait for its end. Returns the number of the last event before it."""
    before = (await (await server.client.get(f"/sessions/{session}")).json())["last_seq"]
    sent = await server.send(session, text)
    await server.ended(session, sent["exchange"])
    return before


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


async def test_files_go_back_and_forth_with_the_conversation(tmp_path: Path, folder: Path) -> None:
    async with served(tmp_path, script, workspaces={"work": folder}) as server:
        session = await server.session(workspace="work", tools=["files"], permissions="auto")
        first = await ask(server, session, "One")
        second = await ask(server, session, "Read and change")
        end = (await (await server.client.get(f"/sessions/{session}")).json())["last_seq"]
        assert contents(folder) == {"new.txt": "two\n", "old.txt": "changed\n", "other.txt": "theirs\n"}
        assert await rewind(server, session, second, files=False) == 200
        assert contents(folder)["new.txt"] == "two\n", "without `files` they stay"
        assert await rewind(server, session, second, files=True) == 200
        assert contents(folder) == {"new.txt": "one\n", "old.txt": "old\n", "other.txt": "mine\n"}
        assert await rewind(server, session, first, files=True) == 200
        assert contents(folder) == {"old.txt": "old\n", "other.txt": "mine\n"}
        (folder / "other.txt").write_text("by hand\n")
        assert await rewind(server, session, end, files=True) == 200
        assert contents(folder) == {"new.txt": "two\n", "old.txt": "changed\n", "other.txt": "by hand\n"}
        await ask(server, session, "Three")
        events = await server.log(session)
    said = [event.data.message.said for event in events if event.type == "user_message" and event.data.message.said]
    assert said[-1] == "Restored 2 files: new.txt, old.txt. Not restored, since changed elsewhere: other.txt."
    assert check_log(events) == []


async def test_files_go_back_after_a_restart(tmp_path: Path, folder: Path) -> None:
    """The contents of a folder are not stored, so they are derived from the diffs in the log."""
    async with served(tmp_path, script, workspaces={"work": folder}) as server:
        session = await server.session(workspace="work", tools=["files"], permissions="auto")
        await ask(server, session, "One")
        second = await ask(server, session, "Read and change")
    async with served(tmp_path, script, workspaces={"work": folder}) as server:
        assert await rewind(server, session, second, files=True) == 200
        assert contents(folder) == {"new.txt": "one\n", "old.txt": "old\n", "other.txt": "mine\n"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"a\nb\nc"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n"),
        (b"-- a\n++ b\n", b"-- a\n++ c\n"),
        (b"".join(b"%d\n" % n for n in range(60)), b"".join(b"%d\n" % n for n in range(60) if n not in (3, 40))),
        (b"a\n", b""),
        (b"", "ä\u2028b\x0cc\n".encode()),
    ],
)
def test_a_diff_of_the_log_is_replayed(old: bytes | None, new: bytes) -> None:
    assert replay_diff(old, unified_diff("f", old, new)) == new
    if old is not None:
        assert replay_diff(new, unified_diff("f", new, old)) == old
