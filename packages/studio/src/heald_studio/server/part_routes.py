"""The route that puts a part of one variant into another."""

from typing import Literal

from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation
from heald_server.routes.fields import Body
from heald_studio.browser.page import BrowserError
from heald_studio.preview.preview import PAGE
from heald_studio.projects.project import find_variant
from heald_studio.server import views
from heald_studio.server.bodies import BaseBody, Words
from heald_studio.server.project_views import ProjectViews
from heald_studio.server.studio_operation import studio_operation, variant_of
from heald_studio.studio import Studio


class PartBody(Body, frozen=True, kw_only=True):
    """Puts an element of another variant into this one, with the rules that style it; no model is called."""

    path: Words
    """The selector of the element of this variant, as the preview reports it."""
    place: Literal["replace", "before", "after"] = "replace"
    """Whether the other element replaces it, or is put before or after it."""
    source: BaseBody
    """The variant that the other element is taken from."""
    source_path: Words
    """The selector of the other element."""


class PartRoutes:
    def __init__(self, studio: Studio, project_views: ProjectViews) -> None:
        self._studio = studio
        self._views = project_views

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "POST",
                "/projects/{project}/versions/{version}/variants/{variant}/parts",
                self.add,
                "Put a part of another variant into this one.",
                views.VersionView,
                PartBody,
                status=201,
                errors=("not_found", "unavailable"),
            )
        ]

    async def add(self, call: ApiCall) -> views.VersionView:
        from heald_studio.parts.part_rules import read_part_rules
        from heald_studio.parts.transplant import locate, name_part, scope_of, transplant

        body: PartBody = call.body
        base, source_base = variant_of(call), body.source.base()
        project = await self._studio.get(call.owner, call.path["project"])
        find_variant(project, source_base)
        stack = self._studio.find_stack(project.stack)
        files = await self._studio.files(call.owner, project.id, base)
        source_files = await self._studio.files(call.owner, project.id, source_base)
        entry = stack.entry if stack.entry in files else PAGE
        target = locate(files, entry, body.path)
        source = locate(source_files, stack.entry if stack.entry in source_files else PAGE, body.source_path)
        markup = source.source[source.element.start : max(source.element.end, source.element.open_end)]
        scope = scope_of(name_part(markup))
        try:
            rules = await read_part_rules(stack, source_files, PAGE, body.source_path, scope)
        except BrowserError as error:
            raise ApiError("unavailable", str(error)) from None
        if rules is None:
            raise ApiError("not_found", "The other variant has no such element; reload its preview.")
        changed = transplant(files, target, source_files, source, rules, body.place)
        name = source.element.name
        text = f"{name} of variant {source_base.variant + 1} on variant {base.variant + 1}"
        version = await self._studio.edit(call.owner, project.id, base, dict(changed), text=text)
        return await self._views.version(call, version)
