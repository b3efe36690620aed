"""A session with the local model."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from heald.core.errors import InvalidRequest
from heald.core.messages import Message, ToolDefinition
from heald.core.turn import Settings, Usage
from heald.providers.base import OnEvent, ProviderTurn
from heald.providers.conversation_base import ConversationBase
from heald.providers.scripted import Part, ScriptDecoder, ScriptedCall
from heald_local.builder import CANNOT, PageBuilder
from heald_local.commands import run_commands
from heald_local.detection import DetectionJob, start_detection
from heald_local.edit import edit_page
from heald_local.model import PROVIDER, LocalVision
from heald_local.request import LocalRequest, read_request, select_page
from heald_local.see.picture_hint import PictureHint
from heald_pictures.errors import VisionError

_LARGE = 16_000  # characters of a delta with pictures
_MOST_DELTAS = 48  # of one part: a long page grows in larger steps, so that nobody waits for its end


class LocalSession(ConversationBase):
    def __init__(
        self, model: LocalVision, messages: list[Message], tools: list[ToolDefinition], settings: Settings
    ) -> None:
        super().__init__(messages, tools, settings)
        self._model = model
        self._jobs: dict[tuple[bytes, PictureHint], DetectionJob] = {}  # by the bytes of the picture

    async def stream_turn(self, on_event: OnEvent) -> ProviderTurn:
        writer = _Writer(provider=PROVIDER, model=self._model.name, used_ids=self.used_ids)
        for payload in writer.open():
            on_event(payload)
        try:
            async with aclosing(self._parts()) as parts:
                async for part in parts:
                    await self._send(writer, part, on_event)
        except VisionError as fault:
            self._release()
            error = InvalidRequest(str(fault))
            for payload in writer.abort(error):
                on_event(payload)
            raise error from None
        except asyncio.CancelledError:
            self._release()
            raise
        for payload in writer.close():
            on_event(payload)
        assert writer.message is not None
        assert writer.stop_reason is not None
        if not writer.message.tool_calls:
            self._release()
        return ProviderTurn(message=writer.message, stop_reason=writer.stop_reason, usage=writer.usage)

    async def _send(self, writer: "_Writer", part: Part, on_event: OnEvent) -> None:
        written = part.input if isinstance(part, ScriptedCall) else {}
        hidden = str(written.get("path", "")).startswith("assets/")
        piece = max(self._model.piece, len(str(written.get("content", ""))) // _MOST_DELTAS)
        for step in writer.steps(part, _LARGE if hidden else piece):
            for payload in step:
                on_event(payload)
            await asyncio.sleep(self._model.pause)

    def _parts(self) -> AsyncGenerator[Part]:
        """Return the parts of the next turn, by the request and the calls made for it."""
        request = read_request(self.messages, self.tools, self.settings)
        if request.image is not None:
            return PageBuilder(
                select_page(request), self._model.mode, lambda data: self._detect(data, request.hint)
            ).parts()
        return _answer(request)

    def _detect(self, data: bytes, hint: PictureHint) -> DetectionJob:
        """Return the detection of a picture. Those of the first page and of the current one are kept."""
        key = (data, hint)
        if key not in self._jobs:
            for other in list(self._jobs)[1:]:
                self._jobs.pop(other).release()
            self._jobs[key] = start_detection(data, hint)
        return self._jobs[key]

    def _release(self) -> None:
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            job.release()

    async def close(self) -> None:
        self._release()


async def _answer(request: LocalRequest) -> AsyncGenerator[Part]:
    """Answer a request without a picture: run a command or make an edit. Raises VisionError for anything else."""
    parts = run_commands(request) or await asyncio.to_thread(edit_page, request)
    if not parts:
        raise VisionError(CANNOT)
    for part in parts:
        yield part


class _Writer(ScriptDecoder):
    """Writes blocks and calls as every wire does. No tokens are counted."""

    wire = PROVIDER

    def _flush(self) -> None:
        self.usage = Usage(input=0, output=0)
        super()._flush()
