"""Routes below /api, which design pages call: design systems, exports and screenshots."""

import asyncio
from base64 import b64encode
from functools import partial
from typing import Annotated

import msgspec
from starlette.responses import Response

from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Body, Title
from heald_server.routes.files import download
from heald_studio.browser.capture import capture_both
from heald_studio.browser.find_chromium import has_chromium
from heald_studio.browser.page import BrowserError
from heald_studio.export.files import zip_project
from heald_studio.export.offline import offline_project
from heald_studio.preview.page_title import read_title
from heald_studio.preview.preview import PAGE
from heald_studio.projects.design_systems import DesignSystemStore, StoredDesignSystem
from heald_studio.server.bodies import Words
from heald_studio.stacks.guess import guess_stack
from heald_studio.stacks.installed import find_stack

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
        system_operation = partial(operation, path=f"{_PATH}/{{system}}", errors=("not_found",))
        capturing = partial(operation, errors=("unavailable",))
        zipped = "application/zip"
        return [
            operation("GET", _PATH, self.list_systems, "Design systems.", list[StoredDesignSystem]),
            operation("POST", _PATH, self.add, "Add one.", StoredDesignSystem, NewDesignSystem, status=201),
            system_operation(
                "PATCH", handler=self.change, summary="Change it.", response=StoredDesignSystem, body=DesignSystemChange
            ),
            system_operation("DELETE", handler=self.delete, summary="Delete it.", status=204),
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
        renderings = await capture_both(call.body.url)
    except BrowserError as error:
        raise ApiError("unavailable", str(error)) from None
    return Capture(f"data:image/png;base64,{b64encode(renderings.desktop.picture).decode()}")
