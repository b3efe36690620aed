"""`/generate-code`: the socket of a design page that brings everything along in one message and keeps it all itself.

It gets the studio dialect, `variantCount` first. Closing with 4333 cancels, and really does; closing in any other way
leaves the agents at work. Application errors close with 4332. Keys and addresses that the page sends are not used.
"""

import asyncio
import logging
from contextlib import aclosing, suppress
from typing import Annotated

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from weft.core.errors import ErrorInfo, WeftError
from weft.core.events import ExchangeResponse
from weft.core.json import JsonObject, decode, encode_text
from weft.dialects.sentences import NOT_STORED
from weft.dialects.studio import StudioDialect
from weft.server.context import ServerContext
from weft.server.guard import Caller
from weft.server.refusal import Refusal, refusal_of
from weft.server.sse import last_words
from weft.server.studio.briefs import VIDEO_BYTES, read_brief
from weft.server.studio.views import PromptBody, Selected, Source
from weft.server.telling import Telling
from weft.server.websocket import CLOSE
from weft.studio.brief import UPDATES, Brief
from weft.studio.input.sources import bytes_from, picture_from
from weft.studio.input.video import read_video
from weft.studio.projects.project import Base, Project, Version, version_of
from weft.studio.prompts.request import Past, Shot
from weft.studio.studio import Studio

CANCEL = 4333
ERROR = 4332

_FIRST_WORD = 60.0
"""Seconds that a page has to say what it wants."""
_REASON = 120
"""Bytes of a reason that fit into a close."""

_IMAGES = frozenset({"generate_images", "edit_image", "remove_background"})
_ASSETS = frozenset({"extract_assets"})
_log = logging.getLogger("weft.server.studio")


class _Prompt(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    images: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    videos: Annotated[list[str], msgspec.Meta(max_length=1)] = []
    selectedElementHtml: str | None = None  # noqa: N815


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    text: str = ""
    images: list[str] = []
    videos: list[str] = []


class _File(msgspec.Struct, frozen=True, kw_only=True):
    path: str = "index.html"
    content: str = ""


class Wanted(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The one message of the page. What it may hold beside this is ignored."""

    generation_type: str = "create"
    input_mode: str = "image"
    prompt: _Prompt = _Prompt()
    history: list[_Message] = []
    file_state: _File | None = None
    option_codes: list[str] = []
    generated_code_config: str = "html_tailwind"
    design_system: str | None = None
    is_image_generation_enabled: bool = True
    is_asset_extraction_enabled: bool = True
    num_variants: int | None = None


_decoder = msgspec.json.Decoder(Wanted)


class GenerateCode:
    """The socket on one server."""

    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context

    async def run(self, websocket: WebSocket) -> None:
        caller: Caller = websocket.scope["state"]["caller"]
        await websocket.accept()
        try:
            async with asyncio.timeout(_FIRST_WORD):
                first = await _first(websocket)
            brief = await _brief(decode(_decoder, first))
            if caller.holder is not None and self._context.tokens.owner(caller.holder) is None:
                raise Refusal("unauthorized", "The token was revoked.")
            project = await self._studio.create(caller.owner, brief)
        except WebSocketDisconnect:
            return
        except TimeoutError:
            await _fail(websocket, Refusal("invalid", "Nothing was asked for."))
            return
        except Exception as error:
            await _fail(websocket, error)
            return
        await self._follow(websocket, caller, project, brief)

    async def _follow(self, websocket: WebSocket, caller: Caller, project: Project, brief: Brief) -> None:
        version = project.versions[-1]
        page = _Page(websocket, self._context.settings.limits.stall_seconds)
        tellings = [self._telling(variant.session) for variant in version.variants]
        following = asyncio.create_task(self._say_all(page, tellings, version, brief))
        watching = asyncio.create_task(self._watch(page, tellings, caller, project.id, version.id))
        leaving = asyncio.create_task(_left(websocket))
        try:
            with self._context.streaming(caller, *tellings):
                await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                if leaving.result() == CANCEL:
                    await self._cancel(caller, project, version)
            else:
                farewell = next((each.farewell for each in tellings if each.farewell is not None), None)
                await page.leave(CLOSE[farewell] if farewell is not None else 1000)
        except Refusal as refusal:
            await _fail(websocket, refusal)
        finally:
            for task in (leaving, watching, following):
                task.cancel()
            await asyncio.gather(leaving, watching, following, return_exceptions=True)

    def _telling(self, session: str) -> Telling:
        return Telling(self._context.sessions.store, self._context.open.hub, session, 0)

    async def _say_all(self, page: "_Page", tellings: list[Telling], version: Version, brief: Brief) -> None:
        await page.say({"type": "variantCount", "value": str(len(tellings)), "variantIndex": 0})
        async with asyncio.TaskGroup() as group:
            for index, telling in enumerate(tellings):
                group.create_task(self._tell(page, telling, index, brief))

    async def _tell(self, page: "_Page", telling: Telling, index: int, brief: Brief) -> None:
        path, code = next(((path, data.decode("utf-8", "replace")) for path, data in brief.files.items()), (None, ""))
        dialect = StudioDialect(telling.session, variant=index, variants=None, page=path, code=code)
        async with aclosing(telling.batches(self._context.settings.heartbeat_seconds)) as batches:
            async for entries in batches:
                for entry in entries:
                    for frame in dialect.feed(entry.event):
                        await page.send(dialect.text(frame))
                    if isinstance(entry.event.data, ExchangeResponse):
                        page.ended(index, entry.event.data.error)
                        return
        if telling.farewell == "store":
            frames = last_words(dialect, "store")
            for frame in frames:
                await page.send(dialect.text(frame))
            if not frames:  # it had not begun
                page.failed[index] = NOT_STORED
        if index in page.failed:
            await page.say({"type": "variantError", "value": page.failed[index], "variantIndex": index})

    async def _watch(self, page: "_Page", tellings: list[Telling], caller: Caller, project: str, version: str) -> None:
        """A variant that fails before it has begun has no log that would say so."""
        async with aclosing(self._studio.watch(caller.owner, project)) as states:
            async for state in states:
                for variant in version_of(state, Base(version, 0)).variants:
                    if variant.is_done and variant.exchange is None and variant.index not in page.failed:
                        page.ended(variant.index, variant.error)
                        tellings[variant.index].stop()

    async def _cancel(self, caller: Caller, project: Project, version: Version) -> None:
        for variant in version.variants:
            with suppress(WeftError):
                await self._studio.cancel(caller.owner, project.id, Base(version.id, variant.index))


class _Page:
    """The other end of the socket, and which of its variants failed."""

    def __init__(self, websocket: WebSocket, patience: float) -> None:
        self._websocket = websocket
        self._patience = patience
        self._lock = asyncio.Lock()
        self._over = 0
        self.failed: dict[int, str] = {}

    async def say(self, message: JsonObject) -> None:
        await self.send(encode_text(message))

    async def send(self, text: str) -> None:
        async with self._lock, asyncio.timeout(self._patience):
            await self._websocket.send_text(text)

    def ended(self, index: int, error: ErrorInfo | None) -> None:
        self._over += 1
        if error is not None:
            self.failed[index] = error.message

    async def leave(self, code: int) -> None:
        """Say goodbye; and why, if nothing came of any variant."""
        if code == 1000 and self.failed and len(self.failed) == self._over:
            await _fail(self._websocket, Refusal("invalid", next(iter(self.failed.values()))))
            return
        with suppress(Exception):
            await self._websocket.close(code)


async def _brief(wanted: Wanted) -> Brief:
    is_update = wanted.generation_type == "update"
    chosen = wanted.prompt.selectedElementHtml
    prompt = PromptBody(
        text=wanted.prompt.text,
        images=[_source(each) for each in wanted.prompt.images if not _is_video(each)],
        videos=[_source(each) for each in (*wanted.prompt.videos, *filter(_is_video, wanted.prompt.images))][:1],
        selected=Selected(html=chosen) if chosen else None,
    )
    brief = await read_brief(
        prompt,
        stack=wanted.generated_code_config,
        variants=wanted.num_variants or (UPDATES if is_update else None),
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
        history=tuple([await _past(message) for message in wanted.history]) if is_update else (),
        options=tuple(wanted.option_codes),
        without=frozenset(without),
    )


async def _past(message: _Message) -> Past:
    shots = [Shot((await picture_from(each)).image()) for each in message.images if each.startswith("data:image/")]
    for video in message.videos:
        if video.startswith("data:"):
            frames = await read_video(await bytes_from(video, limit=VIDEO_BYTES, name="The recording"))
            shots += [Shot(frame.picture.image(), frame.label) for frame in frames]
    return Past(role="assistant" if message.role == "assistant" else "user", text=message.text, shots=tuple(shots))


def _is_video(given: str) -> bool:
    return given.startswith("data:video/")


def _source(given: str) -> Source:
    return Source(data=given) if given.startswith("data:") else Source(url=given)


async def _first(websocket: WebSocket) -> str | bytes:
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    return message.get("text") or message.get("bytes") or ""


async def _left(websocket: WebSocket) -> int:
    """How the page left."""
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return int(message.get("code") or 1005)


async def _fail(websocket: WebSocket, error: Exception) -> None:
    refusal = refusal_of(error)
    if refusal is None and isinstance(error, ValueError):
        refusal = Refusal("invalid", f"The message cannot be read: {str(error)[:300]}.")
    if refusal is None:
        _log.exception("A design could not be begun.")
        refusal = Refusal("internal", "Something went wrong here; the log of the server says more.")
    with suppress(Exception):
        await websocket.send_text(encode_text({"type": "error", "value": refusal.message, "variantIndex": 0}))
        await websocket.close(ERROR, refusal.message.encode()[:_REASON].decode("utf-8", "ignore"))
