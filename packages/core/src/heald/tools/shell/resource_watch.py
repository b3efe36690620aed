"""Watches what a running command uses as a whole: memory, processes, and the files it makes in the workspace.

The kernel's limits of a process do not add up: a command may have many. Where control groups can be used they enforce
memory and processes, and are asked for the outcome; elsewhere the processes of the command are counted several times a
second, and a thread looks a hundred times a second whether they multiply: a fork bomb doubles within milliseconds, and
once there are thousands the event loop runs too seldom to stop it. The quota of the workspace is always counted: file
systems rarely offer one for a folder.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import time

import msgspec

from heald.tools.shell import cgroups
from heald.tools.shell.sandbox import SandboxLimits

_SECONDS = 0.15
"""Between two counts of processes."""
_GUARD_SECONDS = 0.01
_ROUNDS_PER_WALK = 6
"""Counts of processes for each look at the file system."""
_MIB = 1024 * 1024


class ResourceWatch:
    """Watches one command from its first process on, and calls `on_excess` with a sentence once it uses too much."""

    def __init__(self, limits: SandboxLimits, workspace: str | None, on_excess: Callable[[str], None]) -> None:
        self._limits = limits
        self._quota = _WorkspaceQuota(workspace, limits) if workspace is not None else None
        self._on_excess = on_excess
        self._group = cgroups.create(limits.total_memory, limits.processes)
        self._pid = 0
        self._guard: _ForkGuard | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, pid: int, *, owns_namespace: bool) -> None:
        """Start with the first process of the command, before it has started others. If it owns a pid namespace, all
        others end with it."""
        self._pid = pid
        if self._group is not None:
            try:
                self._group.add(pid)
            except OSError:
                self._group.remove()
                self._group = None
        loop = asyncio.get_running_loop()
        if self._group is None and owns_namespace:
            self._guard = _ForkGuard(pid, self._limits.processes, lambda: loop.call_soon_threadsafe(self._on_guarded))
            self._guard.start()
        self._task = loop.create_task(self._watch())

    def stop(self) -> None:
        """Stop after the end of the command, and report a limit that ended it."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._guard is not None:
            self._guard.stop()
            if self._guard.has_stopped_command:
                self._on_guarded()
            self._guard = None
        if self._group is not None:
            reason = self._group_reason()
            self._group.remove()
            self._group = None
            if reason is not None:
                self._on_excess(reason)

    def _on_guarded(self) -> None:
        self._on_excess(self._too_many_processes())

    async def _watch(self) -> None:
        rounds = 0
        while True:
            await asyncio.sleep(_SECONDS)
            rounds += 1
            reason = await asyncio.to_thread(self._check, rounds % _ROUNDS_PER_WALK == 0)
            if reason is not None:
                self._on_excess(reason)
                return

    def _check(self, walk: bool) -> str | None:
        reason = self._group_reason() if self._group is not None else self._process_reason()
        if reason is None and walk and self._quota is not None:
            return self._quota.check()
        return reason

    def _group_reason(self) -> str | None:
        match self._group.exceeded if self._group is not None else None:
            case "memory":
                return self._too_much_memory()
            case "pids":
                return self._too_many_processes()
            case _:
                return None

    def _process_reason(self) -> str | None:
        pids = _descendants(self._pid, self._limits.processes + 1)
        if len(pids) > self._limits.processes:
            return self._too_many_processes()
        resident = sum(_resident_bytes(pid) for pid in pids)
        if resident <= self._limits.total_memory:
            return None
        shared_once = sum(_proportional_bytes(pid) for pid in pids)
        return self._too_much_memory() if shared_once > self._limits.total_memory else None

    def _too_much_memory(self) -> str:
        return f"The command was stopped: it used more than {self._limits.total_memory // _MIB:,} MiB of memory."

    def _too_many_processes(self) -> str:
        return f"The command was stopped: it started more than {self._limits.processes:,} processes."


class _ForkGuard:
    """A thread that kills a pid namespace whose processes multiply, without waiting for the event loop."""

    def __init__(self, pid: int, most: int, on_stopped: Callable[[], object]) -> None:
        self.has_stopped_command = False
        self._pid = pid
        self._most = most
        self._on_stopped = on_stopped
        self._first = os.pidfd_open(pid)
        self._ended = Event()
        self._thread = Thread(target=self._run, name="heald-fork-guard", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        fewest = _count_tasks()
        while not self._ended.wait(_GUARD_SECONDS):
            tasks = _count_tasks()
            fewest = min(fewest, tasks)
            if tasks - fewest < self._most // 2 or len(_descendants(self._pid, self._most + 1)) <= self._most:
                continue
            self.has_stopped_command = True
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            with suppress(RuntimeError):  # the event loop is closed
                self._on_stopped()
            break
        os.close(self._first)


def _count_tasks() -> int:
    """All processes and threads of the machine: one small file, however many there are."""
    with suppress(OSError, ValueError, IndexError), open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[2])
    return 0


def _descendants(pid: int, limit: int) -> list[int]:
    """The process and all that it started, directly or not, up to a number."""
    pids, open_pids = [pid], [pid]
    while open_pids and len(pids) < limit:
        parent = open_pids.pop()
        with suppress(OSError, ValueError):
            for thread in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as file:
                    children = [int(word) for word in file.read().split()]
                pids += children
                open_pids += children
    return pids


def _resident_bytes(pid: int) -> int:
    """Private and shared memory that is in use, without files of programs."""
    return _kilobytes(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:")) * 1024


def _proportional_bytes(pid: int) -> int:
    """The same, with shared pages divided among those that share them, where the kernel reports them."""
    if os.access(f"/proc/{pid}/smaps_rollup", os.R_OK):
        return _kilobytes(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) * 1024
    return _resident_bytes(pid)


def _kilobytes(path: str, names: tuple[str, ...]) -> int:
    total = 0
    with suppress(OSError, ValueError), open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(names):
                total += int(line.split()[1])
    return total


class _Space(msgspec.Struct):
    """The free space of a file system."""

    blocks: int
    files: int
    counts_files: bool


class _WorkspaceQuota:
    """Counts the files that a command has made or changed in the workspace, once the file system shows that it may be
    too many: looking through a large folder all the time would cost more than most commands."""

    def __init__(self, folder: str, limits: SandboxLimits) -> None:
        self._folder = folder
        self._limits = limits
        self._since = time() - 1.0
        self._before = _space(folder)

    def check(self) -> str | None:
        now = _space(self._folder)
        if self._before is None or now is None or not self._may_exceed(self._before, now):
            return None
        files, size = self._count()
        if files > self._limits.files:
            return f"The command was stopped: it made more than {self._limits.files:,} files in the workspace."
        if size > self._limits.written:
            return f"The command was stopped: it wrote more than {self._limits.written // _MIB:,} MiB to the workspace."
        return None

    def _may_exceed(self, before: _Space, now: _Space) -> bool:
        if not now.counts_files:
            return True
        return (
            before.files - now.files > self._limits.files * 0.8
            or before.blocks - now.blocks > self._limits.written * 0.8
        )

    def _count(self) -> tuple[int, int]:
        """Files that were changed since the command began, and their size."""
        files = size = 0
        folders = [self._folder]
        while folders and files <= self._limits.files and size <= self._limits.written:
            with suppress(OSError), os.scandir(folders.pop()) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
                        status = entry.stat(follow_symlinks=False)
                        if status.st_ctime >= self._since:
                            files += 1
                            size += status.st_blocks * 512
        return files, size


def _space(folder: str) -> _Space | None:
    try:
        status = os.statvfs(folder)
    except OSError:
        return None
    return _Space(status.f_bfree * status.f_frsize, status.f_ffree, status.f_files > 0)
