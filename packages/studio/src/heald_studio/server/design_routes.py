"""Routes of design systems: reading one, the one of a project, and how far a variant keeps to it."""

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.responses import Response

from heald.core.errors import ConfigurationError
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, is_operator
from heald_server.routes.fields import Body, Name
from heald_server.routes.files import download
from heald_studio.browser.page import BrowserError
from heald_studio.design.adherence import DesignScore, score_design
from heald_studio.design.design_text import read_design
from heald_studio.design.source import DESIGN_FILE, design_of_files, is_address, open_design, read_design_folder
from heald_studio.design.token import DesignToken
from heald_studio.prompt.design_system import DesignSystem
from heald_studio.server.bodies import Words
from heald_studio.server.studio_operation import studio_operation, variant_of
from heald_studio.studio import Studio

_MAX_FILES = 3_000
_DESIGN = "/projects/{project}/design"


class DesignSourceBody(Body, frozen=True, kw_only=True):
    """What a design system is read from: one of the three."""

    url: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    """A page on the web: its style sheets are read."""
    repository: Name = ""
    """The name of a folder that the server offers; for its operator."""
    files: Annotated[dict[str, Words], msgspec.Meta(max_length=_MAX_FILES)] = {}
    """Files of a repository by path, or one file: `design.md`, design tokens in JSON, a style sheet, a configuration of
    Tailwind. Others are ignored."""
    name: Name = ""
    """What the files are called; by default the name of the only one."""


class DesignBody(Body, frozen=True, kw_only=True):
    text: Words
    """The whole of `design.md`; empty removes the design system."""


class DesignView(msgspec.Struct, frozen=True, kw_only=True):
    """A design system. Every variant of its project gets the text."""

    name: str
    text: str
    """As `design.md`; empty if there is none."""
    tokens: list[DesignToken]
    """The values that the text names; pages are scored by them."""


class DesignPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    page: Name = ""
    """The file of the page; by default the first page."""


class DesignRoutes:
    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "POST",
                "/studio/design",
                self.read,
                "Read a design system from an address, a folder or files.",
                DesignView,
                DesignSourceBody,
                errors=("forbidden", "not_found"),
            ),
            studio_operation("GET", _DESIGN, self.show, "The design system of a project.", DesignView),
            studio_operation("PUT", _DESIGN, self.change, "Change it.", DesignView, DesignBody),
            studio_operation(
                "GET", f"{_DESIGN}.md", self.file, "The design system as a file.", media_type="text/markdown"
            ),
            studio_operation(
                "GET",
                "/projects/{project}/versions/{version}/variants/{variant}/design",
                self.score,
                "How far a variant keeps to the design system, and the values that do not.",
                DesignScore,
                query=DesignPageQuery,
                errors=("not_found", "unavailable"),
            ),
        ]

    async def read(self, call: ApiCall) -> DesignView:
        body: DesignSourceBody = call.body
        if sum(map(bool, (body.url, body.repository, body.files))) != 1:
            raise ApiError("invalid", "A design system is read from one of url, repository and files.")
        return await asyncio.to_thread(_view, await self._read(call, body))

    async def _read(self, call: ApiCall, body: DesignSourceBody) -> DesignSystem:
        if body.url:
            address = body.url if "://" in body.url else f"https://{body.url}"
            if not is_address(address):
                raise ConfigurationError("The url of a design system begins with https:// or http://.")
            return await open_design(address)
        if body.files:
            name = body.name or (next(iter(body.files)) if len(body.files) == 1 else "the files")
            return await asyncio.to_thread(design_of_files, body.files, name)
        if not is_operator(call):
            raise ApiError("forbidden", "Folders are for the person who runs the server; upload the files instead.")
        folder = self._context.workspaces.get(body.repository)
        if folder is None:
            raise ApiError("not_found", "The server offers no such folder; start it with --workspace FOLDER.")
        return await asyncio.to_thread(read_design_folder, Path(folder))

    async def show(self, call: ApiCall) -> DesignView:
        text = await self._studio.design(call.owner, call.path["project"])
        return await asyncio.to_thread(_view, DesignSystem(_name(text), text))

    async def change(self, call: ApiCall) -> DesignView:
        body: DesignBody = call.body
        await self._studio.change_design(call.owner, call.path["project"], body.text)
        return await self.show(call)

    async def file(self, call: ApiCall) -> Response:
        text = await self._studio.design(call.owner, call.path["project"])
        if not text:
            raise ApiError("not_found", "The project has no design system; add one first.")
        return download(text.encode(), DESIGN_FILE)

    async def score(self, call: ApiCall) -> DesignScore:
        base = variant_of(call)
        project = await self._studio.get(call.owner, call.path["project"])
        files = await self._studio.files(call.owner, project.id, base)
        query: DesignPageQuery = call.query
        if query.page and query.page not in files:
            raise ApiError("not_found", "The variant has no such page; leave it out for the first one.")
        tokens = await asyncio.to_thread(read_design, await self._studio.design(call.owner, project.id))
        if not tokens:
            raise ApiError("not_found", "The design system of the project names no values that a page could keep to.")
        try:
            return await score_design(self._studio.find_stack(project.stack), files, tokens, query.page)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None


def _view(system: DesignSystem) -> DesignView:
    return DesignView(name=system.name, text=system.text, tokens=read_design(system.text))


def _name(text: str) -> str:
    first = next((line.strip(" #*\t") for line in text.splitlines() if line.strip(" #*\t")), "")
    return first[:80]
