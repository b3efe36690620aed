"""A terminal for tests: tmux, which shows what a person would see."""

import asyncio
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import pytest

NEEDS_TMUX = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed (apt install tmux)")

_numbers = itertools.count()


class Tmux:
    """`heald …` in a terminal of 100 columns and 30 rows. It does not outlive the block."""

    def __init__(self, folder: Path, *words: str, **env: str) -> None:
        self._socket = str(folder / f"tmux{next(_numbers)}")  # a server that is ending still has its own
        self._words = words
        self._folder = folder
        self._lines = 2000
        variables = {"TERM": "xterm-256color", "HOME": str(folder), **env}
        for name in ("PATH", "PYTHONPATH", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "PYTHONDONTWRITEBYTECODE"):
            if name in os.environ:
                variables.setdefault(name, os.environ[name])
        variables["LC_ALL"] = "C.UTF-8"
        self._env = variables

    async def __aenter__(self) -> "Tmux":
        command = shlex.join([sys.executable, "-m", "heald_cli.main", *self._words])
        script = f"{command}; echo status $?; exec cat"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", str(Path.cwd()), script)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is not None:
            print(self.screen())
        self._kill()

    def screen(self) -> str:
        """All that was shown and is still in the scrollback, without colours."""
        return self._tmux("capture-pane", "-p", "-J", "-S", f"-{self._lines}")

    def keep_lines(self, count: int) -> None:
        """Keep more lines that scrolled away; before anything is shown."""
        self._lines = count

    def coloured(self) -> str:
        """What is on the screen, with its escapes."""
        return self._tmux("capture-pane", "-p", "-e")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def paste(self, text: str) -> None:
        """As a terminal does it, told apart from what is typed."""
        self._tmux("set-buffer", "--", text)
        self._tmux("paste-buffer", "-p")

    def kill_program(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send the program a signal; else end it at once, as `kill -9` does. The terminal stays."""
        shell = self._tmux("list-panes", "-F", "#{pane_pid}").strip()
        for child in Path(f"/proc/{shell}/task/{shell}/children").read_text().split():
            os.kill(int(child), number)

    async def enter(self, text: str) -> None:
        """Type a line and send it, as a person would: not in one burst."""
        self.type(text)
        await asyncio.sleep(0.05)
        self.press("Enter")

    async def shows(self, *texts: str, seconds: float = 180, without: str = "") -> str:
        """Wait until all of it is on the screen. Each look starts a process, so that they become rarer."""
        pause = 0.05
        async with asyncio.timeout(seconds):
            while True:
                screen = await asyncio.to_thread(self.screen)
                if all(text in screen for text in texts) and (not without or without not in screen):
                    return screen
                await asyncio.sleep(pause)
                pause = min(0.25, 1.3 * pause)

    def _kill(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True, check=False, timeout=20)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words],
            capture_output=True,
            check=False,
            timeout=20,
            env=self._env,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()
