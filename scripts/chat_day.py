"""A working day in `heald chat`: the real program in tmux, with a scripted model, at 80x24 and at 200x50.

    python scripts/chat_day.py FOLDER

Plans, refuses with a reason, switches the mode, steers, starts sub-agents, meets a hook, calls an MCP server, commits,
is killed with kill -9 and continues. Each screen is written to FOLDER/80x24 and FOLDER/200x50 as text, to be looked at.
"""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from heald.core.messages import ToolCall
from heald.testing.server import Hang, Pause, Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream

SIZES = ((80, 24), (200, 50))
PLAN = "1. Write `door.py` with a class `Door`.\n2. Add a test in `test_door.py`.\n3. Run the tests."
AGENT = "---\ndescription: Writes notes.\ntools: [files]\nbudget: {turns: 5}\n---\nYou are the note writer.\n"
HOOKS = '[hooks]\nbefore = ["create_file(*.lock): echo Lock files are made by tools, run make lock.; exit 1"]\n'
MCP_SERVER = """
import json, sys
TOOL = {"name": "opening_hours", "description": "When the shop is open.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "shop", "version": "1"}},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "Open from 9 to 17."}]},
    }.get(message.get("method"), {})
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
DOOR = """class Door:
    def __init__(self):
        self.is_open = False

    def open(self):
        self.is_open = True
"""


def answer(request: Any) -> Reply:
    """The model of the day."""
    messages = request.body["messages"]
    system = json.dumps(messages[0])
    asked = next(json.dumps(message["content"]) for message in reversed(messages) if message["role"] == "user")
    is_done = messages[-1]["role"] == "tool"
    if "You are the note writer." in system:
        return (
            wire_reply("chat", text="The note is written.")
            if is_done
            else _call("create_file", path="note.md", content="A note.\n")
        )
    if "commit messages" in system:
        return wire_reply("chat", text="Add a door that opens")
    if "Plan mode" in asked:
        return wire_reply("chat", text=PLAN)
    if is_done:
        return wire_reply("chat", text=_summary(str(messages[-1]["content"])))
    if "verbose" in asked:
        return wire_reply("chat", text="The tests pass; next time I run them with `-v`.")
    if "The plan is approved" in asked or "door" in asked:
        return _call("create_file", path="door.py", content=DOOR)
    if "tests" in asked:
        return _call("run_command", command="sleep 4; echo 3 passed in 0.02s")
    if "note" in asked:
        return _call("start_background_agent", agent="writer", prompt="Write a note about the door")
    if "lock" in asked:
        return _call("create_file", path="door.lock", content="x\n")
    if "open" in asked:
        return _call("shop__opening_hours")
    if "long story" in asked:
        start = wire_stream("chat", text="Once upon a time there was a door.")
        return Reply([*start[:2], Pause(0.2), Hang()])
    return wire_reply("chat", text="Here I am again. The door is in `door.py`.")


def _call(name: str, **arguments: Any) -> Reply:
    return wire_reply("chat", calls=[ToolCall(id=f"c{name}", name=name, input=arguments)])


def _summary(result: str) -> str:
    if "denied" in result.lower() or "use a property" in result:
        return "Understood: a **property** it is. Shall I write it?"
    if "hook" in result.lower():
        return "A hook refused it; I leave lock files to `make lock`."
    if "9 to 17" in result:
        return "The shop is open from 9 to 17."
    return "Done.\n\n| file | state |\n|---|---|\n| door.py | written |"


class Terminal:
    """`heald chat` in tmux, in a repository of its own."""

    def __init__(self, folder: Path, out: Path, columns: int, rows: int) -> None:
        self._socket = str(folder / "tmux")
        self._folder, self._out = folder, out
        self._size = (str(columns), str(rows))
        self._count = 0
        self.work = folder / "shop"
        self._env = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            **{f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def prepare(self) -> None:
        """Make the repository, with an agent, hooks and an MCP server that are trusted."""
        (self.work / ".heald" / "agents").mkdir(parents=True)
        (self.work / ".heald" / "agents" / "writer.md").write_text(AGENT)
        server = self._folder / "server.py"
        server.write_text(MCP_SERVER)
        command = f"{json.dumps(sys.executable)}\nargs = {json.dumps([str(server)])}"
        (self.work / "heald.toml").write_text(f"{HOOKS}\n[mcp.shop]\ncommand = {command}\n")
        for words in (
            ["git", "init", "-q", "-b", "main"],
            ["git", "add", "-A"],
            ["git", "commit", "-qm", "Add the shop"],
        ):
            subprocess.run(words, cwd=self.work, check=True, env=self._env)
        trust = [sys.executable, "-m", "heald_cli.main", "trust", "--yes"]
        subprocess.run(trust, cwd=self.work, check=True, env=self._env, capture_output=True)

    def start(self, address: str, *words: str) -> None:
        options = ["--model", "model", "--base-url", address, "--data", str(self._folder / "data"), "--unsandboxed"]
        command = shlex.join([sys.executable, "-m", "heald_cli.main", "chat", *options, *words])
        columns, rows = self._size
        place = ("-x", columns, "-y", rows, "-c", str(self.work))
        self.tmux("-f", "/dev/null", "new-session", "-d", *place, f"{command}; exec cat")

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words], env=self._env, check=True, capture_output=True, timeout=20
        )
        return done.stdout.decode()

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", "--", text)

    async def enter(self, text: str) -> None:
        self.type(text)
        await asyncio.sleep(0.15)
        self.tmux("send-keys", "Enter")

    async def press(self, key: str) -> None:
        await asyncio.sleep(0.7)  # a key right after a question decides nothing
        self.tmux("send-keys", key)

    async def wait_for(self, *texts: str) -> None:
        """Wait for texts on the screen or above it. Rows that were broken are joined."""
        async with asyncio.timeout(90):
            while True:
                screen = " ".join(self.tmux("capture-pane", "-p", "-J", "-S", "-500").split())
                if all(text in screen for text in texts):
                    return
                await asyncio.sleep(0.15)

    async def capture(self, name: str) -> None:
        """Write the screen to the folder."""
        await asyncio.sleep(0.8)  # the row below follows
        self._count += 1
        screen = self.tmux("capture-pane", "-p").replace(str(self.work), "~/shop")
        (self._out / f"{self._count:02}-{name}.txt").write_text(screen)

    def kill_program(self) -> None:
        """End the program as `kill -9` does."""
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        for child in Path(f"/proc/{shell}/task/{shell}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)

    def close(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False, timeout=20)


async def work_a_day(terminal: Terminal, address: str) -> None:
    """Work through the day, and capture the screen after each step."""
    terminal.start(address)
    await terminal.wait_for("heald with model")
    await terminal.capture("start")
    await terminal.enter("/plan Write a door for the shop")
    await terminal.wait_for("The plan: y carry it out")
    await terminal.capture("plan")
    await terminal.press("y")
    await terminal.wait_for("Allow create_file?")
    await terminal.capture("question")
    await terminal.press("n")
    await terminal.wait_for("Why not?")
    await terminal.enter("use a property instead of an attribute")
    await terminal.wait_for("a property it is.")
    await terminal.capture("refused-with-a-reason")
    await terminal.press("BTab")
    await terminal.wait_for("Mode edits")
    await terminal.enter("Write the door then")
    await terminal.wait_for("✓ create_file", "written")
    await terminal.capture("mode-edits")
    await terminal.enter("Run the tests")
    await terminal.wait_for("Allow run_command?")
    await terminal.press("y")
    terminal.type("Use verbose output from now on")
    await terminal.press("C-s")
    await terminal.wait_for("next time I run them with -v")
    await terminal.capture("steered")
    await terminal.press("C-o")
    await terminal.capture("output-opened")
    await terminal.enter("Let somebody write a note")
    await terminal.wait_for("Allow start_background_agent?")
    await terminal.press("y")
    await terminal.wait_for("/agents 1 shows it")
    await terminal.capture("sub-agent")
    await terminal.enter("/agents 1")
    await terminal.wait_for("+A note.")
    await terminal.enter("/cost")
    await terminal.wait_for("1 sub-agent in the background:")
    await terminal.capture("agents-and-cost")
    await terminal.enter("Write the lock file")
    await terminal.wait_for("I leave lock files to make lock.")
    await terminal.capture("hook")
    await terminal.enter("/mcp")
    await terminal.wait_for("shop: 1 tool,")
    await terminal.enter("When are you open?")
    await terminal.wait_for("Allow shop__opening_hours?")
    await terminal.press("y")
    await terminal.wait_for("The shop is open from 9 to 17.")
    await terminal.capture("mcp")
    await terminal.enter("/commit")
    await terminal.wait_for("commit? [y]es")
    await terminal.capture("commit-question")
    await terminal.enter("y")
    await terminal.wait_for("Committed ")
    await terminal.capture("committed")
    await terminal.enter("Tell me a long story")
    await terminal.wait_for("Once upon a time")
    await terminal.capture("before-the-kill")
    terminal.kill_program()
    terminal.close()
    terminal.start(address, "--resume", "--after-crash", "close")
    await terminal.wait_for("heald with model", "The shop is open from 9 to 17.")
    await terminal.capture("resumed")
    await terminal.enter("Are you still there?")
    await terminal.wait_for("Here I am again.")
    await terminal.capture("continued")


async def main(out: Path) -> None:
    for columns, rows in SIZES:
        folder = out / f"{columns}x{rows}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            terminal = Terminal(Path(place), folder, columns, rows)
            terminal.prepare()
            async with ScriptedServer(answer) as server:
                try:
                    await work_a_day(terminal, f"{server.url}/v1")
                except TimeoutError:
                    await terminal.capture("not-reached")
                    raise
                finally:
                    terminal.close()
        print(f"{len(list(folder.iterdir()))} screens in {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1])))
