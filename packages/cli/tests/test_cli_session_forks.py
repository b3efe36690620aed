"""`heald sessions fork` and `heald sessions compare`: another future of a session, and both side by side."""

import json
from pathlib import Path

import pytest

import heald
from cli_bench import is_one_line_error, run
from heald.config.paths import data_folder
from heald.core.events import ApprovalRequested, ApprovalResolved, SessionForked
from heald.core.messages import ToolResult
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from sessions_bench import log_of

Capture = pytest.CaptureFixture[str]
S = heald.testing.ScriptedModel
WRITE = S.call("write_file", path="a.txt", content="hello\n")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEALD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def allow(_: ApprovalRequested) -> bool:
    return True


def open_store(data: Path) -> SqliteStore:
    return SqliteStore(data_folder(str(data)) / "sessions.db")


async def make(data: Path) -> tuple[str, int]:
    """A session with a call that was approved, and the event of its result."""
    store = open_store(data)
    sessions = Sessions(store)
    info = await sessions.create(tools=["files"], model="scripted/none", permissions="ask")
    session = await sessions.open(info.id, model=S([WRITE, "Written."]), on_approval=allow)
    await session.run("Bake bread")
    await session.close()
    at = next(event.seq for event in await log_of(store, info.id) if isinstance(event.data, ToolResult))
    await store.close()
    return info.id, at


async def finish(data: Path, fork: str, *turns: str) -> None:
    """Continue a fork, as the chat or a server does."""
    store = open_store(data)
    session = await Sessions(store).open(fork, model=S(list(turns)), on_approval=allow)
    for exchange in session.resumed:
        await exchange.result()
    await session.close()
    await store.close()


async def test_a_result_is_changed_and_both_futures_are_compared(capsys: Capture, data: Path) -> None:
    session, at = await make(data)
    ran = await run(capsys, "sessions", "fork", session[:12], "--at", str(at), "--result", "the oven is cold")
    assert ran.code == 0
    fork = ran.out.strip()
    assert f"heald chat --resume {fork}" in ran.err
    await finish(data, fork, "Then no bread today.")
    ran = await run(capsys, "sessions", "compare", session, fork)
    assert ran.code == 0
    assert "events are equal" in ran.out
    rows = [row.split(" │ ") for row in ran.out.splitlines() if " │ " in row]
    assert any(left.strip() == "Written." for left, _ in rows)
    assert any(right.strip() == "Then no bread today." for _, right in rows)
    assert "forked with another result" in ran.out
    compared = json.loads((await run(capsys, "sessions", "compare", session, fork, "--json")).out)
    assert compared["right"]["answer"] == "Then no bread today."
    assert compared["shared"] < at
    transcript = await run(capsys, "sessions", "show", fork)
    assert "another result" in transcript.out


async def test_a_call_is_denied_by_the_terminal(capsys: Capture, data: Path) -> None:
    session, at = await make(data)
    made = await run(capsys, "sessions", "fork", session, "--at", str(at), "--deny", "Not today.", "--json")
    fork = json.loads(made.out)
    assert (fork["parent"], fork["work"]) == (session, "running")
    store = open_store(data)
    log = await log_of(store, fork["id"])
    await store.close()
    assert [event.data.by for event in log if isinstance(event.data, SessionForked)] == ["terminal"]
    resolved = [event.data for event in log if isinstance(event.data, ApprovalResolved)]
    assert [(decision.decision, decision.reason, decision.by) for decision in resolved] == [
        ("denied", "Not today.", "terminal")
    ]


async def test_without_a_change_the_fork_is_idle(capsys: Capture, data: Path) -> None:
    session, _ = await make(data)
    fork = json.loads((await run(capsys, "sessions", "fork", session, "--json")).out)
    assert fork["work"] == "idle"
    again = json.loads((await run(capsys, "sessions", "fork", session, "--at", "5", "--again", "--json")).out)
    assert again["work"] == "running"


@pytest.mark.parametrize(
    "options",
    [
        ("--error",),
        ("--call", "call_1"),
        ("--at", "9999"),
        ("--at", "1", "--result", "x"),
        ("--at", "1", "--allow"),
    ],
)
async def test_what_does_not_fit_is_said_in_a_line(capsys: Capture, data: Path, options: tuple[str, ...]) -> None:
    session, _ = await make(data)
    assert is_one_line_error(await run(capsys, "sessions", "fork", session, *options))
