"""The sandbox of commands: bubblewrap without secrets, with the workspace as the only writable host folder.

The network of a command is empty but for a proxy that reaches allowed hosts (`heald.tools.shell.network`).
Inside, the workspace is `/workspace`. The host's programs are mounted read-only. /tmp and the home folder are empty and
are discarded with the command. The workspace is mounted by file descriptor, so that replacing its path has no effect.
"""

import logging
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import msgspec

from heald.tools.shell import seccomp
from heald.tools.shell.network import listener_program
from heald.tools.shell.network.command_network import PROGRAM, CommandNetwork, proxy_environment
from heald.tools.shell.network.proxy import NetworkProxy
from heald.tools.shell.protected_paths import PROTECTED, SET_ASIDE, ProtectedPaths
from heald.tools.tool_fault import ToolFault
from heald.tools.workspace.paths import PathFault, quote_path

_MIB = 1024 * 1024
_WATCHED_PROCESSES = 64
"""Processes beyond the limit that the kernel still starts, so that the command can be seen to exceed it."""


def _total_memory() -> int:
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 6144 * _MIB
    return min(6144 * _MIB, machine * 3 // 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Limits of a command, per process unless noted otherwise."""

    processes: int = 512
    """Of the whole command."""
    total_memory: int = field(default_factory=_total_memory)
    """Bytes of the whole command, shared memory included: 6 GiB, or three quarters of the machine's if that is less."""
    files: int = 50_000
    """Files that one command may make or change in the workspace."""
    written: int = 8192 * _MIB
    """Bytes of those files."""
    memory: int = 4096 * _MIB
    """Bytes of private memory (RLIMIT_DATA). RLIMIT_AS would count address space that is reserved but unused."""
    file_size: int = 2048 * _MIB
    open_files: int = 4096
    cpu_seconds: int = 3600
    temporary: int = 1024 * _MIB
    """Bytes in each of /tmp, /dev/shm and the home folder. They are discarded with the command."""

    def impose(self, pid: int) -> None:
        """Set the limits of a process before it starts its work. Its children inherit them."""
        for kind, value in (
            (resource.RLIMIT_CORE, 1),  # 0 would still start a program that collects core dumps
            (resource.RLIMIT_NPROC, self.processes + _WATCHED_PROCESSES),
            (resource.RLIMIT_DATA, self.memory),
            (resource.RLIMIT_FSIZE, self.file_size),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_CPU, self.cpu_seconds),
        ):
            _lower(pid, kind, value)


if sys.platform == "linux":

    def _lower(pid: int, kind: int, value: int) -> None:
        _, most = resource.prlimit(pid, kind)
        if most != resource.RLIM_INFINITY:
            value = min(value, most)
        resource.prlimit(pid, kind, (value, value))

else:

    def _lower(pid: int, kind: int, value: int) -> None:
        """Do nothing. Only Linux can limit another process."""


INSIDE = "/workspace"
HOME = "/home/heald"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_STORES = ("/nix/store", "/gnu/store")
_ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic", "mime.types", "os-release", "perl",
    "pki/ca-trust", "pki/tls/certs", "protocols", "python3", "services", "ssl/certs", "ssl/openssl.cnf",
    "timezone",
)  # fmt: skip
"""Files of /etc that programs need and that hold no secrets. /etc/passwd and others are generated."""
_MADE_UP = {
    "/etc/passwd": (
        f"root:x:0:0::/root:/bin/false\nheald:x:1000:1000::{HOME}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    ),
    "/etc/group": "root:x:0:\nheald:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "/etc/gitconfig": (
        "[user]\n\tname = heald\n\temail = heald@localhost\n"
        "[safe]\n\tdirectory = *\n[core]\n\texcludesFile = /etc/gitignore\n"
    ),
}


class Launch(msgspec.Struct):
    """A command that is ready to start, with the file descriptors that must stay open for it."""

    argv: list[str]
    env: dict[str, str]
    limits: SandboxLimits
    root: str = ""
    """The folder of the workspace."""
    cwd: str | None = None
    info: int | None = None
    """Read end of a pipe: the process id of the sandbox's first process, as JSON."""
    gate: int | None = None
    """Write end of a pipe: the command starts when it reads one byte."""
    shield: ProtectedPaths | None = None
    network: CommandNetwork | None = None
    child_fds: list[int] = []
    """Descriptors for the child only."""

    @property
    def pass_fds(self) -> list[int]:
        return self.child_fds + ([mount.fd for mount in self.shield.mounts] if self.shield is not None else [])

    @property
    def sandboxed(self) -> bool:
        return self.gate is not None

    def started(self) -> None:
        """Close the descriptors that only the child needs, once it has its copies."""
        descriptors, self.child_fds = self.child_fds, []
        for fd in descriptors:
            os.close(fd)

    def close(self) -> list[str]:
        """Release everything after the command has ended. Return notes on corrections to the workspace."""
        self.started()
        for fd in (self.info, self.gate):
            if fd is not None:
                os.close(fd)
        self.info = self.gate = None
        network, self.network = self.network, None
        notes = network.close() if network is not None else []
        shield, self.shield = self.shield, None
        return [*notes, *(shield.close() if shield is not None else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """The configuration of command execution. `unsandboxed` disables the sandbox; every result then shows it."""

    limits: SandboxLimits = field(default_factory=SandboxLimits)
    protected: Sequence[str] = PROTECTED
    """Paths of the workspace that are read-only for commands, even if absent. A trailing slash marks a folder."""
    set_aside: Sequence[str] = SET_ASIDE
    """Paths that are read-only if present. One that a command creates is renamed after the command has ended."""
    readable: Sequence[str] = ()
    """Additional host folders that commands may read, such as a toolchain."""
    path: str = PATH
    network: bool = True
    """Whether commands may reach hosts that a person or the operator has allowed. Without it they reach none."""
    unsandboxed: bool = False

    def available(self) -> str | None:
        """Return why commands cannot be run here, or None. The result is cached."""
        return None if self.unsandboxed else _unavailable(shutil.which("bwrap"))

    def macos_profile(self, root: str, port: int | None = None) -> str:
        """Return these rules as a profile of macOS's `sandbox-exec`, with a proxy at a port of the loopback."""
        from heald.tools.shell.macos_profile import macos_profile

        protected = (*self.protected, *self.set_aside)
        return macos_profile(os.path.realpath(root), protected, readable=self.readable, port=port)

    @property
    def has_network(self) -> bool:
        """Whether a command can be given a proxy here."""
        bwrap = shutil.which("bwrap")
        is_possible = bwrap is not None and listener_program.supported() and "--perms" in _known_options(bwrap)
        return self.network and not self.unsandboxed and is_possible

    def prepare(
        self, root: str, command: str, cwd: str = "", proxy: NetworkProxy | None = None, *, writable: bool = True
    ) -> Launch:
        """Prepare a command line to run in a folder of the workspace at `root`. Without a proxy it has no network.
        Unless the folder is `writable`, the sandbox shows it read-only."""
        reason = self.available()
        if reason is not None:
            raise ToolFault(reason, "sandbox_unavailable")
        _check_folder(root, cwd)
        if self.unsandboxed:
            env = self._env(os.path.expanduser("~"), os.path.join(root, cwd))
            return Launch([*_shell(), command], env, self.limits, root, cwd=os.path.join(root, cwd))
        bwrap = shutil.which("bwrap")
        assert bwrap is not None
        inside = os.path.join(INSIDE, cwd).rstrip("/")
        launch = Launch([], self._env(HOME, inside), self.limits, root)
        try:
            self._add_options(launch, bwrap, root, command, inside, proxy, writable=writable)
        except BaseException:
            launch.close()
            raise
        return launch

    def _add_options(
        self,
        launch: Launch,
        bwrap: str,
        root: str,
        command: str,
        inside: str,
        proxy: NetworkProxy | None,
        *,
        writable: bool,
    ) -> None:
        folder = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        launch.child_fds.append(folder)
        shield = ProtectedPaths(folder, self.protected, self.set_aside) if writable else None
        launch.shield = shield
        options = [*_base(bwrap, self.limits.temporary)]
        for path in self.readable:
            options += ["--ro-bind-try", path, path]
        options += _bind(bwrap, folder, INSIDE, writable=writable)
        for mount in shield.mounts if shield is not None else ():
            options += _bind(bwrap, mount.fd, f"{INSIDE}/{mount.path}", writable=mount.writable)
        ignored = "".join(f"/{path}\n" for path in (shield.placeholders if shield is not None else ()))
        for path, text in {**_MADE_UP, "/etc/gitignore": ignored}.items():
            launch.child_fds.append(memory_file(text.encode()))
            options += ["--ro-bind-data", str(launch.child_fds[-1]), path]
        first: list[str] = []
        if proxy is not None and self.has_network:
            launch.network = CommandNetwork(proxy)
            launch.env |= proxy_environment()
            launch.child_fds += [launch.network.child_fd, memory_file(launch.network.program())]
            options += ["--perms", "0555", "--ro-bind-data", str(launch.child_fds[-1]), PROGRAM]
            first = [PROGRAM]
        launch.child_fds.append(memory_file(seccomp.program()))
        options += ["--seccomp", str(launch.child_fds[-1])]
        launch.info, info_child = os.pipe()
        gate_child, launch.gate = os.pipe()
        launch.child_fds += [info_child, gate_child]
        options += ["--info-fd", str(info_child), "--block-fd", str(gate_child)]
        for path in ("/proc", "/dev", "/"):  # otherwise a server that runs as root could write to /proc/sys
            options += ["--remount-ro", path]
        options += ["--chdir", inside]
        launch.child_fds.append(memory_file("\0".join([*options, ""]).encode()))
        launch.argv = [bwrap, "--args", str(launch.child_fds[-1]), "--", *first, *_shell(), command]

    def _env(self, home: str, cwd: str) -> dict[str, str]:
        return {
            "PATH": self.path,
            "HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": "/tmp",
            "PWD": cwd,
            "USER": "heald",
        }


def memory_file(data: bytes) -> int:
    """Return the descriptor of an anonymous file with this content, positioned at its start."""
    fd = os.memfd_create("heald", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _check_folder(root: str, cwd: str) -> None:
    """Raise PathFault if the folder cannot be used. This is for the message; the sandbox enforces the boundary."""
    if not os.path.isdir(root):
        raise PathFault("The folder of the workspace no longer exists, so nothing was run.", "not_found")
    top, real = os.path.realpath(root), os.path.realpath(os.path.join(root, cwd))
    if os.path.commonpath([top, real]) != top:
        raise PathFault(
            f"The folder {quote_path(cwd)} leads out of the workspace; use another.", "path_outside_workspace"
        )
    if not os.path.isdir(real):
        raise PathFault(
            f"There is no folder {quote_path(cwd)} in the workspace; leave cwd out, or make it.", "not_found"
        )


@cache
def runs_other_shell() -> bool:
    """Whether command lines are run by another shell, since there is no bash."""
    return not os.path.exists("/bin/bash")


def _shell() -> tuple[str, ...]:
    return ("/bin/sh" if runs_other_shell() else "/bin/bash", "-c")


@cache
def _known_options(bwrap: str) -> str:
    """Return the help text of this bubblewrap, which lists its options."""
    argv = [bwrap, "--help"]
    return subprocess.run(argv, env={"PATH": PATH}, capture_output=True, text=True, timeout=10, check=False).stdout


def _bind(bwrap: str, fd: int, target: str, *, writable: bool) -> list[str]:
    kind = "--bind" if writable else "--ro-bind"
    if "--bind-fd" in _known_options(bwrap):
        return [f"{kind}-fd", str(fd), target]
    return [kind, f"/proc/self/fd/{fd}", target]  # bwrap before 0.10 resolves this to a path again


def bind_programs() -> list[str]:
    """Return the options that mount the host's programs and libraries read-only."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _ROOT_FOLDERS:
        if os.path.islink(f"/{name}"):
            options += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            options += ["--ro-bind", f"/{name}", f"/{name}"]
    return options


@cache
def _base(bwrap: str, temporary: int) -> tuple[str, ...]:
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", *bind_programs()]
    for path in (*_STORES, *(f"/etc/{name}" for name in _ETC)):
        if os.path.exists(path):
            options += ["--ro-bind", path, path]
    options += ["--proc", "/proc", "--dev", "/dev"]
    sized = "--size" in _known_options(bwrap)
    for path in ("/tmp", HOME, "/dev/shm"):
        options += ["--size", str(temporary)] if sized else []
        options += ["--tmpfs", path]
    return tuple(options)


@cache
def _unavailable(bwrap: str | None) -> str | None:
    if sys.platform == "darwin":
        return (
            "Commands cannot be run: bubblewrap is for Linux only. On macOS, run Heald in a Linux container or virtual "
            "machine. Its sandbox-exec is not used; Sandbox.macos_profile returns the same rules for it."
        )
    if sys.platform == "win32":
        return "Commands cannot be run: bubblewrap is for Linux only. On Windows, run Heald in WSL 2."
    if bwrap is None:
        return "Commands cannot be run: bubblewrap (bwrap) is not installed on the server; its operator can install it."
    if not seccomp.supported():
        return "Commands cannot be run: there is no system call filter for the server's processor."
    if not hasattr(os, "pidfd_open"):
        return "Commands cannot be run: the server's kernel is older than Linux 5.3."
    argv = [bwrap, *_base(bwrap, 1024 * 1024), "--", "/bin/sh", "-c", "exit 0"]
    try:
        done = subprocess.run(argv, env={"PATH": PATH}, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "Commands cannot be run: bubblewrap did not start on the server."
    if done.returncode == 0:
        return None
    logging.getLogger("heald").warning("bwrap failed: %s", done.stderr.decode("utf-8", "replace").strip())
    return (
        "Commands cannot be run: the server's system does not let bubblewrap make a sandbox, mostly because it refuses "
        "user namespaces; its operator can allow them."
    )
