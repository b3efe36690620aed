"""From what a client sends to what the studio takes: pictures read and checked, pages captured, recordings cut."""

import asyncio

import msgspec

from weft.core.errors import ConfigurationError
from weft.server.studio.views import PromptBody, Source
from weft.studio.brief import Brief, View
from weft.studio.capture import capture_both
from weft.studio.input.design_systems import design_system
from weft.studio.input.pictures import read_picture
from weft.studio.input.sources import bytes_from, picture_from
from weft.studio.input.video import read_video
from weft.studio.prompts.request import Element, Mode

VIDEO_BYTES = 64 * 1024 * 1024


async def read_brief(
    prompt: PromptBody,
    *,
    stack: str = "html_tailwind",
    models: list[str] | None = None,
    variants: int | None = None,
    design: str = "",
    title: str = "",
) -> Brief:
    """A brief, if everything in it can be used."""
    views = [View(await picture_from(_source(each), name=_nth(number))) for number, each in enumerate(prompt.images, 1)]
    mode: Mode = "image" if views or prompt.url else "text"
    if prompt.url is not None:
        views += await _captured(prompt.url)
    for video in prompt.videos:
        data = await bytes_from(_source(video), limit=VIDEO_BYTES, name="The recording")
        views += [View(frame.picture, frame.label) for frame in await read_video(data)]
        mode = "video"
    return Brief(
        text=prompt.text,
        mode=mode,
        views=tuple(views),
        files={"index.html": prompt.html.encode()} if prompt.html else {},
        stack=stack,
        design_system=design_system(design) if design.strip() else None,
        element=Element(**msgspec.structs.asdict(prompt.selected)) if prompt.selected is not None else None,
        models=tuple(models or ()),
        variants=variants,
        title=title,
    )


async def _captured(url: str) -> list[View]:
    """A page as it looks on a desktop and on a phone."""
    found = await capture_both(url)
    desktop = await asyncio.to_thread(read_picture, found.desktop.picture)
    phone = await asyncio.to_thread(read_picture, found.mobile.picture)
    return [View(desktop, "On a desktop"), View(phone, "On a phone")]


def _source(source: Source) -> str:
    if (source.data is None) == (source.url is None):
        raise ConfigurationError("A file is given either as data or as a url.")
    given = source.data or source.url or ""
    if source.data is not None and not given.startswith("data:"):
        raise ConfigurationError("The data of a file begins with data:, as a browser writes it.")
    if source.url is not None and not given.startswith(("http://", "https://")):
        raise ConfigurationError("The url of a file begins with https:// or http://.")
    return given


def _nth(number: int) -> str:
    return f"Picture {number}"
