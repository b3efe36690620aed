"""Asks a server and keeps its answers. Each probe is sent once, when the first check wants it."""

import asyncio
from dataclasses import dataclass, replace

from weft.core.errors import ConfigurationError, InvalidRequest, ProviderError
from weft.providers.explain import explain
from weft.providers.model import Model
from weft.providers.transport import BrokenRead, Response, Transport, broken_read, error_of
from weft.testing.conform.answer import Answer, Decoding
from weft.testing.conform.api import APIS
from weft.testing.conform.probes import PROBES, Probe, Sending
from weft.testing.conform.verdict import excerpt
from weft.wires.faults import error_from_response

_LOCKED_OUT = (401, 402, 403, 404, 429)
_MAX_BODY = 16 * 1024 * 1024


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds."""

    silence: float = 120.0
    """Without a byte, before an answer counts as broken: a local model may have to be loaded first."""
    tail: float = 5.0
    """After the last event, for the end of the body."""
    tries: int = 3
    """Times that a server may say that it is busy."""
    pause: float = 2.0
    """After the first of them; doubled after each."""


class Bench:
    """The answers of one server. A server that lets nobody in raises instead: then there is nothing to judge."""

    def __init__(self, model: Model, patience: Patience | None = None) -> None:
        if model.api_key and not (model.api_key.isascii() and model.api_key.isprintable()):
            raise ConfigurationError("The key holds characters that no header can carry; copy it again.")
        self.model = model
        self.api = APIS[model.wire.name]
        self._patience = patience or Patience()
        self._answers: dict[str, Answer] = {}
        self._let_in = False

    async def answer(self, name: str) -> Answer:
        if name not in self._answers:
            self._answers[name] = await self._ask(PROBES[name])
        return self._answers[name]

    async def _ask(self, probe: Probe) -> Answer:
        before = await self.answer(probe.after) if probe.after is not None else None
        sending = probe.make(self.model, before)
        answer = await self._try(probe, sending)
        for turn in range(self._patience.tries - 1):
            if not answer.busy:
                break
            await asyncio.sleep(self._patience.pause * 2**turn)
            answer = await self._try(probe, sending)
        if not self._let_in and not probe.wants_error:
            self._refuse_early(answer)
        self._let_in = True
        return answer

    def _refuse_early(self, answer: Answer) -> None:
        """A wrong key, address or name makes every further request pointless."""
        if 300 <= answer.status < 400:
            raise InvalidRequest(
                "The server redirects; a key does not follow a redirect. Set --base-url to where the API really is."
            )
        if answer.status in _LOCKED_OUT:
            raise explain(error_from_response(answer.status, {}, answer.body), self.model)

    async def _try(self, probe: Probe, sending: Sending) -> Answer:
        transport = await Transport.of_this_loop()
        answer = Answer(probe.name, self.api)
        try:
            async with asyncio.timeout(self._patience.silence):
                response = await transport.post(
                    sending.model.url,
                    headers=sending.model.request_headers,
                    body=sending.body,
                    connect_timeout=self._patience.silence,
                )
        except (ProviderError, TimeoutError) as error:
            if not self._let_in:
                raise error if isinstance(error, ProviderError) else error_of(error, sending.model.url) from None
            return replace(answer, broken=excerpt(str(error)) or self._silence)
        try:
            return await self._read(replace(answer, status=response.status), probe, response)
        finally:
            response.close()

    async def _read(self, answer: Answer, probe: Probe, response: Response) -> Answer:
        model = self.model
        decoding = Decoding(
            model.wire.decoder(provider=model.provider, model=model.name, quirks=model.endpoint.quirks),
        )
        body = bytearray()
        broken: str | None = None
        kept_open = left_early = False
        while not left_early:
            over = answer.status == 200 and decoding.over
            try:
                async with asyncio.timeout(self._patience.tail if over else self._patience.silence):
                    chunk = await response.read_chunk()
            except Exception as error:
                if not isinstance(broken_read(error), BrokenRead):
                    raise
                kept_open = over and isinstance(error, TimeoutError)
                broken = None if kept_open else self._why_broken(error, len(body))
                break
            if not chunk:
                break
            body += chunk
            if answer.status == 200:
                decoding.feed(chunk)
            left_early = probe.leave and decoding.started and not decoding.over
            if len(body) > _MAX_BODY:
                broken = f"the answer did not end within {_MAX_BODY} bytes"
                break
        return replace(
            answer,
            content_type=response.content_type,
            body=self._without_key(bytes(body)),
            decoded=decoding.end(),
            broken=broken,
            kept_open=kept_open,
            left_early=left_early,
        )

    @property
    def _silence(self) -> str:
        return f"no byte for {self._patience.silence:g} s"

    def _why_broken(self, error: Exception, size: int) -> str:
        why = self._silence if isinstance(error, TimeoutError) else "the connection broke"
        return f"{why} after {size} bytes"

    def _without_key(self, body: bytes) -> bytes:
        """Servers repeat what they were sent. The key goes no further than here."""
        key = self.model.api_key
        return body.replace(key.encode(), b"[key]") if key else body
