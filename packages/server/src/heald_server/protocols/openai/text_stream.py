"""A text completion as a stream of server-sent events."""

import asyncio
import logging
from collections.abc import AsyncGenerator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from heald.core.errors import ProviderError
from heald.core.json import encode
from heald.core.turn import Usage
from heald.providers.model import Model
from heald.providers.text_completion import TextPiece, complete_text
from heald_server.access.caller import Caller
from heald_server.http.stall_timeout import StallTimeout
from heald_server.protocols.openai.provider_calls import ProviderCalls, estimate_usage, failed_response
from heald_server.protocols.openai.text_dialect import TextDialect
from heald_server.protocols.openai.text_request import TextParameters
from heald_server.protocols.shared.exchange_failure import ExchangeFailure
from heald_server.streams.sse import HEADERS
from heald_server.streams.stream_end import abort_connection

_HEARTBEAT = b": heartbeat\n"

_log = logging.getLogger("heald_server.protocols")


class TextStreamResponse(Response):
    """Streams a completion as the provider sends it. The request to the provider ends with the client's connection.

    The head is held back until there is text, or for one heartbeat, so that a failure has a status.
    """

    def __init__(
        self, calls: ProviderCalls, caller: Caller, model: Model, parameters: TextParameters, dialect: TextDialect
    ) -> None:
        super().__init__(headers=HEADERS, media_type="text/event-stream")
        del self.headers["content-length"]
        self._calls = calls
        self._caller = caller
        self._model = model
        self._parameters = parameters
        self._dialect = dialect
        self._has_begun = False
        self._text: list[str] = []
        self._usage: Usage | None = None
        self._billed_usd: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context, caller = self._calls.context, self._caller
        stall_timeout = StallTimeout(scope, context.settings.limits.stall_seconds)
        disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
        pieces = complete_text(self._model, self._parameters.call)
        with (
            self._calls.counting(caller.owner),
            context.streaming(caller),
            context.watch_access(caller, disconnected.cancel),
        ):
            try:
                is_whole = await self._stream(send, stall_timeout, pieces, disconnected)
                cost = await self._record()
                if is_whole:
                    await self._end(send, stall_timeout, cost)
            except ProviderError as error:
                await self._fail(scope, receive, send, stall_timeout, error)
            except TimeoutError:
                _log.warning("a slow reader of a completion was dropped")
                await abort_connection(scope)
            finally:
                disconnected.cancel()
                await asyncio.wait([disconnected])
                await pieces.aclose()

    async def _stream(
        self,
        send: Send,
        stall_timeout: StallTimeout,
        pieces: AsyncGenerator[TextPiece],
        disconnected: "asyncio.Future[None]",
    ) -> bool:
        """Send the pieces. Returns False if the client has gone before the end."""
        heartbeat = self._calls.context.settings.heartbeat_seconds
        while True:
            piece = asyncio.ensure_future(anext(pieces, None))
            try:
                while not piece.done():
                    done, _ = await asyncio.wait(
                        (piece, disconnected), timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED
                    )
                    if disconnected.done():
                        return False
                    if not done:
                        await self._write(send, stall_timeout, _HEARTBEAT)
            finally:
                piece.cancel()
                await asyncio.wait([piece])
            arrived = piece.result()
            if arrived is None:
                return True
            await self._send_piece(send, stall_timeout, arrived)

    async def _send_piece(self, send: Send, stall_timeout: StallTimeout, piece: TextPiece) -> None:
        self._text.append(piece.text)
        self._usage = piece.usage or self._usage
        self._billed_usd = piece.billed_usd if piece.billed_usd is not None else self._billed_usd
        if piece.text or piece.finish_reason is not None:
            await self._write(send, stall_timeout, b"data: %s\n\n" % encode(self._dialect.chunk(piece)))

    async def _record(self) -> float | None:
        usage = estimate_usage(self._usage, self._parameters.prompt, "".join(self._text))
        return await self._calls.record(self._caller.owner, self._model, usage, self._billed_usd)

    async def _end(self, send: Send, stall_timeout: StallTimeout, cost: float | None) -> None:
        ending = b""
        if self._parameters.usage:
            usage = estimate_usage(self._usage, self._parameters.prompt, "".join(self._text))
            ending = b"data: %s\n\n" % encode(self._dialect.usage_chunk(usage, cost))
        await self._write(send, stall_timeout, ending + b"data: [DONE]\n\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _fail(
        self, scope: Scope, receive: Receive, send: Send, stall_timeout: StallTimeout, error: ProviderError
    ) -> None:
        if not self._has_begun:
            await failed_response(error)(scope, receive, send)
            return
        await self._record()
        failure = ExchangeFailure(str(error), error.code)
        await self._write(send, stall_timeout, b"data: %s\n\n" % encode({"error": failure.data}))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, send: Send, stall_timeout: StallTimeout, body: bytes) -> None:
        if not self._has_begun:
            self._has_begun = True
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await stall_timeout.send(lambda: send({"type": "http.response.body", "body": body, "more_body": True}))


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
