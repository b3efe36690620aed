"""A process that starts heald commands and other programs by forking: what takes long to load is loaded once.

Its standard input is a socket. Each line is one order, `{"words": …, "folder": …, "environment": …}`, with the four
descriptors that the command gets: its standard input, output and error, and the pipe for its exit code. The answer is
the command's process id. With `"code"` in the order, Python runs that in place of the command; with `"terminal": true`
its standard input becomes its controlling terminal.
"""

import fcntl
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import termios
from types import ModuleType

from forked_end import end_process, exit_status
from heald_cli.main import main as heald_main

PIECE = 1 << 16


def run_command(message: bytes, streams: list[int]) -> int:
    """Be the command, in the process that was forked for it."""
    order = json.loads(message)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if order.get("terminal"):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests that `nohup` runs ignore it
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    if "code" in order:
        return run_code(order["code"])
    sys.argv = ["heald", *order["words"]]
    return heald_main()


def run_code(code: str) -> int:
    """Run Python as `python -c` does."""
    sys.argv = ["-c"]
    sys.path[0] = ""
    main_module = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(code, "<string>", "exec"), main_module.__dict__)
    return 0


def start_command(orders: socket.socket, exits: dict[int, int]) -> bool:
    """Fork for the next order. False: there are no more orders."""
    message, descriptors, *_ = socket.recv_fds(orders, PIECE, 4)
    if not message:
        return False
    while not message.endswith(b"\n"):
        message += orders.recv(PIECE)
    *streams, exit_pipe = descriptors
    pid = os.fork()
    if pid == 0:
        orders.close()
        for descriptor in (exit_pipe, *exits.values()):
            os.close(descriptor)
        try:
            code = run_command(message, streams)
        except SystemExit as ended:
            code = exit_status(ended)
        raise SystemExit(end_process(code))
    for descriptor in streams:
        os.close(descriptor)
    exits[pid] = exit_pipe
    orders.send(str(pid).encode())
    return True


def report_exits(exits: dict[int, int]) -> None:
    """Write the exit code of each command that has ended to its pipe."""
    for pid in list(exits):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            pipe = exits.pop(pid)
            os.write(pipe, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(pipe)


def _do_nothing(number: int, frame: object) -> None:
    pass


def main() -> None:
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.freeze()  # what is loaded stays shared with the commands
    exits: dict[int, int] = {}
    orders = socket.socket(fileno=os.dup(0))
    wake, wakened = os.pipe()
    os.set_blocking(wakened, False)
    signal.signal(signal.SIGCHLD, _do_nothing)  # a signal without a handler would not wake the loop below
    signal.set_wakeup_fd(wakened)
    with orders, selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj == wake:
                    os.read(wake, PIECE)
                    report_exits(exits)
                elif not start_command(orders, exits):
                    return


if __name__ == "__main__":
    main()
