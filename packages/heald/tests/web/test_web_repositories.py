"""An existing repository in the page: a real `create-vite` project with hot reload, and its change as a branch."""

import json
import os
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from page_support import BUILT, Visit, visiting
from playwright.async_api import Browser, FrameLocator, expect

from git_commands import git
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.tools.shell.sandbox import Sandbox
from heald_forges.remote import parse_remote
from registry_clients import template_folder
from serving_parts import TOKEN, S, context_on, serving

FORGE_TOKEN = "forge-canary-77"
PULL_URL = "https://example.org/me/site/pulls/4"

pytestmark = pytest.mark.skipif(Sandbox().available() is not None, reason="commands need the sandbox")


def vite_repository(folder: Path) -> Path:
    """A repository with the React template of create-vite, committed, with its packages."""
    site = folder / "site"
    shutil.copytree(
        template_folder("create-vite@9.3.0", "--template", "react", "--no-interactive"), site, symlinks=True
    )
    package = json.loads((site / "package.json").read_text())
    package["scripts"]["test"] = "node check.mjs"
    (site / "package.json").write_text(json.dumps(package, indent=2))
    (site / "check.mjs").write_text("console.log('1 of 1 failed');\nprocess.exit(3);\n")
    (site / "public" / "about.html").write_text("<!doctype html><title>About</title><h1>About us</h1>\n")
    git(site, "init", "-q")
    git(site, "add", "-A")
    git(site, "commit", "-q", "-m", "As create-vite made it")
    return site


@asynccontextmanager
async def opened(folder: Path, site: Path, chrome: Browser, model: S) -> AsyncGenerator[tuple[Visit, FrameLocator]]:
    """The page of a server that offers the repository, at the view of it."""
    built = Path(os.environ.get("HEALD_PAGE") or BUILT.parent)
    if not (built / "index.html").is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    context = context_on(
        SqliteStore(folder / "sessions.db", durable=False),
        {"scripted": lambda: model},
        defaults=SessionSettings(model="scripted", permissions="auto", tools=["files"]),
        workspaces={"site": str(site)},
    )
    context.protocol_options |= {"native": {"page": str(built)}, "studio": {"scores": False}}
    async with serving(context, TOKEN) as server, visiting(chrome, f"{server.url}/#token={TOKEN}") as visit:
        await visit.page.evaluate("location.hash = '#/repository/site'")
        yield visit, visit.page.frame_locator('iframe[title="Preview of site"]')


def answer_as_gitea(request: ReceivedRequest) -> Reply:
    """A forge with one repository and no pull request yet."""
    place = request.path.partition("?")[0]
    if place == "/api/v1/version":
        return Reply.json({"version": "1"})
    if FORGE_TOKEN not in request.headers.get("authorization", ""):
        return Reply.json({"message": "no"}, 401)
    if request.method == "GET":
        return Reply.json([])
    body = request.body
    refs = {"head": {"ref": body["head"]}, "base": {"ref": body["base"]}}
    return Reply.json({"number": 4, "html_url": PULL_URL, "title": body["title"], **refs}, 201)


async def test_a_vite_project_is_changed_with_hot_reload_on_a_branch_of_its_own(
    tmp_path: Path, chrome: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    site = vite_repository(tmp_path)
    base = git(site, "rev-parse", "main")
    edit = S.call("edit_file", path="src/App.jsx", old_text="<h1>Get started</h1>", new_text="<h1>Fresh bread</h1>")
    read = S.call("read_file", path="src/App.jsx")
    async with opened(tmp_path, site, chrome, S([[read], [edit], "Done.", "It is fixed."])) as (visit, preview):
        page = visit.page
        visit.expected += ["it broke", "403", "Refused to"]
        await expect(page.get_by_role("heading", name="Run the code of this repository?")).to_be_visible()
        await expect(page.get_by_text("npm run dev → vite")).to_be_visible()
        assert await visit.axe() == []
        await _keep_picture(visit, "agree")
        await page.get_by_role("button", name="Run without network").click()
        await expect(preview.get_by_role("heading", name="Get started")).to_be_visible()

        counter = preview.get_by_role("button", name="Count is")
        await counter.click()
        await expect(counter).to_have_text("Count is 1")
        await page.get_by_label("Message", exact=True).fill("Sell fresh bread")
        await page.keyboard.press("Enter")
        await expect(preview.get_by_role("heading", name="Fresh bread")).to_be_visible()
        await expect(counter).to_have_text("Count is 1")  # the module was replaced, the page was not loaded again
        await visit.done()
        await expect(page.locator(".change-bar .badge")).to_have_text("heald/sell-fresh-bread")
        assert git(site, "rev-parse", "main") == base
        assert git(site, "branch", "--show-current").strip() == "heald/sell-fresh-bread"

        frame = next(frame for frame in page.frames if ".localhost:" in frame.url)
        assert await frame.evaluate("document.cookie") == ""
        assert await frame.evaluate("localStorage.setItem('a', '1'), localStorage.getItem('a')") == "1"
        await frame.evaluate("console.error('it broke'); fetch('/@fs/etc/passwd').catch(() => 0); undefined")
        await frame.evaluate("new Image().src = 'https://pictures.example.org/a.png'; undefined")
        await expect(page.get_by_role("tab", name="Console 1")).to_be_visible()
        await expect(page.get_by_role("region", name="Behind the preview").get_by_text("it broke")).to_be_visible()
        await expect(page.get_by_role("button", name="Allow pictures.example.org")).to_be_visible()
        await page.get_by_role("tab", name="Network").click()
        network = page.get_by_role("list", name="Network")
        await expect(network.get_by_text("403 /@fs/etc/passwd")).to_be_visible()
        await expect(network.get_by_text(re.compile(r"^200 /src/main\.jsx"))).to_be_visible()
        await page.get_by_role("tab", name="Changes").click()
        changes = page.get_by_role("region", name="Changes")
        await expect(changes).to_contain_text("Fresh bread")
        (site / "src" / "Oven.jsx").write_text("export const Oven = 1;\n")
        await expect(changes).to_contain_text("export const Oven = 1;")  # a file that git does not know yet
        (site / "src" / "Oven.jsx").write_text("export const Oven = 2;\n")
        await expect(changes).to_contain_text("export const Oven = 2;")
        (site / "src" / "Oven.jsx").unlink()
        await page.get_by_role("tab", name="Dev server").click()
        await expect(page.get_by_role("region", name="Output of the dev server")).to_contain_text("VITE")
        for theme in ("light", "dark"):
            await page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            for width in (1440, 390):
                await page.set_viewport_size({"width": width, "height": 900})
                assert await visit.axe() == []
                assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                await _keep_picture(visit, f"{theme}-{width}")
                if width == 390:
                    await page.get_by_role("tab", name="Preview").click()
                    assert await visit.axe() == []
                    await _keep_picture(visit, f"{theme}-{width}-preview")
                    await page.get_by_role("tab", name="Chat").click()
        await page.set_viewport_size({"width": 1440, "height": 900})

        await page.get_by_label("Path of the page").fill("/about.html")
        await page.keyboard.press("Enter")
        await expect(preview.get_by_role("heading", name="About us")).to_be_visible()
        await page.get_by_role("button", name="Reload the preview").click()
        await expect(preview.get_by_role("heading", name="About us")).to_be_visible()
        await expect(page.get_by_label("Path of the page")).to_have_value("/about.html")
        await page.get_by_label("Path of the page").fill("https://example.org/")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("pages of the dev server only")).to_be_visible()
        await expect(preview.get_by_role("heading", name="About us")).to_be_visible()
        await page.get_by_role("tab", name="Tests").click()
        await page.get_by_role("button", name="Run tests").click()
        await expect(page.get_by_role("region", name="Output of the tests")).to_contain_text("1 of 1 failed")
        await expect(page.locator(".side-panel .badge")).to_have_text("failed")
        await _keep_picture(visit, "tests")
        await page.get_by_role("button", name="Fix this").click()
        await expect(page.get_by_role("log", name="Conversation")).to_contain_text("npm run test fails.")
        await visit.done(2)

        await page.get_by_role("button", name="Commit", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Message")).to_have_value("Sell fresh bread")
        await dialog.get_by_role("button", name="Commit", exact=True).click()
        await expect(page.get_by_role("button", name="Pull request")).to_be_visible()
        assert git(site, "rev-parse", "main") == base
        async with ScriptedServer(answer_as_gitea) as forge:
            address = f"{forge.url}/me/site.git"
            git(tmp_path, "init", "-q", "--bare", "remote.git")
            git(site, "remote", "add", "origin", address)
            git(site, "config", "remote.origin.pushurl", str(tmp_path / "remote.git"))
            monkeypatch.setenv(parse_remote(address).token_variable, FORGE_TOKEN)
            await page.get_by_role("button", name="Pull request").click()
            await dialog.get_by_label("Description").fill("Ours is fresh.")
            assert await visit.axe() == []
            await dialog.get_by_role("button", name="Open pull request").click()
            await expect(page.get_by_role("link", name="#4")).to_have_attribute("href", PULL_URL)
            assert forge.requests[-1].body["body"] == "Ours is fresh."
        assert git(tmp_path / "remote.git", "rev-parse", "heald/sell-fresh-bread") == git(site, "rev-parse", "HEAD")
        await page.get_by_role("button", name="More for this change").click()
        await page.get_by_role("menuitem", name="Merge into main").click()
        await expect(page.locator(".change-bar .badge")).to_have_text("main")
        assert git(site, "log", "-1", "--format=%s", "main").strip() == "Sell fresh bread"
        await page.get_by_role("button", name="Stop the dev server").click()
        await expect(page.get_by_role("heading", name="The dev server does not run")).to_be_visible()


async def _keep_picture(visit: Visit, name: str) -> None:
    """Store a picture of the page where somebody wants to look at it."""
    folder = os.environ.get("HEALD_PICTURES")
    if folder:
        await visit.page.screenshot(path=f"{folder}/repository-{name}.png")
