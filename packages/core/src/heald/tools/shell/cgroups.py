"""Puts a command into a control group of its own, so that the kernel limits its memory and processes as a whole.

With cgroup v2 the server needs a group that was delegated to it and that it is alone in (systemd: `Delegate=yes`). It
moves itself into a leaf of that group, as the kernel demands. With cgroup v1 it needs groups that it may write to.
Where neither is the case, `create` returns None and the limits are watched instead (`resource_watch`).
"""

import atexit
import os
from contextlib import suppress
from functools import cache
from itertools import count
from time import sleep

ROOT = "/sys/fs/cgroup"
_OWN = "/proc/self/cgroup"
_numbers = count(1)
_emptied: set[str] = set()
"""Groups that no command needs any more."""


class CommandGroup:
    """The control group of one command, in one folder (v2) or in one for each controller (v1)."""

    def __init__(self, folders: dict[str, str]) -> None:
        self._folders = folders
        """By controller: `memory` and `pids`."""

    def add(self, pid: int) -> None:
        """Move a process into the group. Its children are born there."""
        for folder in set(self._folders.values()):
            _write(f"{folder}/cgroup.procs", str(pid))

    @property
    def exceeded(self) -> str | None:
        """The controller whose limit was reached: `memory`, `pids` or None."""
        if _counter(f"{self._folders['pids']}/pids.events", "max"):
            return "pids"
        for name in ("memory.events", "memory.oom_control"):
            if _counter(f"{self._folders['memory']}/{name}", "oom_kill"):
                return "memory"
        return None

    def remove(self) -> None:
        """Remove the group. All its processes have ended; the kernel may need a moment to notice."""
        _emptied.update(self._folders.values())
        _remove_emptied()


def _remove_emptied() -> None:
    for folder in list(_emptied):
        with suppress(OSError):
            os.rmdir(folder)
        if not os.path.exists(folder):
            _emptied.discard(folder)


@atexit.register
def _remove_last() -> None:
    for _ in range(20):
        _remove_emptied()
        if not _emptied:
            return
        sleep(0.05)


def create(memory: int, processes: int) -> CommandGroup | None:
    """Make a group with these limits, or return None where the machine does not allow it."""
    parents = _parents()
    if parents is None:
        return None
    _remove_emptied()
    name = f"heald-command-{os.getpid()}-{next(_numbers)}"
    folders = {controller: f"{parent}/{name}" for controller, parent in parents.items()}
    group = CommandGroup(folders)
    try:
        for folder in set(folders.values()):
            os.mkdir(folder)
        _write(f"{folders['pids']}/pids.max", str(processes))
        is_first_version = os.path.exists(f"{folders['memory']}/memory.limit_in_bytes")
        _write(f"{folders['memory']}/{'memory.limit_in_bytes' if is_first_version else 'memory.max'}", str(memory))
        for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            with suppress(OSError):  # not every kernel counts swap
                _write(f"{folders['memory']}/{swap}", str(memory if is_first_version else 0))
    except OSError:
        group.remove()
        return None
    return group


def kind() -> str | None:
    """How the machine limits commands as a whole: `cgroup v2`, `cgroup v1`, or None if it does not let the server."""
    parents = _parents()
    if parents is None:
        return None
    return "cgroup v2" if len(set(parents.values())) == 1 else "cgroup v1"


@cache
def _parents() -> dict[str, str] | None:
    """The groups of this process, by controller, in which it may make others."""
    try:
        with open(_OWN, encoding="ascii") as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except (OSError, ValueError):
        return None
    parents = _first_version(lines) or _second_version(lines)
    for folder in set(parents.values()) if parents is not None else ():
        _remove_orphans(folder)
    return parents


def _remove_orphans(folder: str) -> None:
    """Remove the groups of processes that were killed before they could."""
    with suppress(OSError):
        for name in os.listdir(folder):
            pid = name.removeprefix("heald-command-").partition("-")[0]
            if name.startswith("heald-command-") and not os.path.exists(f"/proc/{pid}"):
                with suppress(OSError):
                    os.rmdir(f"{folder}/{name}")


def _first_version(lines: list[list[str]]) -> dict[str, str] | None:
    groups: dict[str, str] = {}
    for _, controllers, path in lines:
        for controller in {"memory", "pids"} & set(controllers.split(",")):
            folders = (f"{ROOT}/{controllers}{path}".rstrip("/"), f"{ROOT}/{controllers}")  # in a container, the second
            usable = next((folder for folder in folders if _can_make_groups(folder)), None)
            if usable is not None:
                groups[controller] = usable
    return groups if len(groups) == 2 else None


def _can_make_groups(folder: str) -> bool:
    """Whether a group can be made there, tried: a mount may be read-only although its modes allow it."""
    probe = f"{folder}/heald-probe-{os.getpid()}"
    try:
        os.mkdir(probe)
        os.rmdir(probe)
    except OSError:
        return False
    return True


def _second_version(lines: list[list[str]]) -> dict[str, str] | None:
    path = next((path for number, controllers, path in lines if number == "0" and not controllers), None)
    if path is None:
        return None
    folder = f"{ROOT}{path}".rstrip("/")
    try:
        if not {"memory", "pids"} <= set(_read(f"{folder}/cgroup.controllers").split()):
            return None
        if not {"memory", "pids"} <= set(_read(f"{folder}/cgroup.subtree_control").split()):
            if [int(pid) for pid in _read(f"{folder}/cgroup.procs").split()] != [os.getpid()]:
                return None  # others are in the group: moving them is not ours to do
            os.makedirs(f"{folder}/heald-server", exist_ok=True)
            _write(f"{folder}/heald-server/cgroup.procs", str(os.getpid()))
            _write(f"{folder}/cgroup.subtree_control", "+memory +pids")
    except (OSError, ValueError):
        return None
    return {"memory": folder, "pids": folder} if _can_make_groups(folder) else None


def _counter(path: str, name: str) -> int:
    """The value of a line `name value` in a file; 0 if there is none."""
    with suppress(OSError, ValueError):
        for line in _read(path).splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
