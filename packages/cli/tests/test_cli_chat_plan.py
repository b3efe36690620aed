"""Plan mode, the todo list, subagents and background commands of `heald chat`, in a real terminal."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

from cli_tmux import NEEDS_TMUX, Tmux

from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

pytestmark = NEEDS_TMUX

PLAN = "1. Write b.txt with the words.\n2. Look at it."


def chat(server: ScriptedServer, tmp_path: Path, *words: str, **env: str) -> Tmux:
    place = [
        "--model",
        "m",
        "--base-url",
        f"{server.url}/v1",
        "--data",
        str(tmp_path / "data"),
        "--permissions",
        "auto",
    ]
    return Tmux(tmp_path, "chat", *place, *words, **env)


def create(path: str) -> ToolCall:
    return ToolCall(id=f"c_{path}", name="create_file", input={"path": path, "content": "words\n"})


def planner(request: Any) -> Reply:
    """A model that writes at once, and answers with a plan when that is refused."""
    last = request.body["messages"][-1]
    text = json.dumps(last)
    if last["role"] == "tool":
        return wire_reply("chat", text=PLAN if "plan mode" in text else "It is done.")
    return wire_reply("chat", calls=[create("c.txt" if "Write c.txt" in text else "b.txt")])


async def press(terminal: Tmux, key: str) -> None:
    await asyncio.sleep(0.6)
    terminal.press(key)


async def test_a_plan_is_edited_approved_and_carried_out(tmp_path: Path) -> None:
    editor = "sed -i s/b.txt/c.txt/"
    async with ScriptedServer(planner) as server, chat(server, tmp_path, EDITOR=editor) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/plan")
        await terminal.shows("Plan mode: the model may only read.")
        await terminal.enter("Write the words")
        screen = await terminal.shows("1 Write b.txt", "The plan: y carry it out", "✗ create_file")
        assert "› Write the words" in screen
        assert "change nothing, only read" not in screen, "the person sees the words that were typed"
        assert "Plan mode: change nothing" in json.dumps(server.requests[0].body["messages"][-1])
        assert not here("b.txt").exists()
        await press(terminal, "e")
        await terminal.shows("The plan is edited.", "+1. Write c.txt with the words.")
        await press(terminal, "y")
        await terminal.shows("I changed the plan and approve it like this.", "It is done.")
        assert here("c.txt").read_text() == "words\n"
        assert not here("b.txt").exists()


async def test_a_plan_that_is_refused_stays_a_plan(tmp_path: Path) -> None:
    async with ScriptedServer(planner) as server, chat(server, tmp_path, "--plan") as terminal:
        await terminal.shows("Plan mode: the model may only read.")
        await terminal.enter("Write the words")
        await terminal.shows("The plan: y carry it out")
        await press(terminal, "n")
        await terminal.shows("Describe what the plan should have", without="The plan: y carry it out")
        await terminal.enter("/plan go")
        await terminal.shows("There is no plan to carry out")
        await terminal.enter("/plan off")
        await terminal.shows("Plan mode is off.")
        await terminal.enter("Write the words")
        await terminal.shows("It is done.")
        assert here("b.txt").exists()


async def test_plan_mode_holds_after_a_restart(tmp_path: Path) -> None:
    async with ScriptedServer(planner) as server:
        async with chat(server, tmp_path, "--plan") as terminal:
            await terminal.shows("Plan mode")
            await terminal.enter("Write the words")
            await terminal.shows("The plan: y carry it out")
            terminal.press("C-d")
            await terminal.shows("status 0")
        async with chat(server, tmp_path, "--resume") as terminal:
            await terminal.shows("Plan mode: the model may only read.", "› Write the words")
            await terminal.enter("Once more")
            await terminal.shows("The plan: y carry it out")
            assert not here("b.txt").exists()


async def test_the_todo_list_is_shown_while_it_changes(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        count = sum(message["role"] == "tool" for message in request.body["messages"])
        if count == 2:
            return wire_reply("chat", text="All is done.")
        states = [["in_progress", "pending"], ["done", "in_progress"]][count]
        items = [{"text": text, "status": state} for text, state in zip(("Read it", "Write it"), states, strict=True)]
        calls = [ToolCall(id=f"t{count}", name="todo_list", input={"items": items})]
        if count == 1:
            calls.append(ToolCall(id="q", name="ask_user", input={"question": "Go on?", "suggestions": ["Yes", "No"]}))
        return wire_reply("chat", calls=calls)

    async with ScriptedServer(answer) as server, chat(server, tmp_path) as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Work")
        await terminal.shows("[x] Read it", "[>] Write it", "Go on?", "Answer the question")
        await terminal.enter("1")
        await terminal.shows("1 of 2 done", "[>] Write it")


HELPER = """
import heald


@heald.tool
async def look(place: str) -> str:
    '''Look at a place.'''
    return f"{place} is empty"


S = heald.testing.ScriptedModel
model = S([[S.call("look", place="the attic")], "Nothing is there."])
helper = heald.Agent(model, tools=[look]).as_tool("helper", "Looks at places.")
"""


async def test_a_subagent_has_lines_of_its_own(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="The attic is empty.")
        return wire_reply("chat", calls=[ToolCall(id="h", name="helper", input={"prompt": "Look at the attic"})])

    here("crew.py").write_text(HELPER)
    async with ScriptedServer(answer) as server, chat(server, tmp_path, "--tool", "./crew.py") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Is anybody up there?")
        screen = await terminal.shows("The attic is empty.", "↳ ✓ look", "↳ Look at the attic: completed", "✓ helper")
        assert "› Look at the attic" not in screen, "a subagent's request is none of the person"


async def test_what_runs_in_the_background_ends_with_the_terminal(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="It runs.")
        arguments = {"command": "echo runs as $$; exec sleep 754", "background": True}
        return wire_reply("chat", calls=[ToolCall(id="b", name="run_command", input=arguments)])

    async with ScriptedServer(answer) as server, chat(server, tmp_path, "--unsandboxed") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("Start it")
        screen = await terminal.shows("It runs.", ") runs as ")
        process = Path("/proc") / screen.rpartition(") runs as ")[2].split()[0]
        assert process.exists()
        terminal.kill_program(signal.SIGHUP)
        async with asyncio.timeout(60):
            while process.exists():  # noqa: ASYNC110
                await asyncio.sleep(0.05)


async def test_a_background_command_is_followed(tmp_path: Path) -> None:
    def answer(request: Any) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return wire_reply("chat", text="It runs.")
        command = "echo ready; until test -e stop; do sleep 0.1; done; echo over"
        call = ToolCall(id="b", name="run_command", input={"command": command, "background": True})
        return wire_reply("chat", calls=[call])

    async with ScriptedServer(answer) as server, chat(server, tmp_path, "--unsandboxed") as terminal:
        await terminal.shows("heald with m")
        await terminal.enter("/jobs")
        await terminal.shows("No command runs in the background.")
        await terminal.enter("Start it")
        await terminal.shows("It runs.", "⧗ command-1 (echo ready", "…) ready")
        await terminal.enter("/jobs")
        await terminal.shows("1. command-1 (runs)")
        here("stop").touch()
        await terminal.shows("command-1 (ended, exit code 0)", "shows its output.")
        await terminal.enter("/jobs 1")
        await terminal.shows("  over")
        await terminal.enter("/jobs stop 7")
        await terminal.shows("'stop 7' is not a command of the list")
