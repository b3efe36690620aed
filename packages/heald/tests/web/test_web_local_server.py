"""Only a model server of this machine answers: words reach it, and pictures reach the converter."""

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import BUILT, ROOT, Visit, visiting
from playwright.async_api import Browser, expect

from heald.core.messages import ToolCall
from heald.providers.keys import has_key
from heald.providers.registry import installed_providers
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_local.model import available
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, Served, serving

MODEL = "vllm/qwen3-coder"
PAGE = "<!doctype html><title>Bakery</title><h1>Fresh bread</h1>"


def reply(request: ReceivedRequest) -> Reply:
    """Write the page if there are tools and it was not written, and talk otherwise."""
    messages = request.body["messages"]
    if request.body.get("tools") and messages[-1]["role"] == "user" and "bakery" in str(messages[-1]):
        call = ToolCall(id="call_1", name="create_file", input={"path": "index.html", "content": PAGE})
        return wire_reply("chat", calls=[call])
    return wire_reply("chat", text=["Good ", "morning."])


@pytest_asyncio.fixture(loop_scope="session")
async def endpoint(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[ScriptedServer]:
    """A vLLM server, and no other provider."""
    models = {"object": "list", "data": [{"id": "qwen3-coder", "object": "model"}]}
    async with ScriptedServer(reply, facts={"/v1/models": models}) as server:
        for name in ("LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "OLLAMA_HOST"):
            monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
        monkeypatch.setenv("VLLM_BASE_URL", f"{server.url}/v1")
        for provider in installed_providers().values():
            for name in provider.key_envs:
                monkeypatch.delenv(name, raising=False)
        assert not any(has_key(provider.key_envs) for provider in installed_providers().values() if provider.key_envs)
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path, endpoint: ScriptedServer) -> AsyncGenerator[Served]:
    if not available():
        pytest.skip("the local converter is not installed; install heald[local]")
    models = KnownModels()
    async with asyncio.timeout(60):
        while not await asyncio.to_thread(models.servers.find):  # a busy machine may miss the first answer
            models = KnownModels()
    page = os.environ.get("HEALD_PAGE", "")
    context = ServerContext(
        Sessions(SqliteStore(tmp_path / "s.db", durable=False)),
        models,
        settings=ServerSettings(port=0),
        tokens=AccessTokens({TOKEN: ""}),
        protocol_options={"studio": {"scores": False}} | ({"native": {"page": page}} if page else {}),
    )
    async with serving(context) as served:
        yield served


@pytest_asyncio.fixture(loop_scope="session")
async def visit(served: Served, chrome: Browser) -> AsyncGenerator[Visit]:
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    async with visiting(chrome, f"{served.url}/#token={TOKEN}") as visit:
        yield visit
    assert not visit.problems, visit.problems


async def test_words_are_built_by_the_local_server(visit: Visit, endpoint: ScriptedServer) -> None:
    page = visit.page
    await expect(page.get_by_test_id("no-key")).to_have_count(0)
    await page.get_by_label("What to build").fill("A landing page for a bakery")
    await page.get_by_label("Variants").select_option("1")
    await page.get_by_role("button", name="Build", exact=True).click()
    await visit.built(1)
    await expect(page.locator(".stage").frame_locator("iframe.shown").get_by_role("heading")).to_have_text(
        "Fresh bread"
    )
    assert {request.body["model"] for request in endpoint.requests} == {"qwen3-coder"}


async def test_an_assistant_talks_with_the_local_server(visit: Visit, endpoint: ScriptedServer) -> None:
    page = visit.page
    await page.get_by_role("radio", name="Assistant").click()
    await expect(page.get_by_label("Model")).to_have_value(MODEL)
    await expect(page.get_by_test_id("no-key")).to_have_count(0)
    await page.get_by_label("What to work on").fill("Hello")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(visit.log).to_contain_text("Good morning.")


async def test_automatic_names_the_converter_once_a_picture_is_attached(visit: Visit) -> None:
    page = visit.page
    models = page.get_by_role("button", name="Models")
    automatic = page.get_by_role("menuitemradio", name="Automatic")
    await models.click()
    await expect(automatic).to_contain_text("Qwen3 Coder")
    await expect(automatic).not_to_contain_text("converter")
    await page.keyboard.press("Escape")
    await page.locator("input[type=file]").set_input_files(ROOT / "examples" / "shot.png")
    await models.click()
    await expect(automatic).to_contain_text("Local converter")
    await expect(automatic).not_to_contain_text("Qwen3")


@pytest.mark.asyncio(loop_scope="session")
async def test_the_server_chooses_by_what_it_is_given(served: Served) -> None:
    async with served.client.get("/models") as answer:
        assert (await answer.json())["default"] == MODEL
    async with served.client.get("/studio") as answer:
        about = await answer.json()
    assert about["defaults"]["models"] == [MODEL, "local/vision", "local/vision-responsive"]
    assert about["has_keys"] is True
    encoded = b64encode((ROOT / "examples" / "shot.png").read_bytes()).decode()
    picture = {"data": f"data:image/png;base64,{encoded}"}
    for prompt, models in (
        ({"text": "A bakery"}, [MODEL, MODEL]),
        ({"images": [picture]}, ["local/vision", "local/vision-responsive"]),
    ):
        async with served.client.post("/projects", json={"prompt": prompt, "variants": 2}) as answer:
            project = await answer.json()
            assert answer.status == 201, project
        assert [variant["model"] for variant in project["versions"][0]["variants"]] == models
        async with served.client.delete(f"/projects/{project['id']}") as answer:
            assert answer.status == 204
    async with served.client.post("/projects", json={"prompt": {"html": PAGE}}) as answer:
        project = await answer.json()
    change = {
        "kind": "update",
        "base": {"version": project["versions"][0]["id"], "variant": 0},
        "prompt": {"text": "A header like this", "images": [picture]},
        "variants": 1,
    }
    async with served.client.post(f"/projects/{project['id']}/versions", json=change) as answer:
        assert [variant["model"] for variant in (await answer.json())["variants"]] == [MODEL]
