"""Preselects files for a search with ripgrep."""

import os
import shutil
import subprocess
from functools import cache

from heald.tools.files.rust_pattern import rust_pattern
from heald.tools.files.walk import Deadline
from heald.tools.shell.sandbox import INSIDE, Sandbox, bind_programs

_MAX_NAMES = 8 << 20  # bytes
_VARIABLES = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
_OPTIONS = (
    *("--no-config", "--no-messages", "--color=never", "--threads=2", "--files-with-matches", "--null"),
    *("--no-ignore", "--hidden", "--glob=!.git", "--text", "--encoding=none", "--dfa-size-limit=64M"),
)


class Ripgrep:
    """Runs ripgrep on the folder of a workspace."""

    def __init__(self, root: str) -> None:
        self._root = root

    def candidates(self, pattern: str, path: str, *, ignore_case: bool, deadline: Deadline) -> list[str] | None:
        """Return the paths of files that may match; None if ripgrep fails or exceeds its time."""
        programs = _programs()
        rewritten = rust_pattern(pattern)
        if programs is None or rewritten is None:
            return None
        bwrap, ripgrep = programs
        try:
            folder = os.open(self._root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            argv = [bwrap, *_sandbox(), "--ro-bind", f"/proc/self/fd/{folder}", INSIDE, "--chdir", INSIDE, "--"]
            argv += [ripgrep, *_OPTIONS, *(["--ignore-case"] if ignore_case else [])]
            argv += ["-e", rewritten, "--", f"./{path}"]
            done = subprocess.run(
                argv,
                env=_VARIABLES,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(folder,),
                timeout=max(deadline.left / 2, 0.05),  # the rest is for a search without ripgrep
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None
        finally:
            os.close(folder)
        if done.returncode not in (0, 1) or len(done.stdout) > _MAX_NAMES:  # 1: nothing matches
            return None
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return [name.removeprefix("./") for name in names if name]


@cache
def _programs() -> tuple[str, str] | None:
    """Return the paths of bubblewrap and ripgrep if both work, else None."""
    bwrap, ripgrep = shutil.which("bwrap"), shutil.which("rg")
    if bwrap is None or ripgrep is None or Sandbox().available() is not None:
        return None
    ripgrep = os.path.realpath(ripgrep)
    if not ripgrep.startswith("/usr/"):
        return None
    argv = [bwrap, *_sandbox(), "--", ripgrep, "--version"]
    try:
        done = subprocess.run(
            argv, env=_VARIABLES, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (bwrap, ripgrep) if done.returncode == 0 else None


@cache
def _sandbox() -> tuple[str, ...]:
    isolation = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
    return (*isolation, *bind_programs())
