"""Routes that describe the studio: its stacks, models, defaults and examples."""

import asyncio

from starlette.responses import Response

from heald.providers.keys import find_key_origin
from heald_server.context import ServerContext
from heald_server.http.operations import ApiCall, Operation, caller_of
from heald_studio.browser.find_chromium import has_chromium
from heald_studio.input.figma import KEY_NAMES
from heald_studio.request import CREATE_VARIANTS, UPDATE_VARIANTS
from heald_studio.server import views
from heald_studio.server.example_pictures import list_examples, read_example
from heald_studio.server.gallery_routes import gallery_views
from heald_studio.server.model_offers import builds_from_words, list_offers
from heald_studio.server.studio_operation import studio_operation
from heald_studio.studio import Studio


class StudioInfoRoutes:
    def __init__(self, studio: Studio, context: ServerContext) -> None:
        self._studio = studio
        self._context = context

    def operations(self) -> list[Operation]:
        return [
            studio_operation(
                "GET", "/studio", self.about, "Stacks, models and examples of the studio.", views.StudioView
            ),
            studio_operation(
                "GET", "/studio/examples/{name}", self.example, "An example picture.", media_type="image/png"
            ),
        ]

    async def about(self, call: ApiCall) -> views.StudioView:
        models = self._context.models
        has_keys = any(provider.key_set for provider in models.list_providers() if provider.variables)
        mix = list(self._studio.models())
        can_talk = any(builds_from_words(name) for name in mix)
        return views.StudioView(
            stacks=[views.StackView(stack.name, stack.label) for stack in self._studio.stacks().values()],
            models=await asyncio.to_thread(list_offers, models),
            defaults=views.Defaults(
                stack="html_tailwind" if can_talk else "html_css",
                variants_create=CREATE_VARIANTS if has_keys else 2,
                variants_update=UPDATE_VARIANTS if has_keys else 1,
                models=mix,
            ),
            has_keys=can_talk,
            chromium=has_chromium(),
            figma=token[1] if (token := find_key_origin(KEY_NAMES)) is not None else "",
            design_systems=[],
            examples=list_examples(caller_of(call.request).root_path, has_keys=can_talk),
            gallery=gallery_views(caller_of(call.request).root_path),
        )

    async def example(self, call: ApiCall) -> Response:
        return Response(read_example(call.path["name"]), media_type="image/png")
