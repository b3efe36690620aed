"""Takes the pictures of `heald chat` in docs/images: the real program in tmux, with a scripted model, as SVG.

python scripts/chat_screens.py            all of them
python scripts/chat_screens.py plan       one
"""

import asyncio
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
COLUMNS, ROWS = 80, 24
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.S)
_COLOURS = [
    (46, 52, 64),
    (224, 108, 117),
    (152, 195, 121),
    (229, 192, 123),
    (97, 175, 239),
    (198, 120, 221),
    (86, 182, 194),
]
_THEME = TerminalTheme((29, 35, 48), (215, 220, 230), [*_COLOURS, (171, 178, 191)], [*_COLOURS, (255, 255, 255)])
_OLD = "def greet(name):\n    return 'Hello ' + name\n"
_EDIT = ToolCall(
    id="e",
    name="edit_file",
    input={"path": "greet.py", "old_text": "return 'Hello ' + name", "new_text": "return f'Hello {name.title()}'"},
)
_ITEMS = (("Read greet.py", "done"), ("Write a test", "in_progress"), ("Run the tests", "pending"))
_TODO = ToolCall(id="t", name="todo_list", input={"items": [{"text": text, "status": state} for text, state in _ITEMS]})
_ASK = ToolCall(
    id="q", name="ask_user", input={"question": "Which test runner?", "suggestions": ["pytest", "unittest"]}
)
_PLAN = (
    "1. Change `greet` in `greet.py`: names begin with a capital letter.\n"
    "2. Add `test_greet.py` with two cases.\n3. Run the tests."
)
_READ = ToolCall(id="r", name="read_file", input={"path": "greet.py"})


def answer(request: Any) -> Reply:
    """The model of the pictures."""
    messages = request.body["messages"]
    asked = next(str(message["content"]) for message in reversed(messages) if message["role"] == "user")
    done = len(messages) - 1 - max(at for at, message in enumerate(messages) if message["role"] == "user")
    if not done:
        return wire_reply("chat", calls=[_READ])
    if "Plan mode" in asked:
        return wire_reply("chat", text=_PLAN)
    if "test" in asked:
        return wire_reply("chat", calls=[_TODO, _ASK])
    if done < 3:
        return wire_reply("chat", calls=[_EDIT])
    return wire_reply("chat", text="`greet` now writes **names** with a capital letter.")


Step = Callable[["Terminal"], Any]


async def show_approval(terminal: "Terminal") -> None:
    await terminal.enter("Write names with a capital letter")
    await terminal.wait_for("Allow edit_file?")


async def show_answer(terminal: "Terminal") -> None:
    await show_approval(terminal)
    await asyncio.sleep(0.6)
    terminal.tmux("send-keys", "y")
    await terminal.wait_for("greet now writes names", "cost unknown")


async def show_undo(terminal: "Terminal") -> None:
    await show_answer(terminal)
    await terminal.enter("/undo")
    await terminal.wait_for("greet.py is restored.")
    await terminal.enter("/redo")
    await terminal.wait_for("Redone:")


async def show_plan(terminal: "Terminal") -> None:
    await terminal.enter("/plan Write names with a capital letter")
    await terminal.wait_for("The plan: y carry it out", "Run the tests.")


async def show_todo(terminal: "Terminal") -> None:
    await terminal.enter("Add a test for greet")
    await terminal.wait_for("[>] Write a test", "Which test runner?", "Answer the question")


SCREENS: dict[str, Step] = {
    "approval": show_approval,
    "undo": show_undo,
    "plan": show_plan,
    "todo": show_todo,
}


class Terminal:
    """`heald chat` in tmux, in a repository of its own."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self._folder = folder
        self._env = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def start(self, address: str) -> None:
        work = self._folder / "shop"
        work.mkdir()
        (work / "greet.py").write_text(_OLD)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=work, check=True, env=self._env)
        options = ["--model", "model", "--base-url", address, "--data", str(self._folder / "data")]
        command = shlex.join([sys.executable, "-m", "heald_cli.main", "chat", *options])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "-c", str(work), command)

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words], env=self._env, check=True, capture_output=True, timeout=20
        )
        return done.stdout.decode()

    async def enter(self, text: str) -> None:
        self.tmux("send-keys", "-l", "--", text)
        await asyncio.sleep(0.1)
        self.tmux("send-keys", "Enter")

    async def wait_for(self, *texts: str) -> None:
        async with asyncio.timeout(60):
            screen = ""
            while any(text not in screen for text in texts):
                await asyncio.sleep(0.1)
                screen = self.tmux("capture-pane", "-p", "-J")
        await asyncio.sleep(0.7)  # the row below follows

    def draw(self) -> str:
        """The screen as SVG, without fonts from the network and without the path of this machine."""
        screen = self.tmux("capture-pane", "-p", "-e").rstrip("\n").replace(str(self._folder / "shop"), "~/shop")
        console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
        console.print(Text.from_ansi(screen))
        drawn = console.export_svg(title="heald chat", theme=_THEME, unique_id="heald")
        return "\n".join(line.rstrip() for line in _FONTS.sub("", drawn).splitlines()) + "\n"

    def close(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False, timeout=20)


async def take(name: str, step: Step) -> None:
    """Take one picture."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        terminal = Terminal(Path(folder))
        async with ScriptedServer(answer) as server:
            terminal.start(f"{server.url}/v1")
            try:
                await terminal.wait_for("heald with model")
                await step(terminal)
                text = terminal.draw()
            finally:
                terminal.close()
    (IMAGES / f"chat-{name}.svg").write_text(text, "utf-8")
    print(f"docs/images/chat-{name}.svg")


async def main(names: list[str]) -> None:
    for name in names or SCREENS:
        await take(name, SCREENS[name])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
