"""Reads the brief that a client sends: its pictures, recordings, pages on the web and designs."""

import asyncio
import io

import msgspec

from heald.core.errors import ConfigurationError
from heald_studio.browser.capture import capture, capture_both
from heald_studio.browser.page import DESKTOP, MOBILE, Viewport
from heald_studio.input.documents import read_document
from heald_studio.input.figma import read_figma
from heald_studio.input.load import load_bytes, load_picture
from heald_studio.input.pictures import InputPicture, read_picture
from heald_studio.projects.pages import name_pages
from heald_studio.prompt.design_system import parse_design_system
from heald_studio.prompt.request import ChosenElement, Mode
from heald_studio.request import BuildRequest, View
from heald_studio.server.bodies import CaptureOptions, PromptBody, SourceBody

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
    draft: bool = False,
    title: str = "",
) -> BuildRequest:
    """A brief, if everything in it can be used."""
    pages = name_pages([source.page for source in prompt.images])
    views = [
        View(
            await load_picture(source_url(source), name=f"Picture {number}", scale=source.scale),
            _ROLES[source.role],
            page,
            source.kind,
            source.scale is not None,
        )
        for number, (source, page) in enumerate(zip(prompt.images, pages, strict=True), 1)
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
        from heald_studio.input.video import read_video

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
        documents=tuple([await read_document(document.data, document.name) for document in prompt.documents]),
        models=tuple(models or ()),
        variants=variants,
        draft=draft,
        title=title,
    )


async def _capture_page(url: str, options: CaptureOptions) -> list[View]:
    """Screenshots of a page, in a window of the wanted width, or on a desktop and on a phone."""
    if options.width is None:
        both = await capture_both(url)
        renderings = [(both.desktop, DESKTOP, _ROLES["desktop"]), (both.mobile, MOBILE, _ROLES["mobile"])]
    else:
        mobile = options.width < _PHONE
        window = Viewport(options.width, MOBILE.height if mobile else DESKTOP.height)
        label = f"In a window of {options.width} px"
        renderings = [(await capture(url, window, mobile=mobile), window, label)]
    return [
        View(await asyncio.to_thread(_read_capture, rendering.picture, None if options.full_page else window), label)
        for rendering, window, label in renderings
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
    address = source.data or source.url or ""
    if source.data is not None and not address.startswith("data:"):
        raise ConfigurationError("The data of a file begins with data:, as a browser writes it.")
    if source.url is not None and not address.startswith(("http://", "https://")):
        raise ConfigurationError("The url of a file begins with https:// or http://.")
    return address
