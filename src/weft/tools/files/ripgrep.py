"""Ripgrep, to learn quickly which files may match. What is shown of them is read and matched by the workspace itself.

It runs in bubblewrap with the workspace and its own program alone, read-only, so that no link can lead it elsewhere.
Its patterns mean slightly other things than RE2's; they are rewritten so that it finds at least all that RE2 would.
"""

import os
import shutil
import subprocess
from functools import cache

from weft.tools.files.rust_pattern import rust_pattern
from weft.tools.files.walk import Deadline
from weft.tools.shell.sandbox import Sandbox

_MAX_NAMES = 8 << 20  # bytes
_FOLDERS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_INSIDE = "/workspace"
_OPTIONS = (
    *("--no-config", "--no-messages", "--color=never", "--threads=2", "--files-with-matches", "--null"),
    *("--no-ignore", "--hidden", "--glob=!.git", "--text", "--encoding=none", "--dfa-size-limit=64M"),
)


class Ripgrep:
    """Ripgrep on the folder of a workspace."""

    def __init__(self, root: str) -> None:
        self._root = root

    def candidates(self, pattern: str, path: str, *, ignore_case: bool, deadline: Deadline) -> list[str] | None:
        """Paths of the files that may match; None if ripgrep cannot say, or not in time."""
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
            argv = [bwrap, *_sandbox(), "--ro-bind", f"/proc/self/fd/{folder}", _INSIDE, "--chdir", _INSIDE, "--"]
            argv += [ripgrep, *_OPTIONS, *(["--ignore-case"] if ignore_case else [])]
            argv += ["-e", rewritten, "--", f"./{path}"]
            done = subprocess.run(
                argv,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(folder,),
                timeout=max(deadline.left / 2, 0.05),  # the rest is for looking without it
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
    """Bubblewrap and ripgrep, if both are there and work."""
    bwrap, ripgrep = shutil.which("bwrap"), shutil.which("rg")
    if bwrap is None or ripgrep is None or Sandbox().available() is not None:
        return None
    ripgrep = os.path.realpath(ripgrep)
    if not ripgrep.startswith("/usr/"):
        return None
    tried = [bwrap, *_sandbox(), "--", ripgrep, "--version"]
    try:
        done = subprocess.run(tried, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (bwrap, ripgrep) if done.returncode == 0 else None


@cache
def _sandbox() -> tuple[str, ...]:
    options = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    options += ["--ro-bind", "/usr", "/usr"]
    for name in _FOLDERS:
        if os.path.islink(f"/{name}"):
            options += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    return tuple(options)
