"""Pictures of a request: what they show, and pages on the web that are captured."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from studio_parts import atelier, page, picture

from heald.core.messages import Text
from heald.providers.scripted import ScriptedRequest
from heald_studio.browser.capture import Captured
from heald_studio.browser.page import Rendering, Viewport
from heald_studio.server import briefs
from serving_parts import S


class _Model:
    """Writes a page, and keeps the words that it was asked with."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def __call__(self) -> Any:
        return S([self._answer, "Built."])

    def _answer(self, request: ScriptedRequest) -> Any:
        content = request.messages[-1].content
        self.words = [part.text for part in content if isinstance(part, Text)]
        return [S.call("create_file", path="index.html", content=page("One"))]


async def test_pictures_have_roles_and_the_desktop_comes_first(tmp_path: Path) -> None:
    model = _Model()
    async with atelier(tmp_path, {"one": model}) as server:
        images = [
            {"data": picture(size=(60, 120)), "role": "mobile"},
            {"data": picture(size=(30, 30)), "role": "detail"},
            {"data": picture(size=(200, 100)), "role": "desktop"},
        ]
        project = await server.project(prompt={"images": images}, variants=1)
        state = await server.over(project["id"])
        labels = ["On a desktop", "On a phone", "A detail"]
        assert [target["label"] for target in state["targets"]] == labels
        assert [words.rstrip(":\n") for words in model.words if words.rstrip(":\n") in labels] == labels
        refused = await server.ask("POST", "/projects", 400, prompt={"images": [{"data": picture(), "role": "front"}]})
        assert refused["error"]["code"] == "invalid"


async def test_a_page_is_captured_as_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Viewport, bool]] = []
    tall = Rendering(picture=b64decode(picture(size=(400, 2000)).partition(",")[2]), size=(400, 2000))

    async def capture(url: str, viewport: Viewport, *, mobile: bool) -> Rendering:
        asked.append((url, viewport, mobile))
        return tall

    async def capture_both(_: str) -> Captured:
        return Captured(tall, tall)

    monkeypatch.setattr(briefs, "capture", capture)
    monkeypatch.setattr(briefs, "capture_both", capture_both)
    async with atelier(tmp_path, {"one": _Model()}) as server:

        async def targets(**options: Any) -> list[tuple[str, int]]:
            prompt = {"url": "https://example.org", **({"capture": options} if options else {})}
            made = await server.project(prompt=prompt, variants=1)
            await server.over(made["id"])
            return [(target["label"], target["height"]) for target in made["targets"]]

        assert await targets() == [("On a desktop", 2000), ("On a phone", 2000)]
        assert await targets(full_page=False) == [("On a desktop", 800), ("On a phone", 812)]
        assert await targets(width=400) == [("In a window of 400 px", 2000)]
        assert await targets(width=1440, full_page=False) == [("In a window of 1440 px", 800)]
        assert [(viewport.width, mobile) for _, viewport, mobile in asked] == [(400, True), (1440, False)]
        await server.ask("POST", "/projects", 400, prompt={"url": "https://example.org", "capture": {"width": 10}})
