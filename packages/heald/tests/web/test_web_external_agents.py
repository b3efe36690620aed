"""An external agent in the page: chosen from the list of models, beside a model, with its question and its preview."""

import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from page_support import BUILT, Visit, visiting
from playwright.async_api import Browser, expect

import scripted_agent
from heald.providers.scripted import ScriptedModel
from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_acp.known_programs import KNOWN_PROGRAMS
from heald_acp.program import AgentProgram
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, S, serving

AGENT = "acp/mine"


def page_of(maker: str, colour: str) -> str:
    style = f"body {{ margin: 0; padding: 3rem; font-family: sans-serif; background: {colour}; }}"
    return f"<!doctype html><html lang=en><title>{maker}</title><style>{style}</style><h1>Bread by {maker}</h1></html>"


def steps() -> list[Any]:
    report = {"kind": "edit", "title": "Write index.html", "rawInput": {"file_path": "$CWD/index.html"}}
    command = {"kind": "execute", "title": "npx prettier", "rawInput": {"command": "npx prettier -w ."}}
    return [
        ["think", "A bakery needs warm colours."],
        ["say", "I write the page first. "],
        ["ask", "c1", {**report, "writes": ["index.html", page_of("an agent", "#fde8c8")]}],
        ["ask", "c2", command],
        ["say", "The page of the bakery is in index.html."],
        ["usage_update", {"cost": {"amount": 0.25, "currency": "USD"}}],
        [
            "answer",
            {"stopReason": "end_turn", "usage": {"inputTokens": 9000, "outputTokens": 900, "totalTokens": 9900}},
        ],
    ]


def model() -> ScriptedModel:
    call = S.call("create_file", path="index.html", content=page_of("a model", "#dbeafe"))
    return S([["I build it. ", call], "The page is built."])


@pytest_asyncio.fixture(loop_scope="session")
async def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chrome: Browser) -> AsyncGenerator[Visit]:
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    script = tmp_path / "script.json"
    script.write_text(json.dumps([steps()]))
    command = (sys.executable, scripted_agent.__file__, str(script), str(tmp_path / "record.jsonl"))
    monkeypatch.setitem(KNOWN_PROGRAMS, "mine", AgentProgram(name="mine", command=command))
    page = os.environ.get("HEALD_PAGE", "")
    context = ServerContext(
        Sessions(SqliteStore(tmp_path / "s.db", durable=False)),
        KnownModels(named={"scripted/quick": model()}, agents=[AGENT]),
        settings=ServerSettings(port=0),
        tokens=AccessTokens({TOKEN: ""}),
        protocol_options={"studio": {"scores": False}} | ({"native": {"page": page}} if page else {}),
    )
    async with serving(context) as served, visiting(chrome, f"{served.url}/#token={TOKEN}") as visit:
        yield visit
    assert not visit.problems, visit.problems


async def test_an_agent_builds_beside_a_model_and_asks_in_its_conversation(visit: Visit) -> None:
    page = visit.page
    await page.get_by_label("What to build").fill("A page for a bakery")
    await page.get_by_role("button", name=re.compile("^Models")).click()
    await page.get_by_role("menuitemcheckbox", name="scripted/quick").click()
    await page.get_by_role("menuitemcheckbox", name=AGENT).click()
    await page.keyboard.press("Escape")
    await page.get_by_label("Variants").select_option("2")
    await page.get_by_role("button", name="Build", exact=True).click()
    cards = page.get_by_role("group", name="Variants").locator(".variant")
    await expect(cards.nth(1)).to_contain_text("Asks you")
    await cards.nth(1).locator(".variant-choose").click()
    preview = page.locator(".stage").frame_locator("iframe.shown")
    await expect(preview.get_by_role("heading")).to_have_text("Bread by an agent")  # it is there while the agent waits
    await expect(visit.log).to_contain_text("npx prettier -w .")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        assert await visit.axe() == []
    await visit.page.get_by_role("button", name=re.compile("^(Approve|Allow)")).first.click()
    await visit.built(2)
    await expect(cards.nth(1)).to_contain_text("$0.25")
    await expect(cards.nth(1)).not_to_contain_text("Asks you")
    await expect(visit.log).to_contain_text("The page of the bakery is in index.html.")
    await expect(visit.tool("acp_edit")).to_be_visible()
