"""A draft over HTTP: a model behind a real wire gets the draft of the converter and edits it."""

from pathlib import Path

import pytest
from studio_parts import atelier, model_at, page, picture, variants_of, writer

import heald_studio.browser.browser as browser_module
from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.testing import ReceivedRequest, Reply, ScriptedServer, wire_reply
from heald_studio.browser.browser import Browser
from serving_parts import Script


@pytest.fixture(autouse=True)
def no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", str(tmp_path / "nothing"))
    monkeypatch.setattr(browser_module, "_shared", Browser())


def edit(request: ReceivedRequest) -> Reply:
    """A model that edits the title, once."""
    if any(message["role"] == "tool" for message in request.body["messages"]):
        return wire_reply("chat", text="Corrected.")
    arguments: JsonObject = {"path": "index.html", "edits": [{"old_text": "<h1>Harbor", "new_text": "<h1>Harbour"}]}
    return wire_reply("chat", calls=[ToolCall(id="call_1", name="edit_file", input=arguments)])


async def test_a_project_with_a_draft_is_edited_by_the_model(tmp_path: Path) -> None:
    async with ScriptedServer(edit) as model_server:
        scripts: dict[str, Script] = {"local/vision": writer("Harbor"), "paid": lambda: model_at(model_server)}
        async with atelier(tmp_path, scripts) as shop:
            prompt = {"images": [{"data": picture()}]}
            made = await shop.project(prompt=prompt, stack="html_css", models=["paid"], draft=True)
            done = await shop.over(made["id"])
            (variant,) = variants_of(done)
            assert (variant["status"], variant["error"], variant["turns"]) == ("completed", None, 2)
            assert done["versions"][0]["draft"] not in ("", variant["session"])
            assert variant["draft_score"] is None  # nothing renders it here
            files = f"/projects/{made['id']}/versions/{done['versions'][0]['id']}/variants/0/files/index.html"
            assert "<h1>Harbour</h1>" in (await shop.read(files)).decode()
            await shop.check(done)
        request = model_server.requests[0].content.decode()
        assert "The project already holds a draft of this page." in request
        assert page("Harbor").splitlines()[0] in request
        assert "image_url" in request
        assert '"name":"create_file"' not in request.replace(" ", "")


async def test_a_draft_without_a_picture_is_refused(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"local/vision": writer("Draft"), "paid": writer("Paid")}) as shop:
        body = {"prompt": {"text": "A page"}, "models": ["paid"], "draft": True}
        refused = await shop.ask("POST", "/projects", 400, **body)
        assert "A draft is made of a picture" in refused["error"]["message"]
        assert (await shop.ask("GET", "/projects"))["projects"] == []


async def test_a_draft_without_the_converter_is_refused(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"paid": writer("Paid")}) as shop:
        body = {"prompt": {"images": [{"data": picture()}]}, "models": ["paid"], "draft": True}
        refused = await shop.ask("POST", "/projects", 400, **body)
        assert "local/vision" in refused["error"]["message"]
