"""Undo and redo of exchanges with their files: by checkpoints in a git repository, by the log elsewhere."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import heald
from heald.sessions.session import Session
from heald.sessions.sqlite import SqliteStore
from heald_cli.repository.checkpoints import open_checkpoints
from heald_cli.repository.exchange_checkpoints import ExchangeCheckpoints
from heald_cli.repository.exchange_history import list_exchanges
from heald_cli.repository.undo import redo, undo
from sessions_bench import fresh, log_of

call = heald.testing.ScriptedModel.call


@heald.tool
async def shell(script: str) -> str:
    """Run a script in the folder, as a command does: Heald does not see which files it changes."""
    done = await asyncio.to_thread(subprocess.run, ["sh", "-c", script], check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "s.db", durable=False)
    yield store
    await store.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (folder / "a.txt").write_text("one\n")
    return folder


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / ".gitignore").write_text("*.log\n")


class Work:
    """A session in a folder with its checkpoints."""

    def __init__(self, store: SqliteStore, folder: Path) -> None:
        self.store = store
        self.folder = folder

    async def open(self, *steps: object) -> "Work":
        name = await fresh(self.store)
        self.saved = ExchangeCheckpoints(open_checkpoints(str(self.folder), name, self.folder.parent / "data"))
        self.session = await Session.open(
            self.store,
            name,
            model=heald.testing.ScriptedModel(list(steps)),  # pyright: ignore[reportArgumentType]
            tools=["files", shell],
            workspace=str(self.folder),
            middleware=[self.saved.wait_until_saved],
        )
        self.session.subscribe(self.saved.on_event)
        return self

    async def run(self, text: str) -> None:
        await self.session.run(text)
        await self.saved.finish()

    async def undo(self, count: int = 1) -> list[str]:
        return await undo(self.session, await log_of(self.store, self.session.session), self.saved, count)

    async def redo(self) -> list[str]:
        return await redo(self.session, await log_of(self.store, self.session.session), self.saved)

    async def words(self) -> list[str]:
        return [exchange.words for exchange in list_exchanges(await log_of(self.store, self.session.session))]

    def read(self, name: str) -> str | None:
        path = self.folder / name
        return path.read_text() if path.exists() else None


STEPS = [
    [call("shell", script="echo two > a.txt; echo new > b.txt")],
    "First done.",
    [call("shell", script="rm a.txt; mkdir c; echo deep > c/d.txt")],
    "Second done.",
    [call("create_file", path="e.txt", content="third\n")],
    "Third done.",
]


async def test_changes_by_commands_are_undone_and_redone(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS, "More.")
    for text in ("First.", "Second.", "Third."):
        await work.run(text)
    assert await work.undo() == ["Undone: Third.", "e.txt is deleted again."]
    assert await work.undo(2) == [
        *("Undone: Second.", "Undone: First."),
        *("a.txt is restored.", "c/d.txt is deleted again.", "b.txt is deleted again."),
    ]
    assert [work.read(name) for name in ("a.txt", "b.txt", "c/d.txt", "e.txt")] == ["one\n", None, None, None]
    assert work.session.messages == []
    await work.redo()
    assert [work.read(name) for name in ("a.txt", "b.txt", "c/d.txt", "e.txt")] == [None, "new\n", "deep\n", None]
    assert await work.words() == ["First.", "Second."]
    assert await work.redo() == ["Redone: Third.", "e.txt is restored."]
    assert await work.redo() == ["There is nothing to redo."]
    assert await work.words() == ["First.", "Second.", "Third."]
    await work.undo()
    await work.run("Another.")
    assert await work.redo() == ["There is nothing to redo."]
    assert await work.words() == ["First.", "Second.", "Another."]
    await work.session.close()


async def test_what_the_user_changed_since_stays(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS[:2])
    await work.run("First.")
    (folder / "b.txt").write_text("mine\n")
    (folder / "own.txt").write_text("own\n")
    assert sorted(await work.undo()) == [
        "Undone: First.", "a.txt is restored.", "b.txt stays as it is: it was changed since.",
    ]  # fmt: skip
    assert [work.read(name) for name in ("a.txt", "b.txt", "own.txt")] == ["one\n", "mine\n", "own\n"]
    await work.session.close()


async def test_an_ignored_file_is_undone_by_the_log(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open([call("create_file", path="run.log", content="x\n")], "Done.")
    await work.run("Log.")
    assert await work.undo() == ["Undone: Log.", "run.log is deleted again."]
    assert await work.redo() == ["Redone: Log.", "run.log is restored."]
    assert work.read("run.log") == "x\n"
    await work.session.close()


async def test_without_git_the_log_is_undone_and_redone(store: SqliteStore, folder: Path) -> None:
    work = await Work(store, folder).open(*STEPS[4:])
    assert work.saved.checkpoints is None
    await work.run("Third.")
    assert await work.undo() == ["Undone: Third.", "e.txt is deleted again."]
    assert work.read("e.txt") is None
    assert await work.redo() == ["Redone: Third.", "e.txt is restored."]
    assert work.read("e.txt") == "third\n"
    assert await work.undo(7) == ["The conversation has 1 exchanges; give a number from 1 to 1."]
    await work.session.close()


async def test_a_later_process_undoes_what_an_earlier_one_did(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS[:2])
    await work.run("First.")
    name = work.session.session
    await work.session.close()
    later = Work(store, folder)
    later.saved = ExchangeCheckpoints(open_checkpoints(str(folder), name, folder.parent / "data"))
    later.session = await Session.open(store, name, model=heald.testing.ScriptedModel(["More."]), workspace=str(folder))
    assert sorted(await later.undo()) == ["Undone: First.", "a.txt is restored.", "b.txt is deleted again."]
    assert later.read("a.txt") == "one\n"
    await later.session.close()


async def test_a_process_that_died_has_no_checkpoint_after(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS[:2])
    points = work.saved.checkpoints
    assert points is not None
    save = points.save
    points.save = lambda label: save(label) if not label.startswith("after") else points.list()[0]  # pyright: ignore[reportAttributeAccessIssue]
    await work.run("First.")
    assert [checkpoint.label.split()[0] for checkpoint in points.list()] == ["before"]
    await work.undo()
    assert [work.read("a.txt"), work.read("b.txt")] == ["one\n", None]
    await work.session.close()


async def test_a_failure_to_save_ends_the_saving_and_not_the_exchange(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS[4:])
    (folder.parent / "data").write_text("a file where the folder should be")
    await work.run("Third.")
    assert work.read("e.txt") == "third\n"
    assert work.saved.problem
    assert await work.undo() == ["Undone: Third.", "e.txt is deleted again."]
    await work.session.close()


async def test_changes_by_others_between_two_exchanges_are_described(store: SqliteStore, folder: Path) -> None:
    make_repository(folder)
    work = await Work(store, folder).open(*STEPS)
    assert await work.saved.describe_outside_changes() == ""
    await work.run("First.")
    assert await work.saved.describe_outside_changes() == ""
    (folder / "a.txt").write_text("three\n")
    assert "-two\n+three" in await work.saved.describe_outside_changes()
    await work.session.close()
