"""Starts a server of the tests at once: it is forked from a host that has loaded the protocol's package.

`mcp_fork.py host SOCKET SUPPORT` is the host; it ends with its standard input, and finds `forked_end` in SUPPORT.
`mcp_fork.py SOCKET SCRIPT WORDS…` is what a client starts in place of the script: it hands its streams over, and ends
with the server, or the server with it.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys

LOADED = ("mcp.server.mcpserver", "anyio._backends._asyncio", "forked_end", "rich.logging", "runpy")


def run_server(connection: socket.socket) -> None:
    """Be the server of one connection's order."""
    message, streams, *_ = socket.recv_fds(connection, 1 << 20, 3)
    order = json.loads(message)
    end, held_by_server = os.pipe()
    pid = os.fork()
    if pid:
        os.close(held_by_server)
        guard(connection, pid, end)
        os._exit(0)
    import runpy

    from forked_end import end_process, exit_status

    os.close(end)
    connection.close()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = order["words"]
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        code = exit_status(ended)
    sys.exit(end_process(code))


def guard(connection: socket.socket, pid: int, end: int) -> None:
    """Report the server's end; end it when its client has gone. `end` is readable when the server has ended."""
    if connection in select.select([connection, end], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return
    connection.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def host(path: str, support: str) -> None:
    sys.path.append(support)
    for name in LOADED:
        importlib.import_module(name)
    gc.freeze()  # what is loaded stays shared with the servers
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                run_server(connection)
                return
            connection.close()


def launch(path: str, words: list[str]) -> int:
    order = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(order).encode()], [0, 1, 2])
        return int(connection.recv(64) or 1)


if __name__ == "__main__":
    if sys.argv[1] == "host":
        host(*sys.argv[2:])
    else:
        sys.exit(launch(sys.argv[1], sys.argv[2:]))
