"""`heald pr`: real git pushes the branch, and a scripted Gitea, GitHub or GitLab creates the pull request."""

import os
from pathlib import Path
from typing import Any

import pytest
from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

import git_commands
from cli_bench import run_process
from cli_pages import here
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_cli.repository.pull_request import split_text
from heald_forges.remote import parse_remote

TOKEN = "token-of-the-forge-7310"
TEXT = "Title: Add a door\n\n## Body:\nIt opens and closes."


class Forge:
    """A server that is a model at /v1 and a forge of one kind at its API."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pulls: list[dict[str, Any]] = []

    def __call__(self, request: ReceivedRequest) -> Reply:
        path = request.path.partition("?")[0]
        if path.startswith("/v1"):
            return wire_reply("chat", text=TEXT)
        match self.kind:
            case "gitea":
                return self._answer_pulls(request, path, "/api/v1", "/version")
            case "github":
                return self._answer_pulls(request, path, "/api/v3", "/meta")
            case _:
                return self._answer_gitlab(request, path)

    def _answer_pulls(self, request: ReceivedRequest, path: str, api: str, probe: str) -> Reply:
        if path == f"{api}{probe}":
            return Reply.json({"version": "1"})
        if not path.startswith(api):
            return Reply.json({}, 404)
        if path == f"{api}/repos/me/site":
            return Reply.json({"default_branch": "main"})
        if request.method == "GET":
            return Reply.json(self.pulls if "page=2" not in request.path else [])
        body = request.body
        pull = {"number": 9, "html_url": "https://example.org/9", "title": body["title"], "body": body["body"]}
        self.pulls.append({**pull, "head": {"ref": body["head"]}, "base": {"ref": body["base"]}})
        return Reply.json(self.pulls[-1], 201)

    def _answer_gitlab(self, request: ReceivedRequest, path: str) -> Reply:
        if not path.startswith("/api/v4"):
            return Reply.json({}, 404)
        if path == "/api/v4/version":
            return Reply.json({"message": "401 Unauthorized"}, 401)
        if path == "/api/v4/projects/me%2Fsite":
            return Reply.json({"default_branch": "main"})
        if request.method == "GET":
            return Reply.json(self.pulls)
        self.pulls.append({**request.body, "iid": 9, "web_url": "https://example.org/9"})
        return Reply.json(self.pulls[-1], 201)


def make_branch(folder: Path, address: str) -> Path:
    """Make a repository with a branch, whose pushes go to a bare one. Returns that one."""
    bare = folder / "bare.git"
    git_commands.git(folder, "init", "-q", "--bare", str(bare))
    make_repository()
    git("branch", "-M", "main")
    git("remote", "add", "origin", address)
    git("remote", "set-url", "--push", "origin", str(bare))
    git("push", "-q", "origin", "main")
    git("switch", "-qc", "topic/door")
    here("door.txt").write_text("A door.\n")
    git("add", "-A")
    git("commit", "-qm", "A door\n\nIt was missing.")
    return bare


def place(server: ScriptedServer) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1"]


@pytest.mark.parametrize("kind", ["gitea", "github", "gitlab"])
async def test_a_branch_becomes_a_pull_request(kind: str, tmp_path: Path) -> None:
    forge = Forge(kind)
    async with ScriptedServer(forge) as server:
        address = f"{server.url}/me/site.git"
        bare = make_branch(tmp_path, address)
        env = {parse_remote(address).token_variable: TOKEN}
        ran = await run_process("pr", "--yes", *place(server), env=env)
        assert (ran.code, ran.out) == (0, "https://example.org/9\n"), ran
        assert git_commands.git(bare, "log", "-1", "--format=%s", "topic/door") == "A door\n"
        pull = forge.pulls[0]
        names = ("source_branch", "target_branch", "description") if kind == "gitlab" else ("head", "base", "body")
        branch, base, body = (pull[name] for name in names)
        assert (pull["title"], body) == ("Add a door", "It opens and closes.")
        assert ("topic/door" in str(branch), "main" in str(base)) == (True, True)
        here("door.txt").write_text("A red door.\n")
        git("commit", "-qam", "Paint it")
        ran = await run_process("pr", "--yes", *place(server), env=env)  # the branch has one: it only pushes
        assert (ran.code, ran.out, len(forge.pulls)) == (0, "https://example.org/9\n", 1), ran
        assert git_commands.git(bare, "log", "-1", "--format=%s", "topic/door") == "Paint it\n"
    asked = [request for request in server.requests if request.path.startswith("/v1")]
    assert len(asked) == 1
    assert "It was missing." in str(asked[0].body)
    assert TOKEN not in str(asked[0].body) + ran.out + ran.err


async def test_what_is_refused_before_anything_is_pushed(tmp_path: Path) -> None:
    forge = Forge("gitea")
    async with ScriptedServer(forge) as server:
        address = f"{server.url}/me/site.git"
        bare = make_branch(tmp_path, address)
        env = {parse_remote(address).token_variable: TOKEN}
        ran = await run_process("pr", "--yes", *place(server))
        assert (ran.code, "There is no token for 127.0.0.1" in ran.err) == (2, True), ran
        ran = await run_process("pr", *place(server), env=env)
        assert (ran.code, "There is no terminal for the question" in ran.err) == (2, True)
        ran = await run_process("pr", "--yes", "--base", "nothing", *place(server), env=env)
        assert (ran.code, "There is no branch nothing" in ran.err) == (2, True), ran
        ran = await run_process("pr", "--dry-run", *place(server), env=env)
        assert (ran.code, ran.out) == (0, "Add a door\n\nIt opens and closes.\n"), ran
        git("switch", "-q", "main")
        ran = await run_process("pr", "--yes", *place(server), env=env)
        assert (ran.code, "main is the branch that pull requests are for" in ran.err) == (2, True), ran
        git("switch", "-q", "--detach")
        ran = await run_process("pr", "--yes", *place(server), env=env)
        assert (ran.code, "No branch is checked out" in ran.err) == (2, True), ran
    assert not forge.pulls
    assert "door" not in git_commands.git(bare, "branch")


async def test_a_push_that_a_hook_refuses_creates_nothing(tmp_path: Path) -> None:
    forge = Forge("gitea")
    async with ScriptedServer(forge) as server:
        address = f"{server.url}/me/site.git"
        make_branch(tmp_path, address)
        hook = here(".git/hooks/pre-push")
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'not on a Friday'; exit 1\n")
        hook.chmod(0o755)
        env = {parse_remote(address).token_variable: TOKEN}
        ran = await run_process("pr", "--yes", "--title", "T", "--body", "B", env=env)
        assert (ran.code, "not on a Friday" in ran.err) == (1, True), ran
    assert not forge.pulls


@NEEDS_TMUX
async def test_a_pull_request_in_a_conversation(tmp_path: Path) -> None:
    forge = Forge("gitea")
    async with ScriptedServer(forge) as server:
        address = f"{server.url}/me/site.git"
        make_branch(tmp_path, address)
        env = {name: value for name, value in os.environ.items() if name.startswith("GIT_")}
        env[parse_remote(address).token_variable] = TOKEN
        words = ["chat", *place(server), "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, *words, **env) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("/pr")
            question = "push and create it?"
            await terminal.shows("1 commit of topic/door for main", "It opens and closes.", question, seconds=60)
            assert not forge.pulls
            await terminal.enter("y")
            await terminal.shows("Pull request 9: https://example.org/9", seconds=60)
            assert TOKEN not in terminal.screen()


def test_title_and_body_of_an_answer() -> None:
    assert split_text("**Title:** Add it\n\nBody.\n- a") == ("Add it", "Body.\n- a")
    assert split_text("```markdown\n# Add it\n\nBecause.\n```") == ("Add it", "Because.")
    assert split_text("## **Title**: Add it") == ("Add it", "")
    assert split_text("Title case in headings\n\n#7 is why.") == ("Title case in headings", "#7 is why.")
    assert split_text("#7: mend the door") == ("#7: mend the door", "")
    assert split_text("") == ("", "")
