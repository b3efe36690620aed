"""`/attempts` of `heald chat`, in a real terminal and a real repository."""

import asyncio
import json
from pathlib import Path
from typing import Any

from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Hang, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

pytestmark = NEEDS_TMUX


def chat(server: ScriptedServer, tmp_path: Path, *words: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")]
    return Tmux(tmp_path, "chat", *place, *(words or ("--permissions", "auto")), "--unsandboxed")


def writer(request: Any) -> Reply:
    """Answer a greeting, and write a file if it is asked for."""
    last = request.body["messages"][-1]
    if last["role"] == "tool":
        return wire_reply("chat", text="It is written.")
    if "Write" not in json.dumps(last["content"]):
        return wire_reply("chat", text=f"I know {len(request.body['messages'])} messages.")
    return wire_reply("chat", calls=[ToolCall(id="c1", name="create_file", input={"path": "b.txt", "content": "x\n"})])


async def test_attempts_are_applied_known_to_the_model_and_undone(tmp_path: Path) -> None:
    make_repository()
    async with ScriptedServer(writer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Hello")
        await terminal.shows("I know 2 messages.")
        await terminal.enter("/attempts")
        await terminal.shows("/attempts N REQUEST")
        await terminal.enter("/attempts 2 --check 'test -f b.txt' Write it")
        await terminal.shows("✓ 1  m  +1 −0 in 1 file, check passed", "apply which? [1-2]")
        assert not here("b.txt").exists()
        asked = [
            request.body["messages"] for request in server.requests if request.body["messages"][-1]["role"] == "user"
        ]
        assert len(asked) == 3
        assert "I know 2 messages." in json.dumps(asked[-1])  # the attempts go on with the conversation
        await terminal.enter("2")
        await terminal.shows("It is written.", "› Attempt 2 is applied to the folder.")
        assert here("b.txt").read_text() == "x\n"
        assert len(git("worktree", "list").splitlines()) == 1
        await terminal.enter("And now?")
        await terminal.shows("› And now?", "I know 5 messages.")
        assert "I let 2 other agents try this" in json.dumps(server.requests[-1].body)
        await terminal.enter("/attempts 1 Write it")
        await terminal.shows("1  m  changed nothing", "No attempt changed a file.")
        here("b.txt").unlink()
        await terminal.enter("/attempts 1 Write once more")
        await terminal.shows("apply which? [1-1]")
        await terminal.enter("1")
        await terminal.shows("› Attempt 1 is applied to the folder.")
        await terminal.enter("/undo")
        await terminal.shows("Undone: attempt 1 (m): Write once more", "b.txt is deleted again.")
        assert not here("b.txt").exists()
        await terminal.enter("/undo")
        await terminal.shows("Undone: And now?")


async def test_ctrl_c_ends_the_attempts_and_not_the_chat(tmp_path: Path) -> None:
    make_repository()

    def reply(request: Any) -> Reply:
        if "Write" in json.dumps(request.body["messages"][-1]):
            return Reply([*wire_stream("chat", text=["Half", "rest"])[:2], Hang()])
        return wire_reply("chat", text="Still here.")

    async with ScriptedServer(reply) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/attempts 2 Write it")
        await terminal.shows("▸ 2  m", "writing text")
        async with asyncio.timeout(120):
            while len(server.requests) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        terminal.press("C-c")
        await terminal.shows("The attempts were interrupted; nothing is applied.")
        assert len(git("worktree", "list").splitlines()) == 1
        await terminal.enter("Are you there?")
        await terminal.shows("Still here.")
        terminal.press("C-d")
        await terminal.shows("status 0")


async def test_a_folder_without_git(tmp_path: Path) -> None:
    async with ScriptedServer([]) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/attempts 2 Write it")
        await terminal.shows("is in no git repository")


async def test_the_question_of_each_attempt_is_on_the_screen(tmp_path: Path) -> None:
    make_repository()
    async with ScriptedServer(writer) as server, chat(server, tmp_path, "--permissions", "ask") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/attempts 2 Write it")
        first = await terminal.shows("attempt ", "path: b.txt", "+x", "allow? [y]es, [n]o, [a]lways this:")
        assert first.count("allow?") == 1
        await terminal.enter("y")
        await terminal.shows("attempt 1 (m): create_file", "attempt 2 (m): create_file", "this: y")
        await terminal.enter("n")
        await terminal.shows("why? (for the model; may be empty)")
        await terminal.enter("not twice")
        await terminal.shows("apply which?")
        assert "not twice" in json.dumps([request.body for request in server.requests])
