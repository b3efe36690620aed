"""The sandbox of a command: bubblewrap, with no network, no secrets, and nothing to write to but the workspace.

Inside, the workspace is `/workspace`; programs are the host's, read-only; /tmp and the home folder are empty and end
with the command. The workspace is mounted by its open folder, so that a path swapped meanwhile changes nothing.
"""

import logging
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from weft.tools.outcome import ToolFault
from weft.tools.shell import seccomp
from weft.tools.shell.limits import Limits
from weft.tools.shell.shield import PROTECTED, SET_ASIDE, Shield
from weft.tools.workspace.base import PathFault
from weft.tools.workspace.paths import shown

INSIDE = "/workspace"
HOME = "/home/weft"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_STORES = ("/nix/store", "/gnu/store")
_ETC = (  # what programs need and no one keeps secret; /etc/passwd and its like are made up
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "python3",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
)
_MADE_UP = {
    "/etc/passwd": (
        f"root:x:0:0::/root:/bin/false\nweft:x:1000:1000::{HOME}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    ),
    "/etc/group": "root:x:0:\nweft:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "/etc/gitconfig": (
        "[user]\n\tname = weft\n\temail = weft@localhost\n"
        "[safe]\n\tdirectory = *\n[core]\n\texcludesFile = /etc/gitignore\n"
    ),
}


@dataclass(slots=True)
class Launch:
    """A command ready to be started, with all that has to stay open for it."""

    argv: list[str]
    env: dict[str, str]
    limits: Limits
    cwd: str | None = None
    info: int | None = None
    """Read end: says the process id of the sandbox's first process."""
    gate: int | None = None
    """Write end: the command waits for one byte."""
    shield: Shield | None = None
    given: list[int] = field(default_factory=list[int])
    """For the child alone."""

    @property
    def pass_fds(self) -> list[int]:
        return self.given + ([mount.fd for mount in self.shield.mounts] if self.shield is not None else [])

    @property
    def sandboxed(self) -> bool:
        return self.gate is not None

    def started(self) -> None:
        """The child has its copies: close what only it needs."""
        given, self.given = self.given, []
        for fd in given:
            os.close(fd)

    def close(self) -> list[str]:
        """Nothing of it runs any more. Returns notes on what had to be put right."""
        self.started()
        for fd in (self.info, self.gate):
            if fd is not None:
                os.close(fd)
        self.info = self.gate = None
        shield, self.shield = self.shield, None
        return shield.close() if shield is not None else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """How commands are run. `unsandboxed` is the operator's decision to do without; every result shows it."""

    limits: Limits = field(default_factory=Limits)
    protected: Sequence[str] = PROTECTED
    """Paths of the workspace that are read-only for commands, even where absent; a slash at the end says folder."""
    set_aside: Sequence[str] = SET_ASIDE
    """Paths that are read-only where present; where a command makes one, it is renamed when the command has ended."""
    readable: Sequence[str] = ()
    """Further folders of the host that commands may read, such as a toolchain."""
    path: str = PATH
    unsandboxed: bool = False

    def available(self) -> str | None:
        """Why commands cannot be run here, or None. Tried once."""
        return None if self.unsandboxed else _unavailable(shutil.which("bwrap"))

    def prepare(self, root: str, command: str, cwd: str = "") -> Launch:
        """Make ready to run a command line in a folder of the workspace at `root`."""
        reason = self.available()
        if reason is not None:
            raise ToolFault(reason, "sandbox_unavailable")
        _check_folder(root, cwd)
        if self.unsandboxed:
            env = self._env(os.path.expanduser("~"), os.path.join(root, cwd))
            return Launch([*_shell(), command], env, self.limits, cwd=os.path.join(root, cwd))
        bwrap = shutil.which("bwrap")
        assert bwrap is not None
        inside = os.path.join(INSIDE, cwd).rstrip("/")
        launch = Launch([], self._env(HOME, inside), self.limits)
        try:
            self._furnish(launch, bwrap, root, command, inside)
        except BaseException:
            launch.close()
            raise
        return launch

    def _furnish(self, launch: Launch, bwrap: str, root: str, command: str, inside: str) -> None:
        folder = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        launch.given.append(folder)
        launch.shield = shield = Shield(folder, self.protected, self.set_aside)
        options = [*_base(bwrap, self.limits.temporary)]
        for path in self.readable:
            options += ["--ro-bind-try", path, path]
        options += _bind(bwrap, folder, INSIDE, writable=True)
        for mount in shield.mounts:
            options += _bind(bwrap, mount.fd, f"{INSIDE}/{mount.path}", writable=mount.writable)
        ignored = "".join(f"/{path}\n" for path in shield.placeholders)
        for path, text in {**_MADE_UP, "/etc/gitignore": ignored}.items():
            launch.given.append(in_memory(text.encode()))
            options += ["--ro-bind-data", str(launch.given[-1]), path]
        launch.given.append(in_memory(seccomp.program()))
        options += ["--seccomp", str(launch.given[-1])]
        launch.info, info_child = os.pipe()
        gate_child, launch.gate = os.pipe()
        launch.given += [info_child, gate_child]
        options += ["--info-fd", str(info_child), "--block-fd", str(gate_child)]
        for path in ("/proc", "/dev", "/"):  # a server that runs as root could write to /proc/sys otherwise
            options += ["--remount-ro", path]
        options += ["--chdir", inside]
        launch.given.append(in_memory("\0".join([*options, ""]).encode()))
        launch.argv = [bwrap, "--args", str(launch.given[-1]), "--", *_shell(), command]

    def _env(self, home: str, cwd: str) -> dict[str, str]:
        return {
            "PATH": self.path,
            "HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": "/tmp",
            "PWD": cwd,
            "USER": "weft",
        }


def in_memory(data: bytes) -> int:
    """A file without a name, read from its start by whoever inherits it."""
    fd = os.memfd_create("weft", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _check_folder(root: str, cwd: str) -> None:
    """A clear word where the folder cannot be entered; the sandbox holds whatever is said here."""
    if not os.path.isdir(root):
        raise PathFault("The workspace's folder is gone, so nothing was run.", "not_found")
    top, real = os.path.realpath(root), os.path.realpath(os.path.join(root, cwd))
    if os.path.commonpath([top, real]) != top:
        raise PathFault(f"The folder {shown(cwd)} leads out of the workspace; use another.", "path_outside_workspace")
    if not os.path.isdir(real):
        raise PathFault(f"There is no folder {shown(cwd)} in the workspace; leave cwd out, or make it.", "not_found")


@cache
def _shell() -> tuple[str, ...]:
    return ("/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh", "-c")


@cache
def _words(bwrap: str) -> str:
    """The options that this bubblewrap knows."""
    return subprocess.run([bwrap, "--help"], capture_output=True, text=True, timeout=10, check=False).stdout


def _bind(bwrap: str, fd: int, target: str, *, writable: bool) -> list[str]:
    kind = "--bind" if writable else "--ro-bind"
    if "--bind-fd" in _words(bwrap):
        return [f"{kind}-fd", str(fd), target]
    return [kind, f"/proc/self/fd/{fd}", target]  # before 0.10 it is resolved to a path once more


@cache
def _base(bwrap: str, temporary: int) -> tuple[str, ...]:
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--ro-bind", "/usr", "/usr"]
    for name in _ROOT_FOLDERS:
        if os.path.islink(f"/{name}"):
            options += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    for path in (*_STORES, *(f"/etc/{name}" for name in _ETC)):
        if os.path.exists(path):
            options += ["--ro-bind", path, path]
    options += ["--proc", "/proc", "--dev", "/dev"]
    sized = "--size" in _words(bwrap)
    for path, size in (("/tmp", temporary), (HOME, temporary), ("/dev/shm", temporary)):
        options += ["--size", str(size)] if sized else []
        options += ["--tmpfs", path]
    return tuple(options)


@cache
def _unavailable(bwrap: str | None) -> str | None:
    if bwrap is None:
        return "Commands cannot be run: bubblewrap (bwrap) is not installed on the server; its operator can install it."
    if not seccomp.supported():
        return "Commands cannot be run: there is no system call filter for the server's processor."
    if not hasattr(os, "pidfd_open"):
        return "Commands cannot be run: the server's kernel is older than Linux 5.3."
    tried = [bwrap, *_base(bwrap, 1024 * 1024), "--", "/bin/sh", "-c", "exit 0"]
    try:
        done = subprocess.run(tried, env={"PATH": PATH}, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "Commands cannot be run: bubblewrap did not start on the server."
    if done.returncode == 0:
        return None
    logging.getLogger("weft").warning("bwrap failed: %s", done.stderr.decode("utf-8", "replace").strip())
    return (
        "Commands cannot be run: the server's system does not let bubblewrap make a sandbox, mostly because it refuses "
        "user namespaces; its operator can allow them."
    )
