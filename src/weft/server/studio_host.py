"""Connects the studio to a server: its sessions, the briefs that clients send, and the built-in examples."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from importlib import resources

import msgspec

from weft.agent.exchange import Exchange
from weft.core.errors import ConfigurationError
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.models import KnownModels, ModelSource
from weft.server.studio_views import Example, PromptBody, SourceBody
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo
from weft.studio.browser.capture import capture_both
from weft.studio.host import LOCAL_MODEL, rank_models
from weft.studio.input.pictures import load_bytes, load_picture, read_picture
from weft.studio.input.video import read_video
from weft.studio.request import BuildRequest, ChosenElement, Mode, View, parse_design_system
from weft.studio.studio import Studio
from weft.studio.tools.family import studio_tools
from weft.studio.versions import VARIANT_SESSION
from weft.tools.function_tools import ToolLike


class StudioHost:
    """Gives the studio sessions of this server, within the limits of their owners."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    @property
    def sessions(self) -> Sessions:
        return self._context.sessions

    def use(self, info: SessionInfo) -> AbstractAsyncContextManager[Session]:
        return self._context.open_sessions.use(info)

    async def delete(self, session: str) -> None:
        await self._context.open_sessions.free_session(session)
        await self._context.sessions.delete(session)
        self._context.open_sessions.hub(session).invalidate()  # its readers learn that it is deleted

    def check(self, owner: str, wanted: int) -> None:
        self._context.meters.check_exchange(owner, wanted)

    def begin(self, owner: str, exchange: Exchange) -> None:
        self._context.meters.track_exchange(owner, exchange)

    def models(self) -> Sequence[str]:
        models = self._context.models
        default = models.operator_default if isinstance(models, KnownModels) else models.default
        return rank_models([model.name for model in models.list_models()], default or _local_default(models))


def _local_default(models: ModelSource) -> str:
    return models.default if models.default == LOCAL_MODEL else ""


def open_studio(context: ServerContext, **options: object) -> Studio:
    """Open the studio of a server. Sessions of its variants get the studio's tools."""
    studio = Studio(StudioHost(context), **options)  # pyright: ignore[reportArgumentType]
    context.on_stop(studio.close)
    before = context.session_tools

    def session_tools(info: SessionInfo) -> Mapping[str, ToolLike]:
        if info.kind != VARIANT_SESSION:
            return before(info)
        return {tool.name: tool for tool in studio_tools(studio.context_of(info))}

    context.session_tools = session_tools
    context.studio = studio
    return studio


VIDEO_BYTES = 64 * 1024 * 1024


async def read_brief(
    prompt: PromptBody,
    *,
    stack: str = "html_tailwind",
    models: list[str] | None = None,
    variants: int | None = None,
    design: str = "",
    title: str = "",
) -> BuildRequest:
    """A brief, if everything in it can be used."""
    views = [
        View(await load_picture(_source_url(each), name=f"Picture {number}"))
        for number, each in enumerate(prompt.images, 1)
    ]
    mode: Mode = "image" if views or prompt.url else "text"
    if prompt.url is not None:
        views += await _capture_page(prompt.url)
    for video in prompt.videos:
        data = await load_bytes(_source_url(video), limit=VIDEO_BYTES, name="The recording")
        views += [View(frame.picture, frame.label) for frame in await read_video(data)]
        mode = "video"
    return BuildRequest(
        text=prompt.text,
        mode=mode,
        views=tuple(views),
        files={"index.html": prompt.html.encode()} if prompt.html else {},
        stack=stack,
        design_system=parse_design_system(design) if design.strip() else None,
        element=ChosenElement(**msgspec.structs.asdict(prompt.selected)) if prompt.selected is not None else None,
        models=tuple(models or ()),
        variants=variants,
        title=title,
    )


async def _capture_page(url: str) -> list[View]:
    """Screenshots of a page on a desktop and on a phone."""
    found = await capture_both(url)
    desktop = await asyncio.to_thread(read_picture, found.desktop.picture)
    phone = await asyncio.to_thread(read_picture, found.mobile.picture)
    return [View(desktop, "On a desktop"), View(phone, "On a phone")]


def _source_url(source: SourceBody) -> str:
    if (source.data is None) == (source.url is None):
        raise ConfigurationError("A file is given either as data or as a url.")
    given = source.data or source.url or ""
    if source.data is not None and not given.startswith("data:"):
        raise ConfigurationError("The data of a file begins with data:, as a browser writes it.")
    if source.url is not None and not given.startswith(("http://", "https://")):
        raise ConfigurationError("The url of a file begins with https:// or http://.")
    return given


_SENTENCES = {
    "bakery": "A landing page for a bakery, with opening hours and a map placeholder",
    "pricing": "A pricing page with three plans and a switch between monthly and yearly",
    "shop": "A dark dashboard for a small shop: orders today, revenue, a table of the last ten orders",
}
_PICTURES = {
    "login": "Screenshot of a page to sign in",
    "pricing": "Screenshot of a page with prices",
    "dashboard": "Screenshot of a dashboard",
}


def list_examples(root_path: str, *, has_keys: bool) -> list[Example]:
    """Without a key only pictures: the local model does not understand sentences."""
    folder = f"{root_path}/studio/examples"
    pictures = [Example(f"{name}.png", title, f"{folder}/{name}.png") for name, title in _PICTURES.items()]
    return [*(Example(name, title) for name, title in _SENTENCES.items() if has_keys), *pictures]


def read_example(name: str) -> bytes:
    if name.removesuffix(".png") not in _PICTURES or not name.endswith(".png"):
        raise ApiError("not_found", "There is no example of that name; /studio lists those there are.")
    return (resources.files("weft.server") / "examples" / name).read_bytes()
