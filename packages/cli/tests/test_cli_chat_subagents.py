"""Sub-agents that are written as files, `/agents` and `/goal` of `heald chat`, in a real terminal."""

import asyncio
import json
from pathlib import Path
from typing import Any

from cli_repository import git, make_repository
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX

WRITER = "---\ndescription: Writes notes.\ntools: [files]\nbudget: {turns: 5}\n---\nYou are the note writer.\n"


async def write_agent() -> None:
    here(".heald/agents").mkdir(parents=True)
    here(".heald/agents/writer.md").write_text(WRITER)
    ran = await run_process("trust", "--yes")
    assert ran.code == 0, ran


def chat(server: ScriptedServer, tmp_path: Path, *words: str) -> Tmux:
    place = ["--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data"), "--unsandboxed"]
    return Tmux(tmp_path, "chat", *place, *words)


def starter(*, background: bool) -> Any:
    """A model that starts a sub-agent, and is that sub-agent too."""

    def reply(request: Any) -> Reply:
        messages = request.body["messages"]
        is_sub_agent = "You are the note writer." in json.dumps(messages[0])
        is_answered = messages[-1]["role"] == "tool"
        if is_sub_agent and is_answered:
            return wire_reply("chat", text="The note is written.")
        if is_sub_agent:
            arguments = {"path": "note.txt", "content": "a note\n"}
            return wire_reply("chat", calls=[ToolCall(id="w", name="create_file", input=arguments)])
        if is_answered or "Start it" not in json.dumps(messages[-1]):
            return wire_reply("chat", text=f"Answer {sum(message['role'] == 'assistant' for message in messages)}.")
        name = "start_background_agent" if background else "start_agent"
        arguments = {"agent": "writer", "prompt": "Write a note"}
        return wire_reply("chat", calls=[ToolCall(id="s", name=name, input=arguments)])

    return reply


async def test_a_sub_agent_works_in_the_conversation(tmp_path: Path) -> None:
    await write_agent()
    async with ScriptedServer(starter(background=False)) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Start it")
        await terminal.shows("? create_file", "Allow create_file?", seconds=40)
        await asyncio.sleep(0.6)
        terminal.press("y")
        await terminal.shows("✓ start_agent", "↳ Write a note: completed", "Answer 1.", seconds=40)
        assert here("note.txt").read_text() == "a note\n"
        await terminal.enter("/agents")
        await terminal.shows("Agents: writer.", "agent-1 (writer): Write a note: completed, ", seconds=40)
    offered = [tool["function"]["name"] for tool in server.requests[1].body["tools"]]
    assert "create_file" in offered
    assert "start_agent" not in offered, "a sub-agent starts no others"


async def test_a_sub_agent_in_the_background_works_in_a_worktree(tmp_path: Path) -> None:
    make_repository()
    await write_agent()
    async with ScriptedServer(starter(background=True)) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Start it")
        await terminal.shows("Allow start_background_agent?", "prompt: Write a note", seconds=40)
        await asyncio.sleep(0.6)
        terminal.press("y")
        await terminal.shows("Answer 1.", "+1 −0 in 1 file;", "/agents apply 1 applies it.", seconds=40)
        assert not here("note.txt").exists()
        await terminal.enter("/agents 1")
        await terminal.shows("The note is written.", "+a note", seconds=40)
        await terminal.enter("/agents apply 1")
        await terminal.shows("The changes of agent-1 are applied: note.txt.", seconds=40)
        assert here("note.txt").read_text() == "a note\n"
        await terminal.enter("/undo")
        await terminal.shows("Undone: agent-1 (writer): Write a note", seconds=40)
        assert not here("note.txt").exists()
        await terminal.enter("What happened?")
        await terminal.shows("Answer 2.", seconds=40)
        await terminal.enter("/exit")
        await terminal.shows("status 0", seconds=40)
    assert "A sub-agent that you started has ended." in json.dumps(server.requests[-1].body["messages"])
    assert len(git("worktree", "list").splitlines()) == 1


async def test_a_goal_is_pursued_until_its_check_passes(tmp_path: Path) -> None:
    def reply(request: Any) -> Reply:
        messages = request.body["messages"]
        if messages[-1]["role"] == "tool" or "failed with exit code 1" not in json.dumps(messages[-1]):
            return wire_reply("chat", text="I think so.")
        return wire_reply("chat", calls=[ToolCall(id="w", name="create_file", input={"path": "a", "content": "x"})])

    async with ScriptedServer(reply) as server, chat(server, tmp_path, "--permissions", "auto") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/goal Make a")
        await terminal.shows("/goal --check 'COMMAND' REQUEST", seconds=40)
        await terminal.enter("/goal --check 'test -f a' Make a")
        await terminal.shows("`test -f a` failed with exit code 1; round 2 of 10.", seconds=40)
        await terminal.shows("The goal is reached after 2 rounds: `test -f a` passes.", seconds=40)
    assert here("a").read_text() == "x"
