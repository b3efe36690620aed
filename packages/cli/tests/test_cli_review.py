"""`heald review`: comments at lines, printed, as JSON, with an exit code, and posted to a pull request."""

import json

import pytest
from cli_repository import git, make_repository

from cli_bench import run_process
from cli_pages import here
from heald.core.json import JsonObject
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_cli.repository.branch_diff import split_files
from heald_cli.repository.review import parse_comments
from heald_forges.remote import parse_remote

TOKEN = "token-of-the-forge-5521"
ANSWER = "1. `a.txt:3`: three is never used.\n- **b.txt:1** - the file is empty.\nnothing.txt:9: not in the change."
PULL: JsonObject = {
    "number": 4,
    "html_url": "https://example.org/pull/4",
    "title": "T",
    "head": {"ref": "topic"},
    "base": {},
}


def make_branch() -> None:
    make_repository()
    git("branch", "-M", "main")
    git("switch", "-qc", "topic")
    here("a.txt").write_text("one\ntwo\nthree\n")
    here("b.txt").write_text("b\n")
    git("add", "-A")
    git("commit", "-qm", "More lines")


def answer(request: ReceivedRequest, pull_request: JsonObject = PULL) -> Reply:
    """Answer as a model at /v1, and as Gitea at /api/v1."""
    match (request.method, request.path.partition("?")[0]):
        case (_, path) if path.startswith("/v1"):
            return wire_reply("chat", text=ANSWER)
        case (_, "/api/v1/version"):
            return Reply.json({"version": "1.22"})
        case ("GET", "/api/v1/repos/me/site/pulls"):
            return Reply.json([pull_request])
        case ("POST", "/api/v1/repos/me/site/pulls/4/reviews"):
            return Reply.json({"id": 1})
        case _:
            return Reply.json({"message": "Not Found"}, 404)


def place(server: ScriptedServer) -> list[str]:
    return ["--model", "m", "--base-url", f"{server.url}/v1"]


async def test_comments_are_printed_at_lines() -> None:
    make_branch()
    async with ScriptedServer(answer) as server:
        ran = await run_process("review", "main..", *place(server))
        assert ran.out.splitlines() == ["a.txt:3: three is never used.", "b.txt:1: the file is empty."], ran
        assert ran.code == 4
        ran = await run_process("review", "main..", "--json", "--focus", "the third line", *place(server))
        comments = [json.loads(line) for line in ran.out.splitlines()]
        assert comments[0] == {"path": "a.txt", "line": 3, "text": "three is never used.", "is_added": True}
    asked = json.dumps(server.requests[-1].body["messages"])
    assert "    3 +three" in asked
    assert "the third line" in asked
    assert {tool["function"]["name"] for tool in server.requests[-1].body["tools"]} <= {
        *("read_file", "list_files", "glob", "search_files", "find_file"),
    }


async def test_nothing_to_say_and_wrong_uses() -> None:
    make_branch()
    async with ScriptedServer(lambda _: wire_reply("chat", text="No comments.")) as server:
        ran = await run_process("review", "main..", *place(server))
        assert (ran.code, ran.out) == (0, ""), ran
        ran = await run_process("review", *place(server))
        assert (ran.code, "changes nothing" in ran.err) == (0, True), ran
        here("a.txt").write_text("one\n")
        ran = await run_process("review", *place(server))
        assert (ran.code, "No comments." in ran.err) == (0, True), ran
        for words in (("nothing..",), ("main",), ("--post",)):
            ran = await run_process("review", *words, *place(server))
            assert (ran.code, ran.out) == (2, ""), ran
    assert len(server.requests) == 2


async def test_new_files_are_reviewed_and_secrets_are_not_sent() -> None:
    make_branch()
    here("new.txt").write_text("first\x0c+still the first\nsecond\n")
    here(".env").write_text("PASSWORD=hidden-5512\n")
    async with ScriptedServer(lambda _: wire_reply("chat", text="new.txt:2: why?")) as server:
        ran = await run_process("review", "--json", *place(server))
        assert (ran.code, json.loads(ran.out)["line"], json.loads(ran.out)["is_added"]) == (4, 2, True), ran
    asked = json.dumps(server.requests[0].body["messages"])
    assert "    2 +second" in asked
    assert "hidden-5512" not in asked


async def test_comments_are_posted_only_if_asked_and_with_a_token() -> None:
    make_branch()
    head: dict[str, str] = {"ref": "topic", "sha": "0" * 40}
    async with ScriptedServer(lambda request: answer(request, {**PULL, "head": head})) as server:
        address = f"{server.url}/me/site.git"
        git("remote", "add", "origin", address)
        ran = await run_process("review", "main..", "--post", *place(server))
        assert ran.code == 2
        assert f"set {parse_remote(address).token_variable} in the environment" in ran.err, ran
        assert not server.requests
        token = {parse_remote(address).token_variable: TOKEN}
        ran = await run_process("review", "main..", *place(server), env=token)
        assert not any(request.method == "POST" and "reviews" in request.path for request in server.requests)
        requests = len(server.requests)
        ran = await run_process("review", "main..", "--post", *place(server), env=token)
        assert (ran.code, "push the branch" in ran.err) == (2, True), ran
        assert not any(request.path.startswith("/v1") for request in server.requests[requests:])
        head["sha"] = git("rev-parse", "HEAD").strip()
        ran = await run_process("review", "main..", "--post", *place(server), env=token)
        assert (ran.code, "2 comments posted to https://example.org/pull/4" in ran.err) == (4, True), ran
    posted = server.requests[-1]
    assert [(note["path"], note["new_position"]) for note in posted.body["comments"]] == [("a.txt", 3), ("b.txt", 1)]
    assert posted.headers["authorization"] == f"token {TOKEN}"
    assert TOKEN not in ran.out + ran.err
    models = [request for request in server.requests if request.path.startswith("/v1")]
    assert not any(TOKEN in str(request.headers) + str(request.body) for request in models)


@pytest.mark.parametrize(
    ("row", "line", "text"),
    [
        ("a.txt:2: short", 2, "short"),
        ("* `a.txt:2-4` — a range", 2, "a range"),
        ("2) **a.txt:2**: bold", 2, "bold"),
        ("./a.txt:line 2: with a word", 2, "with a word"),
        ("[a.txt:2]: in brackets", 2, "in brackets"),
        ("a.txt:900: far beyond", 3, "far beyond"),
        ("a.txt:2: first\n    and more", 2, "first and more"),
    ],
)
def test_comments_in_many_forms(row: str, line: int, text: str) -> None:
    files = split_files("diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,3 @@\n one\n+two\n+three\n")
    comments = parse_comments(row, files)
    assert [(comment.path, comment.line, comment.text) for comment in comments] == [("a.txt", line, text)]
    assert parse_comments("Time: 10:30: nothing. See http://a.txt:2: x", files) == []


def test_a_comment_on_a_file_with_an_unusual_name() -> None:
    name = r"gr\303\266\303\237e und form.txt"
    files = split_files(f'diff --git "a/{name}" "b/{name}"\n--- "a/{name}"\n+++ "b/{name}"\t\n@@ -1 +1 @@\n+one\n')
    assert "+++ b/größe und form.txt\n" in files[0].text
    comments = parse_comments("- größe und form.txt:1: too large", files)
    assert [(comment.path, comment.line) for comment in comments] == [("größe und form.txt", 1)]
