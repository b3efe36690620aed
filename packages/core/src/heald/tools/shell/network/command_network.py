"""The way of one command to its proxy: the channel over which the sandbox hands out its listening socket."""

import asyncio
import os
import socket
from contextlib import suppress

from heald.tools.shell.network.listener_program import PORT, listener_program
from heald.tools.shell.network.proxy import NetworkProxy

PROGRAM = "/run/heald-listener"
"""The path of the listener program in a sandbox."""
_LOCAL = "localhost,127.0.0.1,::1"


def proxy_environment() -> dict[str, str]:
    """Return the variables that lead programs to the proxy. Servers of the command itself are reached directly."""
    address = f"http://127.0.0.1:{PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    both_cases = {name: address for upper in names for name in (upper, upper.lower())}
    return {**both_cases, "NO_PROXY": _LOCAL, "no_proxy": _LOCAL, "NODE_USE_ENV_PROXY": "1"}


class CommandNetwork:
    """The network of one command. It is closed with the command."""

    def __init__(self, proxy: NetworkProxy) -> None:
        self._proxy = proxy
        self._loop = asyncio.get_running_loop()
        self._ours, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ours.setblocking(False)
        self.child_fd = child.detach()
        """The sandbox's end of the channel. Its owner closes it."""

    def program(self) -> bytes:
        """The program that the sandbox starts before the command."""
        return listener_program(self.child_fd)

    def start(self) -> None:
        """Serve the sandbox's socket as soon as it arrives."""
        self._loop.add_reader(self._ours.fileno(), self._receive)

    def _receive(self) -> None:
        try:
            _, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1)
        except BlockingIOError:
            return
        except OSError:
            descriptors = []
        self._close_channel()
        for fd in descriptors:
            listener = socket.socket(fileno=fd)
            os.set_inheritable(fd, False)
            if _is_listener(listener):
                self._proxy.serve(listener)
            else:
                listener.close()

    def _close_channel(self) -> None:
        if self._ours.fileno() >= 0:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.remove_reader(self._ours.fileno())
            self._ours.close()

    def close(self) -> list[str]:
        """Cut every connection. Return notes on the hosts that were reached and refused."""
        self._close_channel()
        self._proxy.close()
        return self._proxy.report()


def _is_listener(sock: socket.socket) -> bool:
    try:
        is_listening = bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
        return is_listening and sock.getsockname() == ("127.0.0.1", PORT)
    except OSError:
        return False
