"""Connects the studio to a server: its sessions, the briefs that clients send, the models that it offers, and the
built-in examples."""

import asyncio
import io
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec

import msgspec

from weft.agent.exchange import Exchange
from weft.core.errors import ConfigurationError, WeftError
from weft.core.messages import Message
from weft.providers.catalogue import ModelInfo, describe_model
from weft.providers.factory import find
from weft.providers.model import Model
from weft.providers.model_names import display_name, generation, is_general, speed_of
from weft.server.context import ServerContext
from weft.server.conversation import pass_on
from weft.server.errors import ApiError
from weft.server.models import KnownModels, ModelSource, ModelView
from weft.server.studio_views import CaptureOptions, Example, ModelOffer, PromptBody, SourceBody
from weft.sessions.session import Session
from weft.sessions.sessions import Sessions
from weft.sessions.store import SessionInfo
from weft.studio.browser.capture import capture, capture_both
from weft.studio.browser.page import DESKTOP, MOBILE, Viewport
from weft.studio.host import LOCAL_ALTERNATIVES, LOCAL_MODEL, rank_models
from weft.studio.input.figma import read_figma
from weft.studio.input.pictures import InputPicture, load_bytes, load_picture, read_picture
from weft.studio.pages import name_pages
from weft.studio.request import BuildRequest, ChosenElement, Mode, View, parse_design_system
from weft.studio.studio import Studio
from weft.studio.tools.family import load_tools, studio_tools
from weft.studio.versions import VARIANT_SESSION
from weft.tools.function_tools import ToolLike
from weft.vision.local_model import STACK_NAMES

for _package in ("numpy", "PIL"):  # they are loaded when they are needed; without them there is no studio
    if find_spec(_package) is None:
        raise ModuleNotFoundError(f"No module named {_package!r}", name=_package)

_LOCAL = (LOCAL_MODEL, *LOCAL_ALTERNATIVES)


class StudioHost:
    """Gives the studio sessions of this server, within the limits of their owners."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    @property
    def sessions(self) -> Sessions:
        return self._context.sessions

    @asynccontextmanager
    async def use(self, info: SessionInfo) -> AsyncGenerator[Session]:
        await asyncio.to_thread(load_tools)  # here and not when the session opens, which would stop the event loop
        async with self._context.open_sessions.use(info) as session:
            yield session

    async def delete(self, session: str) -> None:
        await self._context.open_sessions.free_session(session)
        await self._context.sessions.delete(session)
        self._context.open_sessions.hub(session).invalidate()  # its readers learn that it is deleted

    def check(self, owner: str, wanted: int) -> None:
        self._context.meters.check_exchange(owner, wanted)

    def begin(self, owner: str, exchange: Exchange) -> None:
        self._context.meters.track_exchange(owner, exchange)

    async def pass_on(self, info: SessionInfo, message: Message, request: str) -> bool:
        return await pass_on(self._context, info, message, request) is not None

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

    def adopt(info: SessionInfo, session: Session) -> None:
        if info.kind == VARIANT_SESSION and session.resumed:
            studio.adopt(info, session.resumed[0])

    context.session_tools = session_tools
    context.open_sessions.on_open(adopt)
    context.studio = studio
    return studio


VIDEO_BYTES = 64 * 1024 * 1024
_PHONE = 600
"""Windows that are narrower are those of phones."""
_ROLES = {"": "", "desktop": "On a desktop", "mobile": "On a phone", "detail": "A detail"}
_ORDER = ("On a desktop", "", "On a phone", "A detail")


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
    pages = name_pages([each.page for each in prompt.images])
    views = [
        View(await load_picture(source_url(each), name=f"Picture {number}"), _ROLES[each.role], page)
        for number, (each, page) in enumerate(zip(prompt.images, pages, strict=True), 1)
    ]
    views.sort(key=lambda view: (not view.page, _ORDER.index(view.label)))  # pages are compared with the first one
    mode: Mode = "image" if views or prompt.url else "text"
    if prompt.url is not None:
        views += await _capture_page(prompt.url, prompt.capture or CaptureOptions())
    outline = ""
    if prompt.figma is not None:
        frame = await read_figma(prompt.figma)
        outline, title = frame.outline, title or frame.name
        if frame.picture is not None:
            views.append(View(await asyncio.to_thread(read_picture, frame.picture, name="The picture of the frame")))
            mode = "image"
    for video in prompt.videos:
        from weft.studio.input.video import read_video

        data = await load_bytes(source_url(video), limit=VIDEO_BYTES, name="The recording")
        views += [View(frame.picture, frame.label) for frame in await read_video(data)]
        mode = "video"
    return BuildRequest(
        text=prompt.text,
        mode=mode,
        views=tuple(views),
        outline=outline,
        files={"index.html": prompt.html.encode()} if prompt.html else {},
        stack=stack,
        design_system=parse_design_system(design) if design.strip() else None,
        element=ChosenElement(**msgspec.structs.asdict(prompt.selected)) if prompt.selected is not None else None,
        models=tuple(models or ()),
        variants=variants,
        title=title,
    )


async def _capture_page(url: str, options: CaptureOptions) -> list[View]:
    """Screenshots of a page, in a window of the wanted width, or on a desktop and on a phone."""
    if options.width is None:
        both = await capture_both(url)
        found = [(both.desktop, DESKTOP, _ROLES["desktop"]), (both.mobile, MOBILE, _ROLES["mobile"])]
    else:
        mobile = options.width < _PHONE
        window = Viewport(options.width, MOBILE.height if mobile else DESKTOP.height)
        label = f"In a window of {options.width} px"
        found = [(await capture(url, window, mobile=mobile), window, label)]
    return [
        View(await asyncio.to_thread(_read_capture, rendering.picture, None if options.full_page else window), label)
        for rendering, window, label in found
    ]


def _read_capture(picture: bytes, window: Viewport | None) -> InputPicture:
    """Read a screenshot; only the part in a window, if one is given."""
    if window is not None:
        from PIL import Image

        with Image.open(io.BytesIO(picture)) as whole:
            out = io.BytesIO()
            whole.crop((0, 0, whole.width, min(whole.height, round(window.height * window.scale)))).save(out, "PNG")
            picture = out.getvalue()
    return read_picture(picture)


def source_url(source: SourceBody) -> str:
    """Return the address of a file that a client gave. Raises ConfigurationError if it is none."""
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
    return example_folder().joinpath(name).read_bytes()


def example_folder() -> Traversable:
    return resources.files("weft.server") / "examples"


def list_offers(models: ModelSource) -> list[ModelOffer]:
    """List the models, those of one provider together and the newest general ones first."""
    listed = list(models.list_models())
    providers = list(dict.fromkeys(view.provider for view in listed))

    def rank(view: ModelView) -> tuple[int, bool, tuple[int, ...]]:
        newest = tuple(-number for number in generation(view.name))
        return providers.index(view.provider), not is_general(view.name), newest

    return [_offer(view) for view in sorted(listed, key=rank)]


def builds_from_words(name: str) -> bool:
    return name not in _LOCAL


def _offer(view: ModelView) -> ModelOffer:
    if view.name in _LOCAL:
        return ModelOffer(
            name=view.name,
            label=view.label,
            provider=view.provider,
            text=False,
            vision=True,
            stacks=list(STACK_NAMES),
            input_usd_per_million=0.0,
            output_usd_per_million=0.0,
        )
    info = _describe(view.name)
    return ModelOffer(
        name=view.name,
        label=view.label or display_name(view.name),
        provider=view.provider,
        is_general=is_general(view.name),
        vision=info.vision if info is not None else None,
        context_window=info.context_window if info is not None else None,
        input_usd_per_million=info.input_usd_per_million if info is not None else None,
        output_usd_per_million=info.output_usd_per_million if info is not None else None,
        speed=speed_of(view.name),
    )


@lru_cache(maxsize=2_000)
def _describe(name: str) -> ModelInfo | None:
    try:
        model = find(name)
    except WeftError:
        return None
    return describe_model(model) if isinstance(model, Model) else None
