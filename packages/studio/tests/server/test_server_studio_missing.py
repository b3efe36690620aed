"""What is not there is one clear sentence, and the rest still works."""

import asyncio
import io
import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from studio_parts import Atelier, atelier, page, picture, writer

import heald_studio.browser.browser as browser_module
from heald.core.json import loads
from heald_studio.browser.browser import Browser
from heald_studio.browser.find_chromium import find_chromium
from heald_studio.browser.page import BrowserError
from needed_programs import needs_chromium
from serving_parts import OTHER, Script


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Generator[Browser]:
    browser = Browser(seconds=60)
    monkeypatch.setattr(browser_module, "_shared", browser)
    yield browser
    browser.close()


async def _sentence(server: Atelier, method: str, path: str, **body: Any) -> tuple[int, str]:
    options: dict[str, Any] = {"json": body} if body else {}
    async with server.client.request(method, path, **options) as answer:
        message = loads(await answer.read())["error"]["message"]
        assert "\n" not in message
        return answer.status, message


async def test_without_chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Browser) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(BrowserError) as missing:
        find_chromium()
    sentence = str(missing.value)
    async with atelier(tmp_path, {"one": writer("One")}, scores=True) as server:
        about = await server.ask("GET", "/studio")
        assert about["chromium"] is False
        made = await server.project(
            models=["one"], variants=1, prompt={"images": [{"data": picture()}]}, stack="html_css"
        )
        state = await server.over(made["id"])
        (variant,) = state["versions"][0]["variants"]
        assert (variant["status"], variant["score"]) == ("completed", None)
        at = f"/projects/{made['id']}/versions/{state['versions'][0]['id']}/variants/0"
        for path in ("/score", "/heatmap.png", "/screenshot"):
            assert await _sentence(server, "GET", at + path) == (503, sentence)
        answer = await _sentence(server, "POST", "/projects", prompt={"url": "https://example.org"})
        assert answer[0] in (400, 503)
        packed = await server.read(f"{at}/export?format=zip")
        assert zipfile.ZipFile(io.BytesIO(packed)).testzip() is None
        assert page("One").encode() in await server.read(f"{at}/files/index.html")


async def test_without_a_model(tmp_path: Path) -> None:
    async with atelier(tmp_path, {}) as server:
        status, message = await _sentence(server, "POST", "/projects", prompt={"text": "A page"})
        advice = "set a key, or install the local converter: pip install 'heald[local]'."
        assert (status, message) == (400, f"There is no model to build with; {advice}")
        status, message = await _sentence(server, "POST", "/projects", prompt={"text": "A page"}, models=["gpt"])
        assert (status, message) == (400, "There is no model 'gpt'.")
        assert (await server.ask("GET", "/projects"))["projects"] == []
        about = await server.ask("GET", "/studio")
        assert about["has_keys"] is False
        assert len(about["stacks"]) == 11


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ({"images": [{"data": picture()[:-40]}]}, "Picture 1"),
        ({"images": [{"data": picture()}, {"data": "data:image/png;base64,AAAA"}]}, "Picture 2"),
        ({"images": [{"url": "http://127.0.0.1/x.png"}]}, "Picture 1 cannot be fetched"),
        ({"url": "http://169.254.169.254/latest"}, "public internet"),
        ({"videos": [{"data": "data:video/mp4;base64,AAAA"}]}, "The recording"),
        ({}, "There is nothing to build"),
    ],
)
async def test_a_prompt_that_cannot_be_used(tmp_path: Path, prompt: dict[str, Any], sentence: str) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        status, message = await _sentence(server, "POST", "/projects", prompt=prompt)
        assert status == 400
        assert sentence in message
        assert (await server.ask("GET", "/projects"))["projects"] == []
        made = await server.project(variants=1)  # the rest still works
        assert (await server.over(made["id"]))["versions"][0]["variants"][0]["status"] == "completed"


async def test_what_is_named_and_not_there(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"one": writer("One")}
    async with atelier(tmp_path, scripts) as server:
        made = await server.project(variants=1)
        state = await server.over(made["id"])
        version = state["versions"][0]["id"]
        at = f"/projects/{made['id']}/versions"
        base = {"version": version, "variant": 0}
        for method, path, body in [
            ("GET", "/projects/prj_none", {}),
            ("GET", f"{at}/ver_none/variants/0/files", {}),
            ("GET", f"{at}/{version}/variants/9/files", {}),
            ("GET", f"{at}/{version}/variants/0/files/none", {}),
            ("GET", f"{at}/{version}/variants/0/score", {}),
            ("GET", f"/projects/{made['id']}/targets/{'0' * 64}", {}),
            ("POST", at, {"kind": "restore", "base": {"version": "ver_none", "variant": 0}}),
            ("POST", at, {"kind": "update", "base": base | {"variant": 7}, "prompt": {"text": "x"}}),
            ("POST", f"{at}/{version}/variants/3/retry", {}),
        ]:
            status, message = await _sentence(server, method, path, **body)
            assert status == 404, (method, path, status, message)
            assert message.endswith(".")


@needs_chromium
async def test_scores_and_pictures_over_http(tmp_path: Path, browser: Browser) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        target = picture(size=(640, 400))
        made = await server.project(models=["one"], variants=1, prompt={"images": [{"data": target}]}, stack="html_css")
        state = await server.over(made["id"])
        at = f"/projects/{made['id']}/versions/{state['versions'][0]['id']}/variants/0"
        score = await server.ask("GET", f"{at}/score")
        assert 0 <= score["score"]["overall"] < 1
        assert score["differences"]
        shots = await asyncio.gather(server.read(score["heatmap"]), server.read(f"{at}/screenshot?width=390"))
        assert all(shot.startswith(b"\x89PNG") for shot in shots)
        blob = state["targets"][0]["blob"]
        theirs = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.get(f"/projects/{made['id']}/targets/{blob}", headers=theirs) as answer:
            assert answer.status == 404
        assert (await server.read(f"/projects/{made['id']}/targets/{blob}")).startswith(b"\x89PNG")
