"""A conversation with a model behind a wire: builds the request, streams the answer, tries again where that helps."""

import asyncio
from collections.abc import Awaitable, Container, Iterable
from urllib.parse import urlsplit

from weft.core.errors import IncompleteStream, InvalidRequest, ProviderError
from weft.core.events import RetryScheduled
from weft.core.json import encode
from weft.core.messages import Message, tool_results
from weft.core.payload import Payload
from weft.core.settings import Settings
from weft.core.tools import ToolDefinition, ToolResult
from weft.core.usage import Cost, Usage
from weft.providers.base import OnEvent, ProviderTurn
from weft.providers.catalogue import has_list_price, is_loaded, load, price
from weft.providers.explain import explain
from weft.providers.model import Model
from weft.providers.recording import Player, Recorder, current_tape
from weft.providers.retry import Retry, Timeouts
from weft.providers.transport import BrokenRead, Response, Transport, broken_read, error_of
from weft.providers.watchdog import Watchdog
from weft.wires.decoder import Decoder
from weft.wires.faults import error_from_response, unexpected_body
from weft.wires.history import RenderCache
from weft.wires.request import TurnRequest

_STREAMS = ("text/event-stream", "application/x-ndjson", "application/json", "application/stream+json", "")


class WireSession:
    """A `ProviderSession` with a real endpoint."""

    def __init__(
        self,
        model: Model,
        *,
        messages: list[Message] | None = None,
        tools: list[ToolDefinition] | None = None,
        settings: Settings | None = None,
        retry: Retry | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self.model = model
        self.messages = list(messages or [])
        self.tools = list(tools or [])
        self.settings = settings or Settings()
        self.retry = retry or Retry()
        self.timeouts = timeouts or Timeouts()
        self._rendered = RenderCache()
        self._watchdog = Watchdog(self.timeouts)
        self._transport: Transport | None = None

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        body = encode(self.model.wire.build(self._request()))
        taken = self._taken()
        discarded = Usage()
        attempt = 0
        while True:
            attempt += 1
            decoder = self._decoder(attempt, taken)
            await self._attempt(decoder, body, on_event)
            error = decoder.error
            if error is None:
                return _turn(decoder, attempt, discarded)
            discarded += decoder.usage
            if not error.retryable or attempt >= self.retry.limit(self.model.wire.name, error):
                raise error
            delay = self.retry.delay(attempt, error)
            on_event(RetryScheduled(decoder.id, attempt + 1, round(delay, 3), error.info()))
            await asyncio.sleep(delay)

    def append_tool_results(self, turn: ProviderTurn, results: list[ToolResult]) -> None:
        self.messages.append(turn.message)
        if results:
            self.messages.append(tool_results(results))

    def append(self, message: Message) -> None:
        self.messages.append(message)

    def cost(self, usage: Usage) -> Cost:
        return price(self.model, usage)

    @property
    def prices_ready(self) -> bool:
        return is_loaded() or not has_list_price(self.model)

    async def load_prices(self) -> None:
        await asyncio.to_thread(load)

    async def close(self) -> None:
        """Nothing is held between turns: connections belong to the loop."""

    async def __aenter__(self) -> "WireSession":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _taken(self) -> Container[str]:
        """The ids of all calls so far: those already written, and those of messages still unsettled."""
        written = self._rendered.history.ids if self._rendered.history is not None else {}
        open_ids = {call.id for m in self.messages[len(self._rendered.source) :] for call in m.tool_calls}
        return written.keys() | open_ids if open_ids else written

    def _request(self) -> TurnRequest:
        return TurnRequest(
            model=self.model.name,
            messages=self.messages,
            tools=self.tools,
            settings=self.settings,
            provider=self.model.provider,
            quirks=self.model.endpoint.quirks,
            cache=self._rendered,
        )

    def _decoder(self, attempt: int, taken: Container[str]) -> Decoder:
        return self.model.wire.decoder(
            provider=self.model.provider,
            model=self.model.name,
            attempt=attempt,
            taken=taken,
            max_output_tokens=self.settings.max_output_tokens,
            quirks=self.model.endpoint.quirks,
            explain=self._explain,
        )

    def _explain(self, error: ProviderError) -> ProviderError:
        return explain(error, self.model)

    async def _attempt(self, decoder: Decoder, body: bytes, on_event: OnEvent) -> None:
        """One try. Whatever happens on the way, the decoder knows how it ended."""
        _deliver(decoder.open(), on_event)
        try:
            await self._stream(decoder, body, on_event)
        except ProviderError as error:
            _deliver(decoder.abort(error), on_event)
            return
        _deliver(decoder.close(), on_event)

    async def _stream(self, decoder: Decoder, body: bytes, on_event: OnEvent) -> None:
        response = await self._post(body)
        watchdog = self._watchdog
        watchdog.start(response.close)
        finished = False
        try:
            await self._check(response)
            await _pump(response, decoder, watchdog, on_event)
            finished = True
        except BrokenRead as broken:
            if watchdog.error is not None:
                raise watchdog.error from None
            if not (watchdog.ended or decoder.finishing):
                raise _broken(decoder, error_of(broken.cause, self.model.url)) from None
        finally:
            watchdog.stop()
            (response.release if finished else response.close)()

    async def _post(self, body: bytes) -> Response:
        """Over the network, or over the tape that is running."""
        model, tape = self.model, current_tape()
        if isinstance(tape, Player):
            return tape.post(model.url, body)
        if self._transport is None or not self._transport.is_here():
            self._transport = await Transport.of_this_loop()
        request = self._in_time(
            self._transport.post(
                model.url, headers=model.request_headers, body=body, connect_timeout=self.timeouts.connect
            )
        )
        return await tape.post(request, model, body) if isinstance(tape, Recorder) else await request

    async def _in_time(self, request: Awaitable[Response]) -> Response:
        """The answer as it begins, or the watchdog's error: a wait that takes too long is cancelled by it."""
        task = asyncio.current_task()
        assert task is not None
        self._watchdog.start(task.cancel, grace=self.timeouts.connect)
        try:
            return await request
        except asyncio.CancelledError:
            if self._watchdog.error is None or task.uncancel() > 0:
                raise
            raise self._watchdog.error from None
        finally:
            self._watchdog.stop()

    async def _check(self, response: Response) -> None:
        """Only a stream goes on to the decoder."""
        if 300 <= response.status < 400:
            target = urlsplit(response.headers.get("location", ""))
            host = target.netloc.rpartition("@")[2]
            where = f"{target.scheme}://{host}" if host else "another address"
            raise InvalidRequest(
                f"The server redirects to {where}; "
                "a key does not follow a redirect. Set the base URL to where the API really is.",
                status=response.status,
            )
        if response.status != 200:
            raise error_from_response(response.status, response.headers, self._without_key(await response.read_error()))
        if response.content_type not in _STREAMS:
            raise unexpected_body(response.content_type, self._without_key(await response.read_error()))

    def _without_key(self, body: bytes) -> bytes:
        """Servers repeat what they were sent. The key goes no further than here."""
        for secret in self.model.secrets:
            body = body.replace(secret.encode(), b"[key]")
        return body


async def _pump(response: Response, decoder: Decoder, watchdog: Watchdog, on_event: OnEvent) -> None:
    read, feed, saw = response.read_chunk, decoder.feed, watchdog.saw
    while not decoder.done:
        try:
            chunk = await read()
        except Exception as error:
            raise broken_read(error) from None
        if not chunk:
            return
        payloads = feed(chunk)
        for payload in payloads:
            on_event(payload)
        saw(bool(payloads))
        if decoder.finishing and not decoder.done:
            if response.at_end():
                return
            watchdog.finishing()


def _broken(decoder: Decoder, error: ProviderError) -> ProviderError:
    """A connection that breaks in the middle of an answer leaves half an answer."""
    if not decoder.started:
        return error
    return IncompleteStream("The connection broke in the middle of the answer; nothing of it was run. Try again.")


def _deliver(payloads: Iterable[Payload], on_event: OnEvent) -> None:
    for payload in payloads:
        on_event(payload)


def _turn(decoder: Decoder, attempts: int, discarded: Usage) -> ProviderTurn:
    message, stop_reason = decoder.message, decoder.stop_reason
    assert message is not None
    assert stop_reason is not None
    billed = (decoder.provider_usage or {}).get("cost")
    return ProviderTurn(
        message=message,
        stop_reason=stop_reason,
        usage=decoder.usage,
        attempts=attempts,
        discarded=discarded,
        provider_stop_reason=decoder.provider_stop_reason,
        response_id=decoder.response_id,
        response_model=decoder.response_model,
        billed_usd=float(billed) if isinstance(billed, int | float) else None,
    )
