"""Routes of design pages, which speak the `studio` dialect: the `/generate-code` WebSocket, and those below `/api`.

A page sends one message with everything on the socket and receives the dialect. The first frame is `variantCount`.
Closing with 4333 cancels the agents; any other close lets them continue. Application errors close with 4332. Keys and
addresses that the page sends are ignored.
"""

import asyncio
import logging
from base64 import b64encode
from contextlib import aclosing, suppress
from functools import partial
from typing import Annotated

import msgspec
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from weft.core.errors import ErrorInfo, WeftError
from weft.core.events import ExchangeResponse
from weft.core.json import JsonObject, decode, encode_text
from weft.dialects.dialect import NOT_STORED
from weft.dialects.studio import StudioDialect
from weft.server.connections import Patience
from weft.server.context import ServerContext
from weft.server.errors import ApiError, api_error_of
from weft.server.event_stream import EventStream
from weft.server.file_routes import download
from weft.server.guard import Caller
from weft.server.openapi import RouteDescription
from weft.server.operations import ApiCall, Operation, caller_of
from weft.server.sse import closing_frames
from weft.server.studio_host import VIDEO_BYTES, read_brief
from weft.server.studio_views import PromptBody, SelectedBody, SourceBody, Words
from weft.server.views import Body, Title
from weft.server.websocket import CLOSE_CODES
from weft.studio.browser.capture import capture_both
from weft.studio.browser.chromium import has_chromium
from weft.studio.browser.page import BrowserError
from weft.studio.export import zip_project
from weft.studio.input.pictures import load_bytes, load_picture
from weft.studio.offline import offline_project
from weft.studio.preview import PAGE, read_title
from weft.studio.project import Project, VariantRef, Version, find_version
from weft.studio.project_store import DesignSystemStore, StoredDesignSystem
from weft.studio.request import UPDATE_VARIANTS, BuildRequest, HistoryMessage, Shot
from weft.studio.stack import find_stack, guess_stack
from weft.studio.studio import Studio

CANCEL = 4333
ERROR = 4332

_FIRST_MESSAGE_SECONDS = 60.0
"""Time that a page has to send its message."""
_MAX_REASON_BYTES = 120
"""The limit of the reason in a close frame."""

_IMAGES = frozenset({"generate_images", "edit_image", "remove_background"})
_ASSETS = frozenset({"extract_assets"})
_log = logging.getLogger("weft.server.studio")


class PagePrompt(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    fullText: str | None = None  # noqa: N815
    """The text with the selected element, if there is one."""
    images: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    videos: Annotated[list[str], msgspec.Meta(max_length=1)] = []
    selectedElementHtml: str | None = None  # noqa: N815


class PageMessage(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    text: str = ""
    images: list[str] = []
    videos: list[str] = []


class PageFileState(msgspec.Struct, frozen=True, kw_only=True):
    path: str = "index.html"
    content: str = ""


class GenerateRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The message of the page. Other fields are ignored."""

    generation_type: str = "create"
    input_mode: str = "image"
    prompt: PagePrompt = PagePrompt()
    history: list[PageMessage] = []
    file_state: PageFileState | None = None
    option_codes: list[str] = []
    generated_code_config: str = "html_tailwind"
    design_system: str | None = None
    is_image_generation_enabled: bool = True
    is_asset_extraction_enabled: bool = True
    num_variants: int | None = None


_decoder = msgspec.json.Decoder(GenerateRequest)


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
            brief = await _build_brief(decode(_decoder, first))
            if caller.token_id is not None and self._context.tokens.owner_of(caller.token_id) is None:
                raise ApiError("unauthorized", "The token was revoked.")
            project = await self._studio.create(caller.owner, brief)
        except WebSocketDisconnect:
            return
        except TimeoutError:
            await _close_with_error(websocket, ApiError("invalid", "The page sent no message."))
            return
        except Exception as error:
            await _close_with_error(websocket, error)
            return
        await self._follow(websocket, caller, project, brief)

    async def _follow(self, websocket: WebSocket, caller: Caller, project: Project, brief: BuildRequest) -> None:
        version = project.versions[-1]
        page = _Page(websocket, Patience(websocket.scope, self._context.settings.limits.stall_seconds))
        streams = [self._open_stream(variant.session) for variant in version.variants]
        sending = asyncio.create_task(self._send_all(page, streams, version, brief))
        watching = asyncio.create_task(self._watch(page, streams, caller, project.id, version.id))
        closing = asyncio.create_task(_wait_for_close(websocket))
        try:
            with self._context.streaming(caller, *streams):
                await asyncio.wait({sending, closing}, return_when=asyncio.FIRST_COMPLETED)
            if closing.done():
                if closing.result() == CANCEL:
                    await self._cancel(caller, project, version)
            else:
                reason = next((each.end_reason for each in streams if each.end_reason is not None), None)
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
        dialect = StudioDialect(stream.session, variant=index, variants=None, page=path, code=code, shown="")
        async with aclosing(stream.batches(self._context.settings.heartbeat_seconds)) as batches:
            async for entries in batches:
                for entry in entries:
                    for frame in dialect.feed(entry.event):
                        await page.send(dialect.text(frame))
                    if isinstance(entry.event.data, ExchangeResponse):
                        page.finish(index, entry.event.data.error)
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
        """Report variants that fail before they start: they have no log."""
        async with aclosing(self._studio.watch(caller.owner, project)) as states:
            async for state in states:
                for variant in find_version(state, VariantRef(version, 0)).variants:
                    if variant.is_done and variant.exchange is None and variant.index not in page.failed:
                        page.finish(variant.index, variant.error)
                        streams[variant.index].stop()

    async def _cancel(self, caller: Caller, project: Project, version: Version) -> None:
        for variant in version.variants:
            with suppress(WeftError):
                await self._studio.cancel(caller.owner, project.id, VariantRef(version.id, variant.index))


class _Page:
    """The client of the socket, and the variants that failed."""

    def __init__(self, websocket: WebSocket, patience: Patience) -> None:
        self._websocket = websocket
        self._patience = patience
        self._lock = asyncio.Lock()
        self._finished = 0
        self.failed: dict[int, str] = {}

    async def send_json(self, message: JsonObject) -> None:
        await self.send(encode_text(message))

    async def send(self, text: str) -> None:
        async with self._lock:
            await self._patience.send(lambda: self._websocket.send_text(text))

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


async def _build_brief(wanted: GenerateRequest) -> BuildRequest:
    is_update = wanted.generation_type == "update"
    chosen = wanted.prompt.selectedElementHtml
    prompt = PromptBody(
        text=wanted.prompt.text,
        images=[_source(each) for each in wanted.prompt.images if not _is_video(each)],
        videos=[_source(each) for each in (*wanted.prompt.videos, *filter(_is_video, wanted.prompt.images))][:1],
        selected=SelectedBody(html=chosen) if chosen else None,
    )
    brief = await read_brief(
        prompt,
        stack=wanted.generated_code_config,
        variants=wanted.num_variants or (UPDATE_VARIANTS if is_update else None),
        design=wanted.design_system or "",
    )
    file = wanted.file_state
    without: set[str] = set()
    if not wanted.is_image_generation_enabled:
        without |= _IMAGES
    if not wanted.is_asset_extraction_enabled:
        without |= _ASSETS
    return msgspec.structs.replace(
        brief,
        files={file.path: file.content.encode()} if is_update and file is not None and file.content else {},
        history=tuple([await _read_history(message) for message in _earlier(wanted)]) if is_update else (),
        options=tuple(wanted.option_codes),
        excluded_tools=frozenset(without),
    )


async def _read_history(message: PageMessage) -> HistoryMessage:
    shots = [Shot((await load_picture(each)).image()) for each in message.images if each.startswith("data:image/")]
    for video in message.videos:
        if video.startswith("data:"):
            from weft.studio.input.video import read_video  # few requests have a recording

            frames = await read_video(await load_bytes(video, limit=VIDEO_BYTES, name="The recording"))
            shots += [Shot(frame.picture.image(), frame.label) for frame in frames]
    return HistoryMessage(
        role="assistant" if message.role == "assistant" else "user", text=message.text, shots=tuple(shots)
    )


def _earlier(wanted: GenerateRequest) -> list[PageMessage]:
    """The history without its last message, where that is the request itself."""
    own = (wanted.prompt.text, wanted.prompt.fullText)
    last = wanted.history[-1] if wanted.history else None
    is_own = last is not None and last.role == "user" and last.text in own
    return wanted.history[:-1] if is_own else wanted.history


def _is_video(given: str) -> bool:
    return given.startswith("data:video/")


def _source(given: str) -> SourceBody:
    return SourceBody(data=given) if given.startswith("data:") else SourceBody(url=given)


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


# --- below /api ------------------------------------------------------------------------------------------------------


_PATH = "/api/design-systems"


class Capabilities(msgspec.Struct, frozen=True):
    screenshot_preview: bool
    """Whether agents can look at the page that they write."""


class NewDesignSystem(Body, frozen=True, kw_only=True):
    name: Title = ""
    content: Words = ""


class DesignSystemChange(Body, frozen=True, kw_only=True):
    name: Title | None = None
    content: Words | None = None


class ExportBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    code: Annotated[str, msgspec.Meta(max_length=8_000_000)]
    base_url: str = ""
    """The address of the client's page. It is not used."""


class CaptureBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    url: Annotated[str, msgspec.Meta(max_length=4000)]
    api_key: str | None = None
    """A key of another service. It is not used."""


class Capture(msgspec.Struct, frozen=True):
    url: str
    """The screenshot as a data: URL."""


class DesignPageRoutes:
    def __init__(self, context: ServerContext) -> None:
        self._systems = DesignSystemStore(context.sessions.store)

    def operations(self) -> list[Operation]:
        operation = partial(Operation, tag="studio")
        one = partial(operation, path=f"{_PATH}/{{system}}", errors=("not_found",))
        capturing = partial(operation, errors=("unavailable",))
        zipped = "application/zip"
        return [
            operation("GET", _PATH, self.list_systems, "Design systems.", list[StoredDesignSystem]),
            operation("POST", _PATH, self.add, "Add one.", StoredDesignSystem, NewDesignSystem, status=201),
            one(
                "PATCH", handler=self.change, summary="Change it.", response=StoredDesignSystem, body=DesignSystemChange
            ),
            one("DELETE", handler=self.delete, summary="Delete it.", status=204),
            operation("GET", "/api/capabilities", _capabilities, "What agents can do.", Capabilities),
            operation("POST", "/api/export", _export, "A page as a zip.", body=ExportBody, media_type=zipped),
            capturing("POST", "/api/screenshot", _capture, "A screenshot of a page on the web.", Capture, CaptureBody),
        ]

    async def list_systems(self, call: ApiCall) -> list[StoredDesignSystem]:
        return await self._systems.list_all(call.owner)

    async def add(self, call: ApiCall) -> StoredDesignSystem:
        return await self._systems.add(call.owner, call.body.name, call.body.content)

    async def change(self, call: ApiCall) -> StoredDesignSystem:
        body: DesignSystemChange = call.body
        return await self._systems.change(call.owner, call.path["system"], title=body.name, content=body.content)

    async def delete(self, call: ApiCall) -> None:
        await self._systems.delete(call.owner, call.path["system"])


async def _capabilities(_: ApiCall) -> Capabilities:
    return Capabilities(screenshot_preview=has_chromium())


async def _export(call: ApiCall) -> Response:
    files = {PAGE: call.body.code.encode()}
    name = read_title(files, PAGE) or "page"
    offline = await offline_project(find_stack(guess_stack(call.body.code)), files)
    return download(await asyncio.to_thread(zip_project, offline, name), "page.zip")


async def _capture(call: ApiCall) -> Capture:
    try:
        found = await capture_both(call.body.url)
    except BrowserError as error:
        raise ApiError("unavailable", str(error)) from None
    return Capture(f"data:image/png;base64,{b64encode(found.desktop.picture).decode()}")
