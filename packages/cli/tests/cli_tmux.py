"""A terminal for tests: tmux, which shows what a person would see."""

import asyncio
import errno
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import pytest

from cli_bench import LOADED
from warm_process import is_python_the_same, warm_host

PANE_PROGRAM = Path(__file__).with_name("pane_program.py")
NEEDS_TMUX = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed (apt install tmux)")

_numbers = itertools.count()


class Tmux:
    """`heald …` in a terminal of 100 columns and 30 rows. It does not outlive the block.

    The program is forked from one that has loaded the commands."""

    is_forked = True

    def __init__(self, folder: Path, *words: str, **env: str) -> None:
        self._socket = str(folder / f"tmux{next(_numbers)}")  # a server that is ending still has its own
        self._words = words
        self._pid = 0
        """The program, where it was forked."""
        self._folder = folder
        self._lines = 2000
        variables = {"TERM": "xterm-256color", "HOME": str(folder), **env}
        for name in os.environ:
            if name in ("PATH", "XDG_CONFIG_HOME", "LANG", "LC_ALL") or name.startswith("PYTHON"):
                variables.setdefault(name, os.environ[name])
        variables["LC_ALL"] = "C.UTF-8"
        self._env = variables

    async def __aenter__(self) -> "Tmux":
        if self.is_forked and is_python_the_same(self._env):
            await self._start_warm()
        else:
            command = shlex.join([sys.executable, "-m", "heald_cli.main", *self._words])
            self._open_terminal(f"{command}; echo status $?; exec cat")
        return self

    def _open_terminal(self, command: str) -> str:
        """Open the terminal with what runs in it. Returns its path."""
        size, folder = ("-x", "100", "-y", "30"), str(Path.cwd())
        words = ("-d", *size, "-c", folder, "-P", "-F", "#{pane_tty}", command)
        return self._tmux("-f", "/dev/null", "new-session", *words).strip()

    async def _start_warm(self) -> None:
        shared = f"{self._socket}-program"
        os.mkdir(shared)
        os.mkfifo(f"{shared}/code")
        path = self._open_terminal(shlex.join(["exec", sys.executable, "-I", "-S", str(PANE_PROGRAM), shared]))
        code = await self._open_pipe(f"{shared}/code")
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
        try:
            variables = json.loads(await asyncio.to_thread(Path(shared, "variables").read_text))
            what = {"words": self._words, "terminal": True}
            streams = [terminal, terminal, terminal, code]
            host = warm_host(*LOADED, strict=True)
            self._pid = await asyncio.to_thread(host.start, what, Path.cwd(), variables, streams)
        finally:
            os.close(terminal)
            os.close(code)

    async def _open_pipe(self, path: str) -> int:
        """Wait until the terminal was given up: its other end is open then."""
        async with asyncio.timeout(60):
            while True:
                try:
                    return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                except OSError as error:
                    if error.errno != errno.ENXIO:
                        raise
                await asyncio.sleep(0.01)

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
        if self._pid:
            os.kill(self._pid, number)
            return
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


class ColdTmux(Tmux):
    """The program starts as a person starts it."""

    is_forked = False
