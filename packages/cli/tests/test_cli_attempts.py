"""`heald run --attempts`: parallel attempts in worktrees, as processes and in a terminal, and `heald undo`."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_repository import git
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import finish, is_one_line_error, run_process, started
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.tools.shell.sandbox import Sandbox

NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="bubblewrap makes no sandbox here")
RIGHT, WRONG = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
CHECK = "grep -q 'a + b' calc.py"


@pytest.fixture(autouse=True)
def repository() -> None:
    git("init", "-q")
    here("calc.py").write_text("def add(a, b): ...\n")
    here(".gitignore").write_text("node_modules/\n.env\n")
    git("add", "-A")
    git("commit", "-qm", "The first commit")
    here("notes.txt").write_text("untracked\n")
    here("calc.py").write_text("def add(a, b):\n    pass\n")


def user_state() -> tuple[object, ...]:
    """All that a leftover of an attempt would show up in, and what belongs to the user."""
    words = (["status", "--short"], ["worktree", "list"], ["branch", "-a"], ["stash", "list"], ["rev-parse", "HEAD"])
    return here(".git/index").read_bytes(), *(git(*arguments) for arguments in words)


def attempts(server: ScriptedServer, *words: str) -> list[str]:
    return ["run", "--base-url", f"{server.url}/v1", "--permissions", "auto", *words, "Make add work"]


def solver(*, right: str = "good") -> Callable[[Any], Reply]:
    """A model that writes the file: the right one if its name is in `right`, else a wrong one."""

    def reply(request: Any) -> Reply:
        model, messages = request.body["model"], request.body["messages"]
        if messages[-1]["role"] == "tool":
            return wire_reply("chat", text=f"Done by {model}.", calls=[])
        text = RIGHT if model in right.split() else WRONG
        if model == "lazy":
            return wire_reply("chat", text="I would rather not.")
        read = ToolCall(id="c1", name="read_file", input={"path": "calc.py"})
        write = ToolCall(id="c2", name="write_file", input={"path": "calc.py", "content": text})
        return wire_reply("chat", calls=[read, write])

    return reply


@NEEDS_SANDBOX
async def test_the_first_attempt_that_passes_is_applied_and_nothing_else_is_left() -> None:
    before = user_state()
    models = ["--model", "bad", "--model", "good"]
    async with ScriptedServer(solver()) as server:
        ran = await run_process(*attempts(server, "--attempts", "4", *models, "--check", f"echo seen; {CHECK}"))
        asked = {request.body["model"] for request in server.requests}
    assert (ran.code, ran.out) == (0, "Done by good.\n")
    assert asked == {"bad", "good"}
    assert here("calc.py").read_text() == RIGHT
    assert user_state() == before  # calc.py was changed before too
    assert "2 good: +1 −1 in 1 file, check passed" in ran.err
    assert "1 bad: +1 −1 in 1 file, check failed with exit code 1" in ran.err
    assert "check of attempt 1:\n  seen\n" in ran.err
    assert "Attempt 2 is applied: 1 file. `heald undo` restores the state before it." in ran.err
    undone = await run_process("undo")
    assert (undone.code, undone.err.splitlines()[1:]) == (0, ["heald: calc.py is restored."])
    assert here("calc.py").read_text() == "def add(a, b):\n    pass\n"
    assert user_state() == before
    assert (await run_process("undo")).code == 1


@NEEDS_SANDBOX
async def test_if_none_passes_nothing_is_applied() -> None:
    before = user_state()
    async with ScriptedServer(solver()) as server:
        ran = await run_process(*attempts(server, "--attempts", "2", "--model", "bad", "--check", CHECK))
        idle = await run_process(*attempts(server, "--attempts", "1", "--model", "lazy", "--check", "true"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith("heald: Nothing is applied. No attempt passed the check.\n")
    assert (idle.code, idle.err.splitlines()[-1]) == (1, "heald: Nothing is applied. No attempt changed a file.")
    assert user_state() == before


async def test_a_named_attempt_is_applied_and_json_describes_all() -> None:
    async with ScriptedServer(solver()) as server:
        words = ["--attempts", "2", "--model", "good,bad", "--apply", "2", "--json"]
        ran = await run_process(*attempts(server, *words))
    said = json.loads(ran.out)
    assert (ran.code, ran.err, said["applied"], said["files"]) == (0, "", 2, ["calc.py"])
    assert [(attempt["model"], attempt["status"], attempt["added"]) for attempt in said["attempts"]] == [
        ("good", "completed", 1),
        ("bad", "completed", 1),
    ]
    assert here("calc.py").read_text() == WRONG


async def test_kept_worktrees_stay_until_git_removes_them(tmp_path: Path) -> None:
    async with ScriptedServer(solver()) as server:
        ran = await run_process(*attempts(server, "--attempts", "1", "--model", "good", "--keep"))
        place = tmp_path / "share" / "heald" / "attempts"
        [folder] = place.glob("*/1/work")
        assert ran.code == 0
        assert f"heald: Attempt 1 is in {folder}; `git worktree remove --force {folder}` removes it.\n" in ran.err
        assert (folder / "calc.py").read_text() == RIGHT
        assert str(folder) in git("worktree", "list")
        git("worktree", "remove", "--force", str(folder))
        await run_process(*attempts(server, "--model", "lazy", "--workspace", "."))
    assert list(place.iterdir()) == []
    assert here("calc.py").read_text() == "def add(a, b):\n    pass\n"


async def test_what_is_refused_before_anything_is_paid_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {
        ("--attempts", "2"): "There is no terminal to ask on which attempt to apply",
        ("--attempts", "0", "--keep"): "--attempts is a number from 1 to 16.",
        ("--attempts", "2", "--apply", "3"): "--apply is the number of an attempt, from 1 to 2.",
        ("--check", "true"): "go with --attempts N.",
        ("--model", "b"): "go with --attempts N.",
    }
    async with ScriptedServer([]) as server:
        for words, sentence in cases.items():
            ran = await run_process(*attempts(server, "--model", "a", *words))
            assert (ran.code, is_one_line_error(ran)) == (2, True), ran
            assert sentence in ran.err
        monkeypatch.chdir(tmp_path)
        ran = await run_process(*attempts(server, "--model", "a", "--attempts", "2", "--keep"))
        assert (ran.code, is_one_line_error(ran)) == (2, True)
        assert ". is in no git repository" in ran.err
        assert server.requests == []


async def test_an_endpoint_that_refuses_all_attempts() -> None:
    before = user_state()
    refusal = Reply.json({"error": {"message": "no such model"}}, 400)
    async with ScriptedServer(lambda _: refusal) as server:
        ran = await run_process(*attempts(server, "--attempts", "2", "--model", "m", "--apply", "1"))
    assert (ran.code, ran.out) == (1, "")
    assert "no such model" in ran.err.splitlines()[-1]
    assert user_state() == before


def hanging(request: Any) -> Reply:
    """Write the file, then say half a sentence and hang."""
    if request.body["messages"][-1]["role"] == "tool":
        return Reply([*wire_stream("chat", text=["Half an", "rest"])[:2], Hang()])
    write = ToolCall(id="c2", name="create_file", input={"path": "made.py", "content": RIGHT})
    return wire_reply("chat", calls=[write])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
async def test_an_end_in_the_middle_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    before = user_state()
    place = tmp_path / "share" / "heald" / "attempts"
    async with (
        ScriptedServer(hanging) as server,
        started(*attempts(server, "--attempts", "2", "--model", "m", "--apply", "1")) as process,
    ):
        async with asyncio.timeout(120):
            while len(list(place.glob("*/*/work/made.py"))) < 2 or len(server.requests) < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert len(git("worktree", "list").splitlines()) == 3
        process.send_signal(number)
        ran = await finish(process)
        if number == signal.SIGKILL:
            assert len(git("worktree", "list").splitlines()) == 3
            after = await run_process(*attempts(server, "--model", "m", "--workspace", ".", "--max-turns", "1"))
            assert "heald: Worktrees of attempts whose process was killed are removed.\n" in after.err
            here("made.py").unlink()
        else:
            assert ran.code == 130
    assert list(place.iterdir()) == []
    assert user_state() == before
    assert "att_" not in git("for-each-ref")


async def test_a_change_of_the_user_meanwhile_wins() -> None:
    def reply(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            here("calc.py").write_text("mine\n")
        return solver()(request)

    async with ScriptedServer(reply) as server:
        ran = await run_process(*attempts(server, "--attempts", "1", "--model", "good", "--apply", "1"))
    assert ran.code == 1
    assert "calc.py was changed while the attempts ran; nothing is applied. The attempts are kept." in ran.err
    assert here("calc.py").read_text() == "mine\n"
    folder = ran.err.partition("Attempt 1 is in ")[2].partition(";")[0]
    assert here(f"{folder}/calc.py").read_text() == RIGHT
    git("worktree", "remove", "--force", folder)


@NEEDS_SANDBOX
async def test_commands_are_confined_and_the_repository_is_read_only() -> None:
    here("node_modules").mkdir()
    here("node_modules/dep.js").write_text("dep\n")
    results: list[str] = []
    command = (
        "git status --short; cat node_modules/dep.js; echo x > node_modules/dep.js; echo x > ../outside; "
        f"git commit -am x; git branch evil; cat {Path.cwd()}/notes.txt; echo end"
    )

    def reply(request: Any) -> Reply:
        last = request.body["messages"][-1]
        if last["role"] == "tool":
            results.append(last["content"])
            return wire_reply("chat", text="Seen.")
        return wire_reply("chat", calls=[ToolCall(id="c1", name="run_command", input={"command": command})])

    before = user_state()
    async with ScriptedServer(reply) as server:
        await run_process(*attempts(server, "--attempts", "1", "--model", "m", "--apply", "1"))
    [text] = results
    assert " M calc.py\n?? notes.txt\ndep\n" in text
    assert text.count("Read-only file system") == 4
    assert "notes.txt: No such file" in text
    assert here("node_modules/dep.js").read_text() == "dep\n"
    assert user_state() == before


async def test_hooks_and_trusted_notes_hold_in_the_worktrees(tmp_path: Path) -> None:
    here("AGENTS.md").write_text("Write tests first.\n")
    assert (await run_process("trust", "--yes")).code == 0
    log = tmp_path / "hooks.log"
    async with ScriptedServer(solver()) as server:
        hook = f'write_file: pwd >> {log}; grep -q "def add" calc.py'
        words = ["--attempts", "2", "--model", "good", "--apply", "2", "--hook-before", hook]
        ran = await run_process(*attempts(server, *words))
        system = server.requests[0].body["messages"][0]["content"]
    assert ran.code == 0
    assert "Write tests first." in system
    assert "The first commit" in system
    folders = set(log.read_text().split())
    assert len(folders) == 2
    assert all("/attempts/att_" in folder for folder in folders)


async def test_a_script_of_a_hook_that_an_attempt_changed_does_not_run(tmp_path: Path) -> None:
    here("check.sh").write_text("exit 0\n")
    results: list[str] = []

    def reply(request: Any) -> Reply:
        done = [message["content"] for message in request.body["messages"] if message["role"] == "tool"]
        results[:] = done
        if len(done) == 3:
            return wire_reply("chat", text="Done.")
        calls = [
            ToolCall(id="c0", name="read_file", input={"path": "check.sh"}),
            ToolCall(id="c1", name="write_file", input={"path": "check.sh", "content": f"touch {tmp_path}/escaped\n"}),
            ToolCall(id="c2", name="create_file", input={"path": "a.txt", "content": "x\n"}),
        ]
        return wire_reply("chat", calls=[calls[len(done)]])

    async with ScriptedServer(reply) as server:
        words = ["--attempts", "1", "--model", "m", "--apply", "1", "--hook-before", "create_file: sh check.sh"]
        await run_process(*attempts(server, *words))
    assert "was changed since the start" in results[-1]
    assert not (tmp_path / "escaped").exists()


@NEEDS_TMUX
@NEEDS_SANDBOX
async def test_a_person_approves_by_number_and_chooses(tmp_path: Path) -> None:
    before = user_state()
    words = ["--model", "bad,good", "--attempts", "2", "--check", CHECK, "Make add work"]
    async with ScriptedServer(solver()) as server:
        place = ["run", "--base-url", f"{server.url}/v1"]
        async with Tmux(tmp_path, *place, *words, XDG_DATA_HOME=os.environ["XDG_DATA_HOME"]) as terminal:
            for number in range(1, 3):
                screen = await terminal.shows("write_file", *(["allow?"] * number), without="apply which")
                assert screen.count("allow?") == number
                terminal.type("y")
                terminal.press("Enter")
                async with asyncio.timeout(120):
                    while terminal.screen().count("allow?") == number and "apply which" not in terminal.screen():  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
            screen = await terminal.shows("apply which? [1-2]", "Enter applies 2")
            assert {"attempt 1 (bad): write_file", "attempt 2 (good): write_file"} <= set(screen.splitlines())
            assert "✗ 1  bad   +1 −1 in 1 file, check failed with exit code 1" in screen
            assert "✓ 2  good  +1 −1 in 1 file, check passed" in screen
            await terminal.enter("d2")
            await terminal.shows("+    return a + b")
            await terminal.enter("7")
            await terminal.shows("There is no attempt 7; there are 2.")
            await terminal.enter("2")
            await terminal.shows("Done by good.", "Attempt 2 is applied", "status 0")
    assert here("calc.py").read_text() == RIGHT
    assert user_state() == before
