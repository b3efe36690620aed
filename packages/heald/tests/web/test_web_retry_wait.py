"""A provider that is busy: the page says that an attempt is waited for, and not that the model thinks."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import BUILT, Visit, visiting
from playwright.async_api import Browser, expect

from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, serving

MODEL = "vllm/qwen3-coder"


def reply(request: ReceivedRequest) -> Reply:
    return Reply.json({"error": {"message": "Too busy."}}, 429, {"Retry-After": "50"})


@pytest_asyncio.fixture(loop_scope="session")
async def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chrome: Browser) -> AsyncGenerator[Visit]:
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    models = {"object": "list", "data": [{"id": "qwen3-coder", "object": "model"}]}
    page = os.environ.get("HEALD_PAGE", "")
    async with ScriptedServer(reply, facts={"/v1/models": models}) as endpoint:
        monkeypatch.setenv("VLLM_BASE_URL", f"{endpoint.url}/v1")
        context = ServerContext(
            Sessions(SqliteStore(tmp_path / "s.db", durable=False)),
            KnownModels(MODEL),
            settings=ServerSettings(port=0),
            tokens=AccessTokens({TOKEN: ""}),
            protocol_options={"native": {"page": page}} if page else None,
        )
        async with serving(context) as served, visiting(chrome, f"{served.url}/#token={TOKEN}") as visit:
            yield visit


async def test_a_wait_for_the_next_attempt_is_not_called_thinking(visit: Visit) -> None:
    page = visit.page
    await page.get_by_role("radio", name="Assistant").click()
    await page.get_by_label("Model").select_option(MODEL)
    await page.get_by_label("What to work on").fill("Hello")
    await page.get_by_role("button", name="Start", exact=True).click()
    await expect(visit.working).to_contain_text("Waiting for attempt 2")
    await expect(visit.working).to_contain_text("in ")
    await expect(visit.working).not_to_contain_text("Thinking")
    await page.reload()
    await expect(visit.working).to_contain_text("Waiting for attempt 2")
    assert await visit.axe() == []
    await page.get_by_role("button", name="Stop").click()
    await visit.done()
