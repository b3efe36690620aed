"""A conversation with a model behind a wire: builds the request, streams the answer, retries failed attempts."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from heald.core.distribution import install_advice
from heald.core.errors import GarbledStream, IncompleteStream, InvalidRequest, ProviderError
from heald.core.events import RetryScheduled
from heald.core.ids import new_id
from heald.core.json import as_object, encode
from heald.core.lazy import lazy_pattern
from heald.core.messages import Message, Text, ToolDefinition, user_message
from heald.core.payload import Payload
from heald.core.recent_results import RecentResults
from heald.core.retry import Retry
from heald.core.turn import Cost, Settings, Usage
from heald.http1.shared_reads import SharedReads, shared_reads
from heald.providers.base import Deliver, OnEvent, ProviderTurn, deliver_to
from heald.providers.conversation_base import ConversationBase
from heald.providers.defaults import batches_of_context, default_retry, default_timeouts, tape_of_context
from heald.providers.files import UploadedFiles
from heald.providers.header_secrets import find_secrets
from heald.providers.list_price import has_list_price, is_loaded, load, price
from heald.providers.model import Model
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, Transport, broken_read
from heald.providers.watchdog import Timeouts, Watchdog
from heald.wires.audio import check_audio
from heald.wires.billed_cost import read_billed_cost
from heald.wires.decoder import Decoder
from heald.wires.errors import error_from_response, error_from_unexpected_body
from heald.wires.features import check_features
from heald.wires.output_schema import plan_output
from heald.wires.rendering import RenderCache
from heald.wires.request import TurnRequest

if TYPE_CHECKING:
    from heald.providers.context_size import ServerFacts
    from heald.providers.responses_socket import ResponsesSocket
    from heald.wires.text_call import Tools
    from heald.wires.text_calls import Fits
    from heald.wires.text_edits import TextFiles


def _postpone(error: ProviderError, limit: float) -> ProviderError:
    """Return the same error with a message that states when to try again."""
    seconds = error.retry_after or 0.0
    when = datetime.now(UTC) + timedelta(seconds=seconds)
    from copy import copy

    postponed = copy(error)
    postponed.args = (
        f"{error} The server asks to come back in {seconds:.0f} s, at {when:%Y-%m-%d %H:%M:%S} UTC; "
        f"a wait of more than {limit:g} s is not made.",
    )
    return postponed


_REFUSED_OUTPUT = (
    r"(?i)response_format|json_schema|output_config|output_format|text\.format|structured.output|additionalProperties"
    r"|response_?mime_?type|response_?(?:json_?)?schema|\bstrict\b|invalid schema"
)
"""The words of an endpoint that refuses the schema of an answer."""
_CALL_REJECTED = (
    "Your last message could not be read as a tool call, so nothing was run. "
    "Call one of the tools with arguments that are valid JSON for its schema, or answer in text."
)
_argument_names: "RecentResults[Tools]" = RecentResults()
_NO_NAMES: "tuple[list[ToolDefinition], Tools]" = ([], {})
_MEDIA = frozenset(("pdf_input", "audio_input", "file_ids"))
_USUAL = Timeouts()
_OWN_SERVER_SECONDS = 1800.0
_PEEK = 16
_FLOOD = 17  # events of one read: so many come faster than anybody could see them one by one
_STREAM_START = lazy_pattern(rb"(?:\xef\xbb\xbf)?\s*(?:data:|event:|id:|retry:|:|[\[{])")
"""The start of a stream, or of an answer that was not streamed, whatever its content type."""
_STREAMS = (
    "text/event-stream",
    "application/vnd.amazon.eventstream",
    "application/x-ndjson",
    "application/json",
    "application/stream+json",
    "",
)


class WireSession(ConversationBase):
    """A `ProviderSession` with a real endpoint."""

    text_files: "TextFiles | None" = None
    """The model writes files as text and calls no tools."""
    parses_calls = False
    """The server has reported a call, so that no text counts as one."""
    fits: "Fits | None" = None
    """Whether a tool accepts the arguments of a call that is written as text."""
    _context_size: int | None = None  # that is requested
    _facts: "ServerFacts | None" = None
    _loop: asyncio.AbstractEventLoop | None = None  # that of the last turn
    _reads: SharedReads | None = None
    _transport: Transport | None = None
    _socket: "ResponsesSocket | None" = None

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
        super().__init__(messages or [], list(tools or []), settings or Settings())
        self.model = model
        self.retry = retry or default_retry()
        self.timeouts = timeouts or default_timeouts()
        self._quirks = model.endpoint.quirks
        self._render_cache = RenderCache()
        self._files = UploadedFiles(model)
        self._patience = _find_patience(self.timeouts, model)
        self._is_listed = has_list_price(model)
        self._argument_names: tuple[list[ToolDefinition], Tools] = _NO_NAMES  # by the tools that they are of
        self._watchdog = Watchdog(self.timeouts)
        self._headers: Mapping[str, str] = {}

    async def close(self) -> None:
        if self._socket is not None and self._loop is asyncio.get_running_loop():
            await self._socket.close()
        self._socket = None

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        request = await self.prepare_request()
        body = encode(self.model.wire.build_request(request))
        headers = self.model.wire.build_headers(request)
        return await self.send_body(body, self._used_call_ids(), on_event, self._body_without_schema, headers)

    async def prepare_request(self) -> TurnRequest:
        """Return the request of the next turn. Large files are uploaded, and what the wire cannot carry is refused."""
        wire = self.model.wire
        check_audio(wire, self.messages)
        endpoint = self.model.endpoint
        if wire.check_media is not None or not _MEDIA.isdisjoint(endpoint.quirks.without):
            from heald.wires.media_check import check_media  # most wires carry every picture and document

            check_media(wire, self.messages, endpoint.provider, endpoint.quirks.without)
        if self.settings.server_tools or self.settings.image_output:
            check_features(wire.name, self.settings, wire.features, endpoint.provider, endpoint.quirks.without)
        if wire.name == "ollama":
            await self.server_facts()
        if self._files.wants_upload(self.messages) and tape_of_context.get() is None:
            await self._files.upload(self.messages)
        return self._request()

    async def send_body(
        self,
        body: bytes,
        used_ids: Container[str],
        on_event: OnEvent,
        rebuild: Callable[[ProviderError], bytes | None] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ProviderTurn:
        """Send the body of a request and stream its answer, with retries. `used_ids` are the ids of earlier calls.

        `rebuild` returns another body for a request that the endpoint refused, if there is one. `headers` are sent in
        place of those of the endpoint.
        """
        self._headers = headers or {}
        deliver = deliver_to(on_event)
        discarded = Usage()
        attempt = 0
        error: ProviderError | None = None
        while True:
            attempt += 1
            decoder = self._decoder(attempt, used_ids, error)
            await self._attempt(decoder, body, deliver)
            error = decoder.error
            if error is None:
                return _build_turn(decoder, attempt, discarded)
            discarded += decoder.usage
            if rebuild is not None and (other := rebuild(error)) is not None:
                body = other
                on_event(RetryScheduled(decoder.id, attempt + 1, 0.0, error.info()))
                continue
            if error.retryable and self.retry.is_too_long(error):
                raise _postpone(error, self.retry.max_wait)
            if not error.retryable or attempt >= self.retry.limit(error, self.model.wire.attempts):
                raise error
            delay = self.retry.delay(attempt, error)
            if on_event(RetryScheduled(decoder.id, attempt + 1, round(delay, 3), error.info())) is False:
                raise error
            await asyncio.sleep(delay)
            if rebuild is not None and isinstance(error, GarbledStream) and error.generation:
                body = encode(self.model.wire.build_request(self._request(_feedback(error))))

    def cost(self, usage: Usage) -> Cost:
        if not self._is_listed:
            return Cost()
        if batches_of_context.get() is not None:
            usage = msgspec.structs.replace(usage, tier="batch")
        return price(self.model, usage)

    @property
    def prices_ready(self) -> bool:
        return not self._is_listed or is_loaded()

    async def load_prices(self) -> None:
        await asyncio.to_thread(load)

    def _used_call_ids(self) -> Container[str]:
        """Return the ids of all calls so far: in the render cache, and in messages that it does not hold yet."""
        written = self._render_cache.history.ids if self._render_cache.history is not None else {}
        if len(self._render_cache.source) == len(self.messages):
            return written
        open_ids = {call.id for m in self.messages[len(self._render_cache.source) :] for call in m.tool_calls}
        return written.keys() | open_ids if open_ids else written

    async def server_facts(self) -> "ServerFacts":
        """Ask the server about the model, once."""
        if self._facts is None:
            from heald.providers.context_size import ServerFacts  # a question without tools asks for no facts

            self._facts = ServerFacts()
            if tape_of_context.get() is None:
                self._facts = await self._find_facts()
        return self._facts

    async def _find_facts(self) -> "ServerFacts":
        from heald.providers.context_size import ServerFacts, find_server_facts, ollama_facts

        if self.model.wire.name == "ollama":
            ollama = await ollama_facts(self.model, await self._open_transport())
            self._context_size = ollama.requested_size
            return ServerFacts(context_size=ollama.context_size, parameters=ollama.parameters)
        facts = await find_server_facts(self.model)
        if facts.is_llama_cpp and self.model.wire.name == "chat":
            self._quirks = msgspec.structs.replace(self._quirks, prompt_progress=True)
        return facts

    @property
    def may_write_calls(self) -> bool:
        """Whether the model may write calls as text: its server is not known to parse all of them."""
        return self._quirks.text_calls and self.model.wire.reads_text_calls

    async def context_window(self) -> int | None:
        """Return the size of the model's context in tokens; None if it is not known."""
        if self._quirks.context_size is not None:
            return self._quirks.context_size
        return (await self.server_facts()).context_size

    def _body_without_schema(self, error: ProviderError) -> bytes | None:
        """Return the request with the schema in its instructions, if the endpoint refuses typed output."""
        if not isinstance(error, InvalidRequest) or not re.search(_REFUSED_OUTPUT, str(error)):
            return None
        if self._quirks.typed_output == "prompt" or self._request().settings.output_schema is None:
            return None
        self._quirks = msgspec.structs.replace(self._quirks, typed_output="prompt")
        return encode(self.model.wire.build_request(self._request()))

    def _request(self, feedback: Sequence[Message] = ()) -> TurnRequest:
        """The request of this turn. Feedback on a failed attempt is sent behind the conversation and not kept."""
        messages, settings, files = self.messages, self.settings, self.text_files
        if files is not None:
            from heald.wires.text_conversation import text_conversation

            conversation = text_conversation(
                messages, files.attached, short_reports=files.may_write, drops_answer=files.hides_answer
            )
            messages = [*files.example, *conversation]
            system = "\n\n".join(part for part in (settings.system, files.instructions) if part)
            settings = msgspec.structs.replace(settings, system=system)
        request = TurnRequest(
            model=self.model.name,
            messages=self._files.replace([*messages, *feedback] if feedback else messages),
            tools=self.tools if files is None else [],
            settings=settings,
            provider=self.model.endpoint.provider,
            quirks=self._quirks,
            context_size=self._context_size,
            cache=None if feedback or files is not None else self._render_cache,
        )
        return request if settings.output_schema is None else plan_output(request, self.model.wire.name)

    def _decoder(self, attempt: int, used_ids: Container[str], error: ProviderError | None) -> Decoder:
        """Return the decoder of an attempt that follows on this error."""
        return self.model.wire.decoder(
            provider=self.model.endpoint.provider,
            model=self.model.name,
            attempt=attempt,
            used_ids=used_ids,
            max_output_tokens=self.settings.max_output_tokens,
            quirks=self.model.endpoint.quirks,
            explain=self._explain_error,
            logprobs=self.settings.top_logprobs is not None,
            tools=self._find_argument_names() if self._reads_text_calls else None,
            text_files=self.text_files,
            fits=self.fits,
            calls_allowed=self._calls_allowed,
            waits_for_text=isinstance(error, GarbledStream) and error.text_differs,
        )

    @property
    def _reads_text_calls(self) -> bool:
        return self.may_write_calls and self._calls_allowed and not self.parses_calls

    @property
    def _calls_allowed(self) -> bool:
        return self.settings.tool_choice != "none"

    def _explain_error(self, error: ProviderError) -> ProviderError:
        from heald.providers.error_advice import explain_error

        return explain_error(error, self.model, find_secrets(self._headers))

    def _find_argument_names(self) -> "Tools":
        """The arguments of each tool, by which calls are recognised in text."""
        if self._argument_names[0] != self.tools:
            tools = list(self.tools)
            names = _argument_names.find(tools)
            if names is None:
                names = {tool.name: list(as_object(tool.input_schema.get("properties"))) for tool in tools}
                _argument_names.add(tools, names)
            self._argument_names = tools, names
        return self._argument_names[1]

    async def _attempt(self, decoder: Decoder, body: bytes, deliver: Deliver) -> None:
        """Run one attempt. The decoder holds its outcome."""
        self._follow_loop()
        deliver(decoder.open())
        try:
            last = await self._read_stream(await self._post(body), decoder, deliver)
        except ProviderError as error:
            deliver(decoder.abort(error))
            return
        deliver([*last, *decoder.close()])

    async def _read_stream(self, response: Response, decoder: Decoder, deliver: Deliver) -> list[Payload]:
        """Read the answer to its end, and end the response. Returns the payloads of the read that ended it."""
        watchdog = self._watchdog
        watchdog.start(response.close, first=self._patience)
        finished = False
        last: list[Payload] = []
        try:
            if response.status != 200 or response.content_type not in _STREAMS:
                await self._check_response(response)
            response.share_reads()
            reads = self._reads
            while True:
                try:
                    chunk = await response.read_chunk()
                except Exception as error:
                    raise broken_read(error) from None
                if not chunk:
                    break
                decoder.join_from = 1 if reads is not None and reads.is_active else _FLOOD
                held_back = decoder.held_back
                payloads = decoder.feed(chunk)
                watchdog.saw(bool(payloads) or decoder.held_back > held_back, decoder.started)
                if decoder.done or (decoder.finishing and response.at_end()):
                    last = payloads
                    break
                if payloads:
                    deliver(payloads)
                if decoder.finishing:
                    watchdog.finishing()
            finished = True
        except BrokenRead as broken:
            if watchdog.error is not None:
                raise watchdog.error from None
            if not (watchdog.ended or decoder.finishing):
                raise _broken_stream(decoder, network_error(broken.cause, self.model.url)) from None
        finally:
            watchdog.stop()
            (response.release if finished else response.close)()
        return last

    def _follow_loop(self) -> None:
        """Use the timers and connections of the running event loop. A session may be used in one after the other."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._loop is not None:
                self._watchdog.stop()
                self._watchdog, self._socket = Watchdog(self.timeouts), None
            self._loop, self._transport = loop, None
            self._reads = shared_reads(loop)

    def _post(self, body: bytes) -> Awaitable[Response]:
        """Send the request over the network, to the batch queue, or to the recording that is being played."""
        model, tape = self.model, tape_of_context.get()
        if tape is not None and tape.kind == "player":
            return tape.post(model.url, body)
        if (batches := batches_of_context.get()) is not None:
            return batches.post(model, body)
        request = self._send(body)
        return request if tape is None else tape.post(request, model, body)

    async def _send(self, body: bytes) -> Response:
        """Wait for the response to begin. The watchdog cancels a wait that is too long; then its error is raised."""
        model, timeouts = self.model, self.timeouts
        open_socket = self._open_socket() if self.settings.websocket else None
        transport = self._transport or await self._open_transport()
        headers = {**model.request_headers, **self._headers} if self._headers else model.request_headers
        if model.signer is not None:
            headers = await model.signer.sign(model.url, headers, body)
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._watchdog.start(task.cancel, grace=timeouts.connect, first=self._patience)
        try:
            if open_socket is not None:
                return await open_socket.post(model.url, headers, body, timeouts.connect)
            return await transport.send(model.url, headers, body, timeouts.connect)
        except asyncio.CancelledError:
            if self._watchdog.error is None or task.uncancel() > 0:
                raise
            raise self._watchdog.error from None
        finally:
            self._watchdog.stop()

    def _open_socket(self) -> "ResponsesSocket | None":
        """Return the WebSocket of the conversation, if the API and the provider have that."""
        model = self.model
        if "websocket" not in model.wire.features or "websocket" in model.endpoint.quirks.without:
            return None
        if self._socket is None:
            try:
                from heald.providers.responses_socket import ResponsesSocket
            except ModuleNotFoundError as error:
                if error.name != "websockets":
                    raise
                advice = install_advice("websocket")
                raise InvalidRequest(f"The setting `websocket` needs a package; run {advice}.") from None

            self._socket = ResponsesSocket()
        return self._socket

    async def _open_transport(self) -> Transport:
        """Return the connection pool of the running loop."""
        self._transport = await Transport.for_running_loop()
        return self._transport

    async def _check_response(self, response: Response) -> None:
        """Raise unless the response is a stream."""
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
            raise error_from_response(response.status, response.headers, await self._error_body(response))
        if response.content_type not in _STREAMS and not _STREAM_START.match(await response.peek(_PEEK)):
            raise error_from_unexpected_body(response.content_type, await self._error_body(response))

    async def _error_body(self, response: Response) -> bytes:
        """Read the body of an error response and redact it: servers repeat parts of the request."""
        body = await response.read_error()
        for secret in (*self.model.secrets, *find_secrets(self._headers)):
            body = body.replace(secret.encode(), b"[key]")
        return body


def _find_patience(limits: Timeouts, model: Model) -> float:
    """The seconds until the first content. A machine of one's own may read a long prompt for minutes."""
    if limits.first is not None:
        return limits.first
    is_usual = (limits.socket, limits.content) == (_USUAL.socket, _USUAL.content)
    return _OWN_SERVER_SECONDS if is_usual and model.base_url.startswith("http:") else 0.0


def _broken_stream(decoder: Decoder, error: ProviderError) -> ProviderError:
    """Return the error of a broken connection: `IncompleteStream` once some of the answer had arrived."""
    if not decoder.started:
        return error
    return IncompleteStream("The connection broke in the middle of the answer; nothing of it was run. Try again.")


def _feedback(error: GarbledStream) -> list[Message]:
    """The text that the API refused to read as a call, and the request for a better one."""
    written = Message(role="assistant", content=[Text(error.generation)], id=new_id("msg"))
    return [written, user_message(f"{_CALL_REJECTED} The reason: {error}")]


def _build_turn(decoder: Decoder, attempts: int, discarded: Usage) -> ProviderTurn:
    message, stop_reason = decoder.message, decoder.stop_reason
    assert message is not None
    assert stop_reason is not None
    return ProviderTurn(
        message=message,
        stop_reason=stop_reason,
        usage=decoder.usage,
        attempts=attempts,
        discarded=discarded,
        provider_stop_reason=decoder.provider_stop_reason,
        response_id=decoder.response_id,
        response_model=decoder.response_model,
        cost_usd=read_billed_cost(decoder.provider_usage),
        notes=decoder.notes,
        logprobs=decoder.logprobs,
        unread_call=decoder.unread_call,
    )
