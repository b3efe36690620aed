"""Runs shell lines and records every program that they start, through strace: also those at absolute paths."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_EXEC = re.compile(r'^execve(?:at)?\((?:\w+, )?"((?:\\x[0-9a-f]{2})*)", \[(.*?)\](?:, | <)')
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_LIMIT = 60


@dataclass(frozen=True)
class Started:
    """A program that was started, or that was tried to be."""

    path: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        return os.path.basename(self.path)


@cache
def recorder_problem() -> str | None:
    """Why nothing can be recorded here, or None."""
    strace = shutil.which("strace")
    if strace is None:
        return "strace is not installed; scripts/system_packages.sh installs it."
    done = subprocess.run(
        [strace, "-qq", "-e", "trace=execve", "true"], capture_output=True, check=False, timeout=_LIMIT
    )
    return None if done.returncode == 0 and b"execve" in done.stderr else f"strace cannot trace here: {done.stderr!r}"


class ExecRecorder:
    """A folder with programs that do nothing, in which lines run without any other program on their path."""

    def __init__(self, folder: Path, markers: tuple[str, ...], programs: tuple[str, ...]) -> None:
        self.shims = folder / "shims"
        self._work = folder / "work"
        self._traces = folder / "traces"
        for path in (self.shims, self._work, self._traces):
            path.mkdir()
        nothing = shutil.which("true")
        assert nothing is not None
        for marker in markers:
            shutil.copy(nothing, self.shims / marker)
        for program in programs:
            path = shutil.which(program)
            if path is not None:
                (self.shims / program).symlink_to(path)

    def run(self, line: str) -> list[Started]:
        """Run a line with bash, and return all programs that it started."""
        for folder in (self._work, self._traces):
            shutil.rmtree(folder)
            folder.mkdir()
        strace, bash = shutil.which("strace"), shutil.which("bash")
        assert strace is not None
        assert bash is not None
        trace = ["-ff", "-qq", "-xx", "-s", "100000", "-e", "trace=execve,execveat", "-e", "signal=none"]
        process = subprocess.Popen(
            [strace, *trace, "-o", str(self._traces / "t"), bash, "--norc", "--noprofile", "-c", line],
            cwd=self._work,
            env={"PATH": str(self.shims), "HOME": str(self._work), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with suppress(subprocess.TimeoutExpired):  # what it started until then counts
                process.wait(_LIMIT)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        started = [item for path in self._traces.iterdir() for item in _read(path)]
        first = next(item for item in started if item.path == bash and item.arguments[-1] == line)
        started.remove(first)
        return started


def _read(path: Path) -> list[Started]:
    started: list[Started] = []
    for row in path.read_text().splitlines():
        match = _EXEC.match(row)
        if match is not None:
            started.append(Started(_decode(match[1]), tuple(_decode(text) for text in _TEXT.findall(match[2]))))
        else:
            assert not row.startswith("execve"), row
    return started


def _decode(text: str) -> str:
    return bytes.fromhex(text.replace("\\x", "")).decode("utf-8", "surrogateescape")
