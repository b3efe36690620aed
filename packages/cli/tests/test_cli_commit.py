"""`heald commit` and `/commit`: hunks, messages in the style of the repository, and hooks, with real git."""

import json
import os
from pathlib import Path

import pytest
from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here
from heald.core.errors import ConfigurationError
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.git.repository import find_repository
from heald_cli.repository.changed_hunks import UncommittedChanges, parse_selection, read_changes
from heald_cli.repository.commit_style import CommitStyle, style_of

LINES = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.fixture(autouse=True)
def author(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")


def changes_here() -> UncommittedChanges:
    repository = find_repository(".")
    assert repository is not None
    return read_changes(repository)


def make_changes() -> None:
    """Make two hunks in one file, a deleted file and a new one."""
    make_repository()
    here("long.txt").write_text(LINES)
    here("old.txt").write_text("old\n")
    git("add", "-A")
    git("commit", "-qm", "Long")
    here("long.txt").write_text(LINES.replace("line 2\n", "line two\n").replace("line 39\n", "line thirty-nine\n"))
    here("old.txt").unlink()
    here("new file.txt").write_text("new\n")


def hook(name: str, text: str) -> None:
    path = here(f".git/hooks/{name}")
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def place(server: ScriptedServer) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1"]


def model(text: str) -> ScriptedServer:
    return ScriptedServer(lambda _: wire_reply("chat", text=text))


async def test_everything_is_committed_with_the_words_of_a_model() -> None:
    make_changes()
    async with model("```\nsubject: rename two lines.\n```") as server:
        ran = await run_process("commit", "--yes", "because of a test", *place(server))
        assert ran.code == 0, ran
    assert git("log", "-1", "--format=%B").strip() == "Rename two lines"
    assert git("status", "--porcelain") == ""
    asked = json.dumps(server.requests[0].body["messages"])
    assert "because of a test" in asked
    assert "line thirty-nine" in asked
    assert "The first commit" in asked  # the style of the repository


async def test_some_hunks_are_committed_and_the_rest_stays() -> None:
    make_changes()
    hunks = [(hunk.path, hunk.line, hunk.is_untracked) for hunk in changes_here().hunks]
    assert hunks == [("long.txt", 1, False), ("long.txt", 36, False), ("old.txt", 0, False), ("new file.txt", 0, True)]
    ran = await run_process("commit", "--yes", "--hunks", "2,4", "-m", "Some")
    assert ran.code == 0, ran
    assert git("show", "--format=", "--name-only", "HEAD").split("\n")[:2] == ["long.txt", "new file.txt"]
    assert "+line thirty-nine" in git("show", "HEAD")
    assert "line two" not in git("show", "HEAD")
    assert git("status", "--porcelain") == " M long.txt\n D old.txt\n"
    assert "line two\n" in here("long.txt").read_text()


async def test_a_hunk_of_a_file_with_an_unusual_name() -> None:
    make_repository()
    names = ("größe und form.txt", 'a "quoted" name.txt', "b b/c.txt", "bild.bin")
    here("b b").mkdir()
    for name in names:
        here(name).write_bytes(LINES.encode() if name != "bild.bin" else b"\0\1")
    git("add", "-A")
    git("commit", "-qm", "Names")
    for name in names:
        here(name).write_bytes(LINES.replace("line 2\n", "two\n").replace("line 39\n", "x\n").encode())
    here("bild.bin").write_bytes(b"\0\2")
    assert [hunk.path for hunk in changes_here().hunks] == sorted([*names, *names[:3]])
    chosen = [number for number, hunk in enumerate(changes_here().hunks, 1) if hunk.line != 36]
    ran = await run_process("commit", "--yes", "--hunks", ",".join(map(str, chosen)), "-m", "Some")
    assert ran.code == 0, ran
    assert git("show", "HEAD").count("+two\n") == 3
    assert "+x\n" not in git("show", "HEAD")
    assert git("diff").count("+x\n") == 3


async def test_what_is_staged_is_what_is_committed() -> None:
    make_changes()
    git("add", "long.txt", "old.txt")
    assert [hunk.path for hunk in changes_here().hunks] == ["long.txt", "long.txt", "old.txt"]
    ran = await run_process("commit", "--yes", "--hunks", "1", "-m", "One of the staged ones")
    assert ran.code == 0, ran
    assert "+line two" in git("show", "HEAD")
    assert "thirty-nine" not in git("show", "HEAD")
    assert git("status", "--porcelain") == 'M  long.txt\nD  old.txt\n?? "new file.txt"\n'
    ran = await run_process("commit", "--yes", "-m", "The others")
    assert git("status", "--porcelain") == '?? "new file.txt"\n', ran


async def test_a_hook_that_refuses_is_shown_and_nothing_is_lost() -> None:
    make_changes()
    hook("pre-commit", "echo 'the tests fail: 3 of 7'; exit 1")
    before = git("status", "--porcelain")
    ran = await run_process("commit", "--yes", "--hunks", "1,4", "-m", "Refused")
    assert (ran.code, "the tests fail: 3 of 7" in ran.err) == (1, True), ran
    assert git("status", "--porcelain") == before
    assert git("log", "-1", "--format=%s") == "Long\n"
    git("add", "long.txt")
    staged = git("diff", "--cached")
    ran = await run_process("commit", "--yes", "-m", "Refused once more")
    assert (ran.code, git("diff", "--cached")) == (1, staged)
    hook("pre-commit", "exit 0")
    hook("commit-msg", 'echo "Reviewed: yes" >> "$1"')
    ran = await run_process("commit", "--yes", "-m", "Accepted")
    assert (ran.code, git("log", "-1", "--format=%B").strip()) == (0, "Accepted\nReviewed: yes"), ran


async def test_secrets_wait_for_a_choice_and_keys_do_not_reach_hooks() -> None:
    make_repository()
    here(".env").write_text("PASSWORD=1\n")
    here("notes.txt").write_text("n\n")
    hook("pre-commit", "env > seen.txt")
    here(".gitignore").write_text("seen.txt\n")
    ran = await run_process(
        "commit", "--yes", "-m", "Notes", OPENAI_API_KEY="model-9916", FORGE_TOKEN_A_ORG="forge-9917"
    )
    assert ran.code == 0, ran
    assert "looks like a secret" in ran.err
    assert git("status", "--porcelain") == "?? .env\n"
    assert "model-9916" not in here("seen.txt").read_text()
    assert "forge-9917" not in here("seen.txt").read_text()
    ran = await run_process("commit", "--yes", "-m", "x")
    assert (ran.code, "Every change looks like a secret" in ran.err) == (2, True)


async def test_wrong_uses_and_a_dry_run() -> None:
    make_repository()
    ran = await run_process("commit", "--yes", "-m", "x")
    assert (ran.code, "There is nothing to commit." in ran.err) == (1, True)
    here("a.txt").write_text("two\n")
    ran = await run_process("commit", "-m", "x")
    assert (ran.code, "There is no terminal for the question" in ran.err) == (2, True)
    async with model("Change a word") as server:
        ran = await run_process("commit", "--dry-run", *place(server))
        assert (ran.code, ran.out) == (0, "Change a word\n"), ran
    assert git("status", "--porcelain") == " M a.txt\n"
    with pytest.raises(ConfigurationError, match="there are 1 to 3"):
        parse_selection("1,4", 3)
    assert parse_selection("1 3-4", 4) == {1, 3, 4}


def test_the_style_is_learnt_from_the_log() -> None:
    typed = style_of(["feat(api): add a door", "fix(ui): close it", "fix(api): oil it", "Merge things"])
    assert (typed.types, typed.has_scopes, typed.is_capitalized) == (("fix", "feat"), True, False)
    assert typed.conform('"fix(api): Paint the door."') == "fix(api): paint the door"
    assert typed.conform("feat: README is newer") == "feat: README is newer"
    plain = style_of(["Adds a door.\n\nIt was missing.", "Closes it.\n\nIt was open.\n\nSigned-off-by: A <a@b.org>"])
    assert (plain.ends_with_period, plain.has_bodies, plain.types) == (True, True, ())
    assert plain.conform("paints it\n\nIt was grey.") == "Paints it.\n\nIt was grey."
    assert not style_of(["Add a door\n\nSigned-off-by: A <a@b.org>"]).has_bodies
    assert style_of(["Add a door\n\nSigned-off-by: A <a@b.org>"]).is_signed_off
    assert style_of([]) == CommitStyle()
    assert style_of(["Add a door"]).conform("fix: paint it") == "Paint it"
    assert CommitStyle().conform("fix: paint it.") == "fix: paint it"


@NEEDS_TMUX
async def test_a_commit_in_the_terminal_is_edited_first(tmp_path: Path) -> None:
    make_changes()
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/Change/Rewrite/" "$1"\n')
    editor.chmod(0o755)
    async with model("Change two lines") as server:
        env = {name: value for name, value in os.environ.items() if name.startswith("GIT_")}
        async with Tmux(tmp_path, "commit", *place(server), EDITOR=str(editor), **env) as terminal:
            await terminal.shows("✓   1  long.txt:1  +1 −1", "Change two lines", "commit? [y]es", seconds=60)
            await terminal.enter("1")
            await terminal.shows("1 of 4 hunks:", seconds=60)
            await terminal.enter("e")
            await terminal.shows("Rewrite two lines", seconds=60)
            await terminal.enter("y")
            await terminal.shows("status 0", seconds=60)
    assert git("log", "-1", "--format=%s") == "Rewrite two lines\n"
    assert "thirty-nine" not in git("show", "HEAD")


@NEEDS_TMUX
async def test_a_commit_in_a_conversation(tmp_path: Path) -> None:
    make_changes()
    hook("pre-commit", "test -e allowed || { echo 'not allowed yet'; exit 1; }")
    here(".gitignore").write_text("allowed\n")
    env = {name: value for name, value in os.environ.items() if name.startswith("GIT_")}
    async with model("Change two lines") as server:
        words = ["chat", *place(server), "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, *words, **env) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("/commit")
            await terminal.shows("5 of 5 hunks:", "Change two lines", "commit? [y]es", seconds=60)
            await terminal.enter("y")
            await terminal.shows("not allowed yet", "Nothing was committed", seconds=60)
            here("allowed").touch()
            await terminal.enter("y")
            await terminal.shows("Committed ", ": Change two lines", seconds=60)
            await terminal.enter("/cost")
            await terminal.shows("1 text for commits and pull requests: 11 tokens in, 7 out", seconds=60)
            await terminal.enter("/pr")
            await terminal.shows("The repository has no remote", seconds=60)
    assert git("log", "-1", "--format=%s") == "Change two lines\n"
