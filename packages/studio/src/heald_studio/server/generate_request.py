"""The message of a design page, and the brief that is made from it."""

from typing import Annotated

import msgspec

from heald_studio.input.load import load_bytes, load_picture
from heald_studio.prompt.request import HistoryMessage, Shot
from heald_studio.request import UPDATE_VARIANTS, BuildRequest
from heald_studio.server.bodies import PromptBody, SelectedBody, SourceBody
from heald_studio.server.briefs import VIDEO_BYTES, read_brief

_IMAGES = frozenset({"generate_images", "edit_image", "remove_background"})
_ASSETS = frozenset({"extract_assets"})


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


decoder = msgspec.json.Decoder(GenerateRequest)


async def build_brief(request: GenerateRequest) -> BuildRequest:
    is_update = request.generation_type == "update"
    chosen = request.prompt.selectedElementHtml
    prompt = PromptBody(
        text=request.prompt.text,
        images=[_source(url) for url in request.prompt.images if not _is_video(url)],
        videos=[_source(url) for url in (*request.prompt.videos, *filter(_is_video, request.prompt.images))][:1],
        selected=SelectedBody(html=chosen) if chosen else None,
    )
    brief = await read_brief(
        prompt,
        stack=request.generated_code_config,
        variants=request.num_variants or (UPDATE_VARIANTS if is_update else None),
        design=request.design_system or "",
    )
    file = request.file_state
    without: set[str] = set()
    if not request.is_image_generation_enabled:
        without |= _IMAGES
    if not request.is_asset_extraction_enabled:
        without |= _ASSETS
    return msgspec.structs.replace(
        brief,
        files={file.path: file.content.encode()} if is_update and file is not None and file.content else {},
        history=tuple([await _read_history(message) for message in _earlier(request)]) if is_update else (),
        options=tuple(request.option_codes),
        excluded_tools=frozenset(without),
    )


async def _read_history(message: PageMessage) -> HistoryMessage:
    shots = [Shot((await load_picture(url)).image()) for url in message.images if url.startswith("data:image/")]
    for video in message.videos:
        if video.startswith("data:"):
            from heald_studio.input.video import read_video  # few requests have a recording

            frames = await read_video(await load_bytes(video, limit=VIDEO_BYTES, name="The recording"))
            shots += [Shot(frame.picture.image(), frame.label) for frame in frames]
    return HistoryMessage(
        role="assistant" if message.role == "assistant" else "user", text=message.text, shots=tuple(shots)
    )


def _earlier(request: GenerateRequest) -> list[PageMessage]:
    """The history without its last message, where that is the request itself."""
    request_texts = (request.prompt.text, request.prompt.fullText)
    last = request.history[-1] if request.history else None
    is_request = last is not None and last.role == "user" and last.text in request_texts
    return request.history[:-1] if is_request else request.history


def _is_video(url: str) -> bool:
    return url.startswith("data:video/")


def _source(url: str) -> SourceBody:
    return SourceBody(data=url) if url.startswith("data:") else SourceBody(url=url)
