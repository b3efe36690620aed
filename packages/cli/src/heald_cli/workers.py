"""Several processes that serve one port: the process that starts them, and the link of each to it.

Each worker accepts on a listener of its own, and the kernel spreads connections over them. The listeners belong to the
process that starts the workers, so a connection that arrives while a worker is replaced waits for the next one.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from socket import socket
from time import monotonic

from heald.commands.terminal import print_note
from heald.core.errors import ConfigurationError

_STOPS = (signal.SIGTERM, signal.SIGINT)
_POLL_SECONDS = 0.1
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
"""Pauses before a worker that ended is replaced: they double while workers end soon after their start."""
_STEADY_SECONDS = 30.0
"""A worker that lived so long did not fail at its start."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One of several workers, in its own process."""

    listener: socket
    _ready: int
    _parent: int

    def report_ready(self, token: str) -> None:
        """Tell the process that started it that this worker accepts requests with a token."""
        os.write(self._ready, token.encode() + b"\n")

    def end_with_parent(self) -> None:
        """Stop this worker, as SIGTERM does, when the process that started it is gone. Needs a running loop."""
        loop = asyncio.get_running_loop()

        def stop() -> None:
            loop.remove_reader(self._parent)
            signal.raise_signal(signal.SIGTERM)

        loop.add_reader(self._parent, stop)


@dataclass(slots=True)
class _Place:
    """The place of one worker."""

    listener: socket
    pid: int = 0
    started: float = 0.0
    pause: float = 0.0
    not_before: float = 0.0


class WorkerSupervisor:
    """Starts a worker for each listener, replaces one that ends, and stops all with a signal."""

    def __init__(self, listeners: Sequence[socket], on_ready: Callable[[str], object]) -> None:
        self._places = [_Place(listener) for listener in listeners]
        self._on_ready = on_ready
        self._reports, self._ready = os.pipe()
        self._parent, self._life = os.pipe()  # nothing is written: its end is the end of this process
        self._unread = b""
        self._count_ready = 0
        self._stopped_by: int | None = None
        self._failure = 0  # the exit code of a worker that failed before the server was ready

    def run(self) -> Worker | int:
        """Return twice, as `fork` does: in each worker its `Worker`, and here, when all have ended, an exit code."""
        os.set_blocking(self._reports, False)
        watched = {signal.SIGCHLD, *_STOPS}
        signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        while True:
            for place in self._places:
                if not place.pid and self._stopped_by is None and place.not_before <= monotonic():
                    worker = self._start(place)
                    if worker is not None:
                        signal.pthread_sigmask(signal.SIG_UNBLOCK, watched)
                        return worker
            received = signal.sigtimedwait(watched, _POLL_SECONDS)
            if received is not None and received.si_signo in _STOPS:
                self._stop(received.si_signo)
            self._read_reports()
            self._reap()
            if self._stopped_by is not None and not any(place.pid for place in self._places):
                signal.pthread_sigmask(signal.SIG_UNBLOCK, watched)
                if not self._failure:
                    signal.raise_signal(self._stopped_by)  # a server without workers ends in the same way
                return self._failure

    def _start(self, place: _Place) -> Worker | None:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            place.pid = pid
            place.started = monotonic()
            return None
        os.setpgid(0, 0)  # Ctrl-C is for the parent, which stops the workers
        os.close(self._reports)
        os.close(self._life)
        for other in self._places:
            if other is not place:
                other.listener.close()
        return Worker(place.listener, self._ready, self._parent)

    def _stop(self, number: int) -> None:
        self._stopped_by = self._stopped_by or number
        for place in self._places:
            if place.pid:
                os.kill(place.pid, signal.SIGTERM)

    def _read_reports(self) -> None:
        try:
            self._unread += os.read(self._reports, 65536)
        except BlockingIOError:
            return
        *tokens, self._unread = self._unread.split(b"\n")
        before = self._count_ready
        self._count_ready += len(tokens)
        if before < len(self._places) <= self._count_ready:
            self._on_ready(tokens[-1].decode())

    def _reap(self) -> None:
        """Note the workers that ended. One that ends before the server was ready ends all of them."""
        for place in self._places:
            pid, status = os.waitpid(place.pid, os.WNOHANG) if place.pid else (0, 0)
            if not pid:
                continue
            place.pid = 0
            code = os.waitstatus_to_exitcode(status)
            if self._stopped_by is not None:
                continue
            if self._count_ready < len(self._places):
                self._failure = code if code > 0 else 1
                self._stop(signal.SIGTERM)
                continue
            is_steady = monotonic() - place.started > _STEADY_SECONDS
            place.pause = _FIRST_PAUSE if is_steady else min(max(place.pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
            place.not_before = monotonic() + place.pause
            reason = f"by signal {-code}" if code < 0 else f"with code {code}"
            print_note(f"Worker {pid} ended {reason}; another one is started. Its work goes on in the others.")


def check_workers(count: int) -> None:
    """Raise if this machine cannot spread connections over several workers."""
    if count < 1:
        raise ConfigurationError("--workers must be at least 1.")
    if count > 1 and sys.platform != "linux":
        raise ConfigurationError("--workers above 1 needs Linux, whose kernel spreads connections over listeners.")
