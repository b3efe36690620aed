"""Routes for inputs before anything is built, and those below `/api` that design pages of the `studio` dialect call.

The former judge a picture, show the moments of a recording that models get, and store, test and delete the token of
Figma, which is kept in the keyring of this machine and never sent.
"""

import asyncio
from base64 import b64encode
from functools import partial
from typing import Annotated

import msgspec
from starlette.responses import Response

from weft.core.errors import WeftError
from weft.providers.keys import delete_key, find_key, store_key
from weft.server.context import ServerContext
from weft.server.errors import ApiError
from weft.server.file_routes import download
from weft.server.operations import ApiCall, Operation, is_operator
from weft.server.server_routes import KEY, KeyBody, KeyTest
from weft.server.studio_host import VIDEO_BYTES, source_url
from weft.server.studio_views import PictureBody, PromptBody, SourceBody, Words
from weft.server.views import Body, Title
from weft.studio.browser.capture import capture_both
from weft.studio.browser.chromium import has_chromium
from weft.studio.browser.page import BrowserError
from weft.studio.export import zip_project
from weft.studio.input.figma import KEY_NAMES, FigmaClient
from weft.studio.input.pictures import MAX_BYTES, check_picture, load_bytes
from weft.studio.offline import offline_project
from weft.studio.preview import PAGE, read_title
from weft.studio.project_store import DesignSystemStore, StoredDesignSystem
from weft.studio.stack import find_stack, guess_stack


class PictureSize(msgspec.Struct, frozen=True):
    width: int
    height: int


class StoryboardFrame(msgspec.Struct, frozen=True):
    seconds: float
    """From the beginning of the recording."""
    data: str
    """The picture as a data: URL."""


class Storyboard(msgspec.Struct, frozen=True):
    frames: list[StoryboardFrame]


async def _check_picture(call: ApiCall) -> PictureSize:
    """Decode a picture, so that one that cannot be used is refused when it is attached."""
    body: PictureBody = call.body
    name = body.name or "The picture"
    data = await load_bytes(source_url(body), limit=MAX_BYTES, name=name)
    return PictureSize(*await asyncio.to_thread(check_picture, data, name=name))


async def _read_storyboard(call: ApiCall) -> Storyboard:
    data = await load_bytes(source_url(call.body), limit=VIDEO_BYTES, name="The recording")
    from weft.studio.input.video import read_video  # few requests have a recording

    frames = await read_video(data)
    return Storyboard(
        [
            StoryboardFrame(
                frame.seconds, f"data:{frame.picture.media_type};base64,{b64encode(frame.picture.data).decode()}"
            )
            for frame in frames
        ]
    )


def check_figma(call: ApiCall, prompt: PromptBody) -> None:
    """Raise ApiError if a request names a design that only the operator's token can read."""
    if prompt.figma is not None and not prompt.figma.lstrip().startswith("{"):
        _check_operator(call)


async def _store_token(call: ApiCall) -> None:
    _check_operator(call)
    token = call.body.key.strip()
    if not KEY.fullmatch(token):
        raise ApiError("invalid", "That is not a token: it must be one word of letters, digits and signs.")
    await asyncio.to_thread(store_key, KEY_NAMES[0], token)


async def _delete_token(call: ApiCall) -> None:
    _check_operator(call)
    if not any([await asyncio.to_thread(delete_key, name) for name in KEY_NAMES]):
        raise ApiError("not_found", "The keyring holds no token of Figma.")


async def _test_token(call: ApiCall) -> KeyTest:
    _check_operator(call)
    token = await asyncio.to_thread(find_key, KEY_NAMES)
    if token is None:
        return KeyTest(ok=False, message="There is no token to test; set one first.")
    try:
        return KeyTest(ok=True, message=f"The token works: it belongs to {await FigmaClient(token).check()}.")
    except WeftError as error:
        return KeyTest(ok=False, message=error.info().message)


def _check_operator(call: ApiCall) -> None:
    if not is_operator(call):
        raise ApiError("forbidden", "Only the person who runs this server uses its token of Figma; attach a picture.")


_operation = partial(Operation, tag="studio")
_figma = partial(_operation, errors=("not_found", "forbidden"))

OPERATIONS = (
    _operation(
        "POST",
        "/studio/picture",
        _check_picture,
        "The size of a picture, if it can be used.",
        PictureSize,
        PictureBody,
    ),
    _operation(
        "POST",
        "/studio/storyboard",
        _read_storyboard,
        "The moments of a recording that models get, as pictures.",
        Storyboard,
        SourceBody,
    ),
    _figma("PUT", "/studio/figma/key", _store_token, "Store a token.", None, KeyBody, status=204),
    _figma("DELETE", "/studio/figma/key", _delete_token, "Delete the token.", status=204),
    _figma("POST", "/studio/figma/test", _test_token, "Test the token.", KeyTest),
)


# --- design pages ----------------------------------------------------------------------------------------------------


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
