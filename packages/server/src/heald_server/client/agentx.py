"""`heald_server.AgentXClient`: a session on a server, in the words of the agentx dialect.

Events are the JSON objects of the dialect, in the order of the log, each once, also across lost connections.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self

from heald.core.errors import ConfigurationError, HealdError
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.tools.permissions import Mode
from heald_server.client.address import parse_address
from heald_server.client.errors import ConnectionLost, EventsLost, ServerRefused
from heald_server.client.handler_queue import AgentXReactor, HandlerQueue
from heald_server.client.outbox import Outbox
from heald_server.client.rest import RestClient
from heald_server.client.server_frames import GoodbyeFrame, RefusedFrame, ReplyFrame, read_control_frame
from heald_server.client.timing import Backoff, Timing
from heald_server.client.websocket import SocketClosed, WebSocket

_log = logging.getLogger("heald_server.client")


class AgentXClient:
    """One conversation on a server, with events in the words of the agentx dialect.

    Without `session` a session is created with the settings given here. `client_tools` are tools that this client runs:
    a handler of `client_tool_requested` gets the call and sends its result with `send_tool_result`. The client
    reconnects and resumes by itself. Closing it does not cancel what runs on the server.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        session: str | None = None,
        model: str | None = None,
        tools: Sequence[str] | None = None,
        instructions: str | None = None,
        permissions: Mode | None = None,
        client_tools: Sequence[JsonObject] | None = None,
        patience: float = 60.0,
    ) -> None:
        address, secret = parse_address(url, token)
        settings = {
            "model": model,
            "tools": list(tools) if tools is not None else None,
            "instructions": instructions,
            "permissions": permissions,
            "client_tools": list(client_tools) if client_tools is not None else None,
        }
        self.session = session
        """The id of the session, which is the `agentId` of its events; None until it is created."""
        self._settings = {name: value for name, value in settings.items() if value is not None}
        if session is not None and self._settings:
            raise ConfigurationError(f"A session that exists has its own {', '.join(self._settings)}; omit it.")
        self._timing = Timing(patience=patience)
        self._rest = RestClient(address, secret, self._timing)
        self._outbox = Outbox()
        self._reactors: list[HandlerQueue] = []
        self._seq = 0  # of the last event that is known as a whole
        self._unfinished: set[str] = set()  # frames of the event after it
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    async def open(self) -> str:
        """Create the session if there is none, and connect. Returns its id."""
        if self._is_closed:
            raise _client_closed()
        backoff = Backoff(self._timing)
        while self.session is None:
            try:
                self.session, self._seq = await self._rest.create(self._settings)
            except ConnectionLost as fault:
                await backoff.wait(str(self._rest.address), fault, goes_on="no session was created.")
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="heald-agentx")
            self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self.session

    async def close(self) -> None:
        """Deliver open commands, let the handlers finish, and disconnect."""
        self._is_closed = True
        task, self._task = self._task, None
        if task is not None:
            if not task.done():
                await self._outbox.wait_answered(self._timing.goodbye)
            task.cancel()
            await asyncio.wait([task])
        self._outbox.fail(_client_closed())
        for reactor in list(self._reactors):
            await reactor.close(self._timing.goodbye)
        await self._rest.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- events and commands -----------------------------------------------------------------------------------------

    def react(self, reactor: AgentXReactor) -> Callable[[], None]:
        """Subscribe handlers and return the function that unsubscribes them.

        They are a mapping or an object with names such as `onToolResult`, `on_tool_result` or `tool_result`; `onEvent`
        gets all other events. `onToolUseMessage` is called once for each call, `onToolUseMessageUpdate` when its result
        is there. Handlers may be coroutines; each reactor gets its events in order.
        """
        queue = HandlerQueue(reactor)
        self._reactors.append(queue)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._reactors.remove(queue)

        return unsubscribe

    async def send(self, text: str) -> str:
        """Send a user message. Returns the id of its exchange."""
        accepted = await self._command({"type": "send", "text": text, "client_request_id": new_id("req")})
        return str(accepted.get("exchange"))

    async def run(self, text: str) -> JsonObject:
        """Send a user message and return the `exchange_response` of its exchange."""
        ended: asyncio.Queue[JsonObject] = asyncio.Queue()
        unsubscribe = self.react({"exchange_response": ended.put_nowait})
        try:
            exchange = await self.send(text)
            while True:
                response = await self._until_lost(ended.get())
                if response["exchangeId"] == exchange:
                    return response
        finally:
            unsubscribe()

    async def send_tool_result(self, call_id: str, result: Any, is_error: bool = False) -> None:
        """Send the result of a call that this client runs: a text, parts or any JSON. `{"type": "execution-denied",
        "reason": …}` refuses the call."""
        frame = {"type": "tool_result", "call_id": call_id, "content": result, "is_error": is_error}
        await self._command(frame)

    async def approve(self, approval: str, *, always: bool = False) -> None:
        """Allow a call that waits: the `approval` of `approval_requested`."""
        await self._command({"type": "approve", "approval": approval, "always": always})

    async def deny(self, approval: str, reason: str = "") -> None:
        """Refuse a call that waits. The model gets the reason."""
        await self._command({"type": "deny", "approval": approval, "reason": reason})

    async def cancel(self, reason: str = "") -> None:
        """Cancel the running exchange."""
        await self._command({"type": "cancel", "reason": reason})

    async def _command(self, frame: JsonObject) -> JsonObject:
        await self.open()
        command = self._outbox.put(frame)
        try:
            return await command.answer
        except ServerRefused as refused:
            if command.written > 1 and refused.reason == "conflict":
                return {}  # the reply to an earlier delivery was lost
            raise

    async def _until_lost(self, waiting: Any) -> JsonObject:
        """Await something unless the connection ends first, which raises its error."""
        await self.open()
        assert self._task is not None
        result = asyncio.ensure_future(waiting)
        await asyncio.wait({result, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        result.cancel()
        if not self._task.cancelled():
            self._task.result()
        raise _client_closed()

    # --- the connection ----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Connect, and connect another time when the connection is lost. Ends with an error that stays."""
        backoff = Backoff(self._timing)
        try:
            while True:
                try:
                    await self._connect(backoff)
                except ConnectionLost as fault:
                    hint = "what runs there goes on, and can be joined with the id of its session."
                    await backoff.wait(str(self._rest.address), fault, goes_on=hint)
        except Exception as error:
            if not isinstance(error, HealdError):
                _log.exception("The connection ended by a fault of Heald.")
            self._outbox.fail(error)
            raise

    async def _connect(self, backoff: Backoff) -> None:
        socket = await self._rest.open_session_socket(str(self.session), "agentx", self._seq)
        self._outbox.rewind()
        writer = asyncio.create_task(self._write(socket))
        try:
            while True:
                self._on_text(await socket.receive(self._timing.silence))
                backoff.renew()
        except TimeoutError:
            raise ConnectionLost("it fell silent") from None
        except SocketClosed as closed:
            raise self._closed(closed.code) from None
        finally:
            writer.cancel()
            await asyncio.wait([writer])
            await socket.close()

    def _closed(self, code: int | None) -> Exception:
        if code == 4401:
            return self._rest.token_refused()
        if code == 4404:
            return self._rest.no_session(str(self.session))
        if code == 4409:
            return EventsLost(str(self.session), self._seq)
        return ConnectionLost("the connection broke")

    async def _write(self, socket: WebSocket) -> None:
        with suppress(SocketClosed, OSError):  # the reading side notices
            while True:
                await socket.send((await self._outbox.next()).text(str(self.session)))

    def _on_text(self, text: str) -> None:
        frame = read_control_frame(text)
        match frame:
            case ReplyFrame(id=identifier, result=result):
                self._outbox.reply(identifier, result)
            case RefusedFrame(id=str() as identifier, code=code, message=message):
                self._outbox.refuse(identifier, self._rest.refusal(code, message))
            case GoodbyeFrame(reason=reason):
                raise ConnectionLost(f"it ended the connection: {reason}")
            case dict():
                self._on_event(frame)
            case _:
                pass

    def _on_event(self, event: JsonObject) -> None:
        seq = event.pop("seq", None)
        uuid = str(event.get("uuid"))
        is_new = uuid not in self._unfinished and (seq is None or seq > self._seq)
        self._unfinished.add(uuid)
        if isinstance(seq, int):
            self._seq = max(seq, self._seq)
            self._unfinished.clear()
        if not is_new:
            return
        for reactor in list(self._reactors):
            reactor.put(event)


def _client_closed() -> ConfigurationError:
    return ConfigurationError("This client was closed; make another one with the id of its session.")
