"""The sandbox of Heald's own git: no network, no other processes, and only the folders that one git needs.

It is a second wall. The first one is that git gets no settings of the repository; where bubblewrap is missing or cannot
start git, only that one stands.
"""

import os
import shutil
import subprocess
from functools import cache

import msgspec

from heald.tools.shell import seccomp
from heald.tools.shell.sandbox import bind_programs, memory_file

_ISOLATION = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--die-with-parent", "--new-session")
_LIBRARIES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_STORES = ("/nix/store", "/gnu/store")
_PROBE_SECONDS = 10.0


class GitSandbox(msgspec.Struct, frozen=True):
    """The mounts of one git."""

    program: str
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    whole: bool
    """Every file of the machine can be read."""

    @classmethod
    def make(
        cls, program: str, readable: tuple[str, ...], writable: tuple[str, ...], *, whole: bool
    ) -> "GitSandbox | None":
        """Return the sandbox; None if git cannot run in one here."""
        if _isolation(program) is None:
            return None
        return cls(program, tuple(path for path in readable if path not in writable), writable, whole)

    def open_descriptors(self) -> list[int]:
        """Open what bubblewrap reads: the filter of system calls. The caller closes it."""
        return [memory_file(seccomp.program())] if seccomp.supported() else []

    def argv(self, folder: str, descriptors: list[int]) -> list[str]:
        """Return the command line that git's own one follows."""
        isolation = _isolation(self.program)
        assert isolation is not None
        options = [*isolation, *(word for fd in descriptors for word in ("--seccomp", str(fd)))]
        whole = ["--ro-bind", "/", "/", "--tmpfs", "/proc"]  # /proc shows the environment of other processes
        options += whole if self.whole else [*_programs(self.program), "--tmpfs", "/tmp"]
        mounts = [(path, "--ro-bind-try") for path in self.readable] + [(path, "--bind") for path in self.writable]
        mounts.sort(key=lambda mount: mount[0].rstrip("/").count("/"))  # a folder comes before what it holds
        for path, kind in mounts:
            options += [kind, path, path]
        return [*options, "--dev", "/dev", "--chdir", folder, "--"]


@cache
def _programs(program: str) -> tuple[str, ...]:
    """Mount the programs and libraries of the machine, and git where it is elsewhere."""
    options = bind_programs()
    for path in (*_STORES, *_LIBRARIES):
        if os.path.exists(path):
            options += ["--ro-bind", path, path]
    for place in dict.fromkeys((os.path.abspath(program), os.path.realpath(program))):
        if not place.startswith(("/usr/", "/bin/", *(f"{store}/" for store in _STORES))):
            prefix = os.path.dirname(os.path.dirname(place))
            options += ["--ro-bind", prefix, prefix] if prefix != "/" else []
    return tuple(options)


@cache
def _isolation(program: str) -> tuple[str, ...] | None:
    """Return bubblewrap with options under which git starts; None if there are none.

    As root, files of other users stay readable if no user namespace is needed.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None or not os.path.isabs(bwrap):
        return None
    as_root = ("--cap-drop", "ALL", "--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER")
    choices = [as_root] if os.geteuid() == 0 else []
    for privileges in (*choices, ("--unshare-user", "--cap-drop", "ALL")):
        isolation = (bwrap, *_ISOLATION, *privileges)
        argv = [*isolation, *_programs(program), "--tmpfs", "/tmp", "--dev", "/dev", "--chdir", "/", "--"]
        try:
            done = subprocess.run(
                [*argv, program, "--version"],
                env={"PATH": os.defpath},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PROBE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return isolation
    return None
