"""Sends probes to a server and reads its answers."""

import asyncio

import msgspec
from msgspec.structs import replace

from heald.core.errors import ConfigurationError, InvalidRequest, ProviderError
from heald.providers.error_advice import explain_error
from heald.providers.model import Model
from heald.providers.network_errors import network_error
from heald.providers.transport import BrokenRead, Response, Transport, broken_read
from heald.wires.errors import error_from_response
from heald_check.conform.answer import ProbeAnswer
from heald_check.conform.api_rules import APIS
from heald_check.conform.excerpt import excerpt
from heald_check.conform.guarded_decoder import GuardedDecoder
from heald_check.conform.probes import PROBES, Probe, ProbeRequest

_FATAL_STATUSES = (401, 402, 403, 404, 429)
_MAX_BODY = 16 * 1024 * 1024


class ProbeTimeouts(msgspec.Struct, frozen=True):
    """Times in seconds, and the number of tries."""

    silence: float = 120.0
    """Without a byte before an answer counts as broken; a local model may have to be loaded first."""
    tail: float = 5.0
    """Between the last event and the end of the body."""
    tries: int = 3
    """Tries while the server is busy."""
    pause: float = 2.0
    """The pause after the first try; doubled after each."""


class ProbeClient:
    """Sends each probe once, when it is first needed, and keeps the answers.

    Raises if the server refuses every request, since then there is nothing to check.
    """

    def __init__(self, model: Model, patience: ProbeTimeouts | None = None) -> None:
        if model.api_key and not (model.api_key.isascii() and model.api_key.isprintable()):
            raise ConfigurationError("The key holds characters that no header can carry; copy it again.")
        self.model = model
        self.api = APIS[model.wire.name]
        self._patience = patience or ProbeTimeouts()
        self._answers: dict[str, ProbeAnswer] = {}
        self._accepted = False

    async def answer(self, name: str) -> ProbeAnswer:
        if name not in self._answers:
            self._answers[name] = await self._send_with_retries(PROBES[name])
        return self._answers[name]

    async def _send_with_retries(self, probe: Probe) -> ProbeAnswer:
        before = await self.answer(probe.after) if probe.after is not None else None
        request = probe.make(self.model, before)
        answer = await self._send(probe, request)
        for turn in range(self._patience.tries - 1):
            if not answer.busy:
                break
            await asyncio.sleep(self._patience.pause * 2**turn)
            answer = await self._send(probe, request)
        if not self._accepted and not probe.wants_error:
            self._raise_if_pointless(answer)
        self._accepted = True
        return answer

    def _raise_if_pointless(self, answer: ProbeAnswer) -> None:
        """Raise if the key, the address or the model is wrong, since every further request would fail too."""
        if 300 <= answer.status < 400:
            raise InvalidRequest(
                "The server redirects; a key does not follow a redirect. Set --base-url to where the API really is."
            )
        if answer.status in _FATAL_STATUSES:
            raise explain_error(error_from_response(answer.status, {}, answer.body), self.model)

    async def _send(self, probe: Probe, request: ProbeRequest) -> ProbeAnswer:
        transport = await Transport.for_running_loop()
        answer = ProbeAnswer(probe.name, self.api)
        try:
            async with asyncio.timeout(self._patience.silence):
                response = await transport.post(
                    request.model.url,
                    headers=request.model.request_headers,
                    body=request.body,
                    connect_timeout=self._patience.silence,
                )
        except (ProviderError, TimeoutError) as error:
            if not self._accepted:
                raise error if isinstance(error, ProviderError) else network_error(error, request.model.url) from None
            return replace(answer, broken=excerpt(str(error)) or self._silence)
        try:
            return await self._read(replace(answer, status=response.status), probe, response)
        finally:
            response.close()

    async def _read(self, answer: ProbeAnswer, probe: Probe, response: Response) -> ProbeAnswer:
        model = self.model
        decoder = GuardedDecoder(
            model.wire.decoder(provider=model.provider, model=model.name, quirks=model.endpoint.quirks)
        )
        body = bytearray()
        broken: str | None = None
        kept_open = disconnected = False
        while not disconnected:
            over = answer.status == 200 and decoder.at_end
            try:
                async with asyncio.timeout(self._patience.tail if over else self._patience.silence):
                    chunk = await response.read_chunk()
            except Exception as error:
                if not isinstance(broken_read(error), BrokenRead):
                    raise
                kept_open = over and isinstance(error, TimeoutError)
                broken = None if kept_open else self._describe_break(error, len(body))
                break
            if not chunk:
                break
            body += chunk
            if answer.status == 200:
                decoder.feed(chunk)
            disconnected = probe.disconnect and decoder.started and not decoder.at_end
            if len(body) > _MAX_BODY:
                broken = f"the answer did not end within {_MAX_BODY} bytes"
                break
        return replace(
            answer,
            content_type=response.content_type,
            body=self._mask_key(bytes(body)),
            decoded=decoder.end(),
            broken=broken,
            kept_open=kept_open,
            disconnected=disconnected,
        )

    @property
    def _silence(self) -> str:
        return f"no byte for {self._patience.silence:g} s"

    def _describe_break(self, error: Exception, size: int) -> str:
        why = self._silence if isinstance(error, TimeoutError) else "the connection broke"
        return f"{why} after {size} bytes"

    def _mask_key(self, body: bytes) -> bytes:
        """Remove the key from an answer: servers repeat parts of the request."""
        key = self.model.api_key
        return body.replace(key.encode(), b"[key]") if key else body
