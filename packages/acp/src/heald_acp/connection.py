"""A started agent and the JSON-RPC messages to and from it, one JSON object a line.

The process has a process group of its own, which is killed when the connection ends, with all that the process started
elsewhere. The sizes of a message and of the
stored standard error are bounded. Lines that are not messages are skipped.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

from heald.core.errors import ConfigurationError, ConnectionFailed, HealdError
from heald.core.json import JsonObject, as_object, encode, loads
from heald_acp.agent_error import AgentError, plain
from heald_acp.process_mark import ProcessMark
from heald_acp.program import AgentProgram

MAX_MESSAGE = 64 << 20
_CHUNK = 64 * 1024
_MAX_LOG = 8 * 1024
_GRACE = 2.0
"""Seconds in which an agent may exit after its input is closed."""
_METHOD_NOT_FOUND = -32601
_REFUSED = -32000

OnRequest = Callable[[str, JsonObject], Awaitable[JsonObject]]
"""Answers a request of the agent. Raises AgentError for one that is refused."""
OnNotification = Callable[[str, JsonObject], object]


class AgentConnection:
    """One process. `on_end` is called once, with the error, if it ends by itself."""

    def __init__(
        self,
        program: AgentProgram,
        folder: str,
        *,
        on_request: OnRequest,
        on_notification: OnNotification,
        on_end: Callable[[HealdError], object],
    ) -> None:
        self._program = program
        self._folder = folder
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_end = on_end
        self._numbers = count(1)
        self._pending: dict[int, asyncio.Future[JsonObject]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._mark = ProcessMark()
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._log = b""
        self._is_closing = False

    async def start(self) -> None:
        """Start the process. Raises ConfigurationError if it cannot be started."""
        argv = self._program.argv()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self._program.environment(), **self._mark.environment()},
                cwd=self._folder,
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigurationError(
                f"acp/{self._program.name} cannot be started: {error.strerror}; check the command {argv[0]!r}."
            ) from None
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_log())]

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Send a request and wait for its result. Raises AgentError for an error that the agent reports."""
        return await self.begin_request(method, params)

    def begin_request(self, method: str, params: JsonObject) -> "asyncio.Future[JsonObject]":
        """Send a request. The future has its result."""
        number = next(self._numbers)
        future = self._pending[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        return future

    def notify(self, method: str, params: JsonObject) -> None:
        self._send({"method": method, "params": params})

    async def close(self) -> None:
        """End the process: close its input, then kill its group. A cancellation does not interrupt it."""
        if self._is_closing:
            return
        self._is_closing = True
        await asyncio.shield(asyncio.create_task(self._close()))

    def kill(self) -> None:
        """Kill the process and its children at once."""
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    async def _close(self) -> None:
        for task in self._answering:
            task.cancel()
        process = self._process
        if process is not None:
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
            waiting = asyncio.create_task(process.wait())
            await asyncio.wait([waiting], timeout=_GRACE)
            self.kill()
            await asyncio.to_thread(self._mark.kill_all)
            await asyncio.wait([waiting], timeout=_GRACE)
            waiting.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._answering, return_exceptions=True)
        self._fail_pending(ConnectionFailed(f"{self._program.name} was ended."))
        transport = getattr(process, "_transport", None)
        if transport is not None:
            with suppress(ProcessLookupError, PermissionError):
                transport.close()

    def _send(self, message: JsonObject) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        if not process.stdin.is_closing():
            process.stdin.write(encode({"jsonrpc": "2.0", **message}) + b"\n")

    # --- incoming messages --------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        error: HealdError | None = None
        rest = bytearray()
        try:
            while chunk := await self._process.stdout.read(_CHUNK):
                *lines, tail = chunk.split(b"\n")
                for line in lines:
                    self._on_line(bytes(rest + line))
                    rest.clear()
                rest += tail
                if len(rest) > MAX_MESSAGE:
                    error = ConnectionFailed(f"{self._program.name} sent a message of more than {MAX_MESSAGE} bytes.")
                    self.kill()
                    break
        except OSError:
            pass
        await self._report_end(error)

    async def _report_end(self, error: HealdError | None) -> None:
        assert self._process is not None
        exiting = asyncio.create_task(self._process.wait())
        await asyncio.wait([exiting, self._tasks[1]], timeout=_GRACE)
        exiting.cancel()
        error = error or self._ended_error()
        self._fail_pending(error)
        if not self._is_closing:
            self._on_end(error)

    async def _read_log(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        with suppress(OSError):
            while chunk := await self._process.stderr.read(_CHUNK):
                self._log = (self._log + chunk)[-_MAX_LOG:]

    def _ended_error(self) -> ConnectionFailed:
        code = self._process.returncode if self._process is not None else None
        how = f" with exit code {code}" if code is not None else ""
        lines = [line.strip() for line in self._log.decode("utf-8", "replace").splitlines() if line.strip()]
        reason = f": {plain(lines[-1])}" if lines and code else ""
        return ConnectionFailed(f"{self._program.name} ended{how} before the answer was complete{reason}")

    def _on_line(self, line: bytes) -> None:
        try:
            message = as_object(loads(line))
        except (ValueError, RecursionError):
            return
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            task = asyncio.create_task(self._answer(method, number, as_object(message.get("params"))))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif isinstance(method, str):
            self._on_notification(method, as_object(message.get("params")))
        elif isinstance(number, int) and (future := self._pending.pop(number, None)) is not None and not future.done():
            if "error" in message:
                future.set_exception(AgentError.read(as_object(message["error"])))
                future.exception()  # mark it as retrieved: a cancelled request is awaited by nobody
            else:
                future.set_result(as_object(message.get("result")))

    async def _answer(self, method: str, number: object, params: JsonObject) -> None:
        try:
            answer: JsonObject = {"result": await self._on_request(method, params)}
        except NotImplementedError:
            answer = {"error": {"code": _METHOD_NOT_FOUND, "message": f"Heald has no method {method[:100]!r}."}}
        except AgentError as error:
            answer = {"error": {"code": error.code or _REFUSED, "message": str(error)}}
        except HealdError as error:
            answer = {"error": {"code": _REFUSED, "message": str(error)}}
        self._send({"id": number, **answer})

    def _fail_pending(self, error: HealdError) -> None:
        pending, self._pending = self._pending, {}
        for future in pending.values():
            if not future.done():
                future.set_exception(error)
                future.exception()
