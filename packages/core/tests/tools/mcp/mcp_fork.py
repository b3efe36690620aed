"""Starts a server of the tests at once: it is forked from a host that has loaded the protocol's package.

`mcp_fork.py host SOCKET` is the host; it ends with its standard input. `mcp_fork.py SOCKET SCRIPT WORDS…` is what a
client starts in place of the script: it hands its streams over, and ends with the server, or the server with it.
"""

import importlib
import json
import os
import select
import signal
import socket
import sys


def run_server(connection: socket.socket) -> None:
    """Be the server of one connection's order."""
    message, streams, *_ = socket.recv_fds(connection, 1 << 20, 3)
    order = json.loads(message)
    pid = os.fork()
    if pid:
        guard(connection, pid)
        return
    import runpy

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
    runpy.run_path(sys.argv[0], run_name="__main__")


def guard(connection: socket.socket, pid: int) -> None:
    """Report the server's end; end it when its client has gone."""
    ended, status = 0, 0
    while not ended:
        if select.select([connection], [], [], 0.02)[0]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        ended, status = os.waitpid(pid, os.WNOHANG)
    connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def host(path: str) -> None:
    importlib.import_module("mcp.server.mcpserver")
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
        host(sys.argv[2])
    else:
        sys.exit(launch(sys.argv[1], sys.argv[2:]))
