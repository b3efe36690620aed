"""Routes of design pages, which speak the `studio` dialect: the `/generate-code` WebSocket, and those below `/api`.

A page sends one message with everything on the socket and receives the dialect. The first frame is `variantCount`.
Closing with 4333 cancels the agents; any other close lets them continue. Application errors close with 4332. Keys and
addresses that the page sends are ignored.
"""

import asyncio
import logging
from contextlib import aclosing, suppress

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from heald.core.errors import ErrorInfo, HealdError
from heald.core.events import ExchangeResponse
from heald.core.json import JsonObject, decode, encode_text
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.dialects.texts import NOT_STORED
from heald_server.http.errors import ApiError, api_error_of
from heald_server.http.operations import caller_of
from heald_server.http.route_description import RouteDescription
from heald_server.http.stall_timeout import StallTimeout
from heald_server.streams.event_stream import EventStream
from heald_server.streams.stream_end import closing_frames
from heald_server.streams.websocket import CLOSE_CODES
from heald_studio.dialect import StudioDialect
from heald_studio.projects.inherited_models import inherit_models
from heald_studio.projects.project import Project, VariantRef, Version, find_version
from heald_studio.request import BuildRequest
from heald_studio.server.generate_request import GenerateRequest, build_brief, decoder
from heald_studio.studio import Studio

CANCEL = 4333
ERROR = 4332

_FIRST_MESSAGE_SECONDS = 60.0
"""Time that a page has to send its message."""
_MAX_REASON_BYTES = 120
"""The limit of the reason in a close frame."""
_SEARCHED_PROJECTS = 10
"""The newest projects among which the variant is found that a page changes."""
_log = logging.getLogger("heald_server.studio")


class GenerateCodeSocket:
    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context

    async def run(self, websocket: WebSocket) -> None:
        caller = caller_of(websocket)
        await websocket.accept()
        try:
            async with asyncio.timeout(_FIRST_MESSAGE_SECONDS):
                first = await _receive_first(websocket)
            brief = await build_brief(decode(decoder, first))
            if caller.token_id is not None and self._context.tokens.owner_of(caller.token_id) is None:
                raise ApiError("unauthorized", "The token was revoked.")
            project = await self._studio.create(caller.owner, await self._with_model(caller.owner, brief))
        except WebSocketDisconnect:
            return
        except TimeoutError:
            await _close_with_error(websocket, ApiError("invalid", "The page sent no message."))
            return
        except Exception as error:
            await _close_with_error(websocket, error)
            return
        await self._follow(websocket, caller, project, brief)

    async def _with_model(self, owner: str, brief: BuildRequest) -> BuildRequest:
        """Return a change with the model that wrote the file which the page sends back. The page names no model."""
        if not brief.files or brief.models:
            return brief
        for project in (await self._studio.list(owner, limit=_SEARCHED_PROJECTS)).projects:
            for version in reversed(project.versions):
                for variant in version.variants:
                    if not variant.model:
                        continue
                    source = VariantRef(version.id, variant.index)
                    if brief.files.items() <= (await self._studio.files(owner, project.id, source)).items():
                        return inherit_models(brief, project, source, self._studio.models())
        return brief

    async def _follow(self, websocket: WebSocket, caller: Caller, project: Project, brief: BuildRequest) -> None:
        version = project.versions[-1]
        page = _Page(websocket, StallTimeout(websocket.scope, self._context.settings.limits.stall_seconds))
        streams = [self._open_stream(variant.session) for variant in version.variants]
        sending = asyncio.create_task(self._send_all(page, streams, version, brief))
        watching = asyncio.create_task(self._watch(page, streams, caller, project.id, version.id))
        watching.add_done_callback(lambda _: page.judge_rest())
        closing = asyncio.create_task(_wait_for_close(websocket))
        try:
            with self._context.streaming(caller, *streams):
                await asyncio.wait({sending, closing}, return_when=asyncio.FIRST_COMPLETED)
            if closing.done():
                if closing.result() == CANCEL:
                    await self._cancel(caller, project, version)
            else:
                reason = next((stream.end_reason for stream in streams if stream.end_reason is not None), None)
                await page.close(CLOSE_CODES[reason] if reason is not None else 1000)
        except ApiError as api_error:
            await _close_with_error(websocket, api_error)
        finally:
            for task in (closing, watching, sending):
                task.cancel()
            await asyncio.gather(closing, watching, sending, return_exceptions=True)

    def _open_stream(self, session: str) -> EventStream:
        return EventStream(self._context.sessions.store, self._context.open_sessions.hub, session, 0)

    async def _send_all(self, page: "_Page", streams: list[EventStream], version: Version, brief: BuildRequest) -> None:
        await page.send_json({"type": "variantCount", "value": str(len(streams)), "variantIndex": 0})
        models = [variant.model for variant in version.variants]
        await page.send_json({"type": "variantModels", "data": {"models": models}, "variantIndex": 0})
        async with asyncio.TaskGroup() as group:
            for index, stream in enumerate(streams):
                group.create_task(self._send_variant(page, stream, index, brief))

    async def _send_variant(self, page: "_Page", stream: EventStream, index: int, brief: BuildRequest) -> None:
        path, code = next(((path, data.decode("utf-8", "replace")) for path, data in brief.files.items()), (None, ""))
        dialect = StudioDialect(stream.session, variant=index, variants=None, page=path, code=code, client_code="")
        async with aclosing(stream.batches(self._context.settings.heartbeat_seconds)) as batches:
            async for entries in batches:
                for entry in entries:
                    event, response = entry.event, entry.event.data
                    if isinstance(response, ExchangeResponse) and response.status == "completed":
                        error = await page.verdict(index)
                        if error is not None:  # such as a missing page, which only the project knows
                            response = msgspec.structs.replace(response, status="failed", error=error)
                            event = msgspec.structs.replace(event, data=response)
                    for frame in dialect.feed(event):
                        await page.send(dialect.text(frame))
                    if isinstance(response, ExchangeResponse):
                        page.finish(index, response.error)
                        return
        if stream.end_reason == "store":
            frames = closing_frames(dialect, "store")
            for frame in frames:
                await page.send(dialect.text(frame))
            if not frames:  # it has not started
                page.failed[index] = NOT_STORED
        if index in page.failed:
            await page.send_json({"type": "variantError", "value": page.failed[index], "variantIndex": index})

    async def _watch(
        self, page: "_Page", streams: list[EventStream], caller: Caller, project: str, version: str
    ) -> None:
        """Report the outcome of variants, and those that fail before they start: they have no log."""
        async with aclosing(self._studio.watch(caller.owner, project)) as states:
            async for state in states:
                for variant in find_version(state, VariantRef(version, 0)).variants:
                    if not variant.is_done:
                        continue
                    if variant.exchange is not None:
                        page.judge(variant.index, variant.error)
                    elif variant.index not in page.failed:
                        page.finish(variant.index, variant.error)
                        streams[variant.index].stop()

    async def _cancel(self, caller: Caller, project: Project, version: Version) -> None:
        for variant in version.variants:
            with suppress(HealdError):
                await self._studio.cancel(caller.owner, project.id, VariantRef(version.id, variant.index))


class _Page:
    """The client of the socket, the outcomes of the variants in their project, and those that failed."""

    def __init__(self, websocket: WebSocket, stall_timeout: StallTimeout) -> None:
        self._verdicts: dict[int, asyncio.Future[ErrorInfo | None]] = {}
        self._is_watched = True
        self._websocket = websocket
        self._stall_timeout = stall_timeout
        self._lock = asyncio.Lock()
        self._finished = 0
        self.failed: dict[int, str] = {}

    async def send_json(self, message: JsonObject) -> None:
        await self.send(encode_text(message))

    async def send(self, text: str) -> None:
        async with self._lock:
            await self._stall_timeout.send(lambda: self._websocket.send_text(text))

    async def verdict(self, index: int) -> ErrorInfo | None:
        """Wait until the project has judged a variant by its files. Returns the error of one that failed."""
        return await self._future(index) if self._is_watched else None

    def judge(self, index: int, error: ErrorInfo | None) -> None:
        if not self._future(index).done():
            self._future(index).set_result(error)

    def judge_rest(self) -> None:
        """The project is gone: nothing more is known of its variants."""
        self._is_watched = False
        for index in self._verdicts:
            self.judge(index, None)

    def _future(self, index: int) -> "asyncio.Future[ErrorInfo | None]":
        if index not in self._verdicts:
            self._verdicts[index] = asyncio.get_running_loop().create_future()
        return self._verdicts[index]

    def finish(self, index: int, error: ErrorInfo | None) -> None:
        self._finished += 1
        if error is not None:
            self.failed[index] = error.message

    async def close(self, code: int) -> None:
        """Close the socket; with the error if all variants failed."""
        if code == 1000 and self.failed and len(self.failed) == self._finished:
            await _close_with_error(self._websocket, ApiError("invalid", next(iter(self.failed.values()))))
            return
        with suppress(Exception):
            await self._websocket.close(code)


async def _receive_first(websocket: WebSocket) -> str | bytes:
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    return message.get("text") or message.get("bytes") or ""


async def _wait_for_close(websocket: WebSocket) -> int:
    """Return the code with which the page closes the socket."""
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return int(message.get("code") or 1005)


async def _close_with_error(websocket: WebSocket, error: Exception) -> None:
    api_error = api_error_of(error)
    if api_error is None and isinstance(error, ValueError):
        api_error = ApiError("invalid", f"The message cannot be read: {str(error)[:300]}.")
    if api_error is None:
        _log.exception("A design could not be started.")
        api_error = ApiError("internal", "The server failed; its log has the cause.")
    with suppress(Exception):
        await websocket.send_text(encode_text({"type": "error", "value": api_error.message, "variantIndex": 0}))
        await websocket.close(ERROR, api_error.message.encode()[:_MAX_REASON_BYTES].decode("utf-8", "ignore"))


class StudioFrame(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A message of the studio dialect to a design page."""

    type: str
    value: str
    variant_index: int
    data: JsonObject | None = None
    event_id: str | None = None


SOCKET = RouteDescription(
    "WS",
    "/generate-code",
    "A design page: one message, then the studio dialect.",
    "studio",
    body=GenerateRequest,
    events=(StudioFrame,),
)
