"""A project of several pages in the browser: its links, the list of its pages, and its way to a git remote."""

import io
from pathlib import Path
from typing import Any

import pytest
from page_support import Visit
from PIL import Image
from playwright.async_api import FilePayload, FrameLocator, expect

from git_server import BACKEND, make_remote, read, serve_git

HOME = """<!doctype html>
<html lang="en"><head><title>Harbour</title></head><body>
<nav><a href="index.html">Home</a> <a href="/about">About</a> <a href="https://example.org/">Elsewhere</a></nav>
<main><h1>Coffee by the harbour</h1></main>
<footer>Since 1911</footer>
</body></html>
"""


async def _import(visit: Visit) -> FrameLocator:
    file: FilePayload = {"name": "home.html", "mimeType": "text/html", "buffer": HOME.encode()}
    await visit.page.evaluate("location.hash = '#/'")
    await visit.page.locator("input[type=file]").first.set_input_files([file])
    await visit.page.get_by_role("button", name="Import", exact=True).click()
    inside = visit.page.locator(".stage").frame_locator("iframe.shown")
    await expect(inside.get_by_role("heading")).to_have_text("Coffee by the harbour")
    return inside


async def test_pages_are_navigated_added_renamed_and_deleted(visit: Visit) -> None:
    page = visit.page
    visit.expected.append("404")  # the page that a link leads to and that is not there yet
    inside = await _import(visit)
    chosen = page.get_by_label("Page", exact=True)
    await expect(chosen).to_have_count(0)
    await inside.get_by_role("link", name="Elsewhere").press("Enter")
    await expect(page.get_by_text("the link opens https://example.org/")).to_be_visible()
    await inside.get_by_role("link", name="About").press("Enter")
    await expect(inside.get_by_role("heading")).to_have_text("There is no page here yet")
    await page.get_by_role("button", name="Add this page").click()
    await expect(page.get_by_label("Name of the page")).to_have_value("about")
    assert await visit.axe() == []
    await page.get_by_role("button", name="Add", exact=True).click()
    await expect(inside.get_by_role("heading")).to_have_text("about")
    await expect(page.get_by_text("Edited by hand").first).to_be_visible()
    await expect(page.get_by_text("cost unknown")).to_have_count(0)  # no model was asked
    await expect(inside.locator("footer")).to_have_text("Since 1911")
    await expect(chosen).to_have_value("about.html")
    assert await chosen.locator("option").all_inner_texts() == ["index.html", "about.html"]
    await inside.get_by_role("link", name="Home").press("Enter")
    await expect(inside.get_by_role("heading")).to_have_text("Coffee by the harbour")
    await expect(chosen).to_have_value("index.html")
    await chosen.select_option("about.html")
    await expect(inside.get_by_role("heading")).to_have_text("about")
    assert await visit.axe() == []

    await page.get_by_role("button", name="Select and edit").click()
    await inside.get_by_role("heading").dispatch_event("click")
    await page.get_by_label("Text", exact=True).fill("Who we are")
    await page.get_by_role("button", name="Apply").click()
    await expect(page.get_by_label("Version", exact=True).locator("option")).to_have_count(3)
    await expect(inside.get_by_role("heading")).to_have_text("Who we are")

    await page.get_by_role("button", name="Pages").click()
    await page.get_by_role("menuitem", name="Rename about.html").click()
    await page.get_by_label("Name of the page").fill("The Team")
    await page.get_by_role("button", name="Rename", exact=True).last.click()
    await chosen.select_option("the-team.html")
    await expect(inside.get_by_role("heading")).to_have_text("Who we are")
    await page.get_by_role("button", name="Pages").click()
    await page.get_by_role("menuitem", name="Delete the-team.html").click()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(chosen).to_have_count(0)
    await expect(inside.get_by_role("heading")).to_have_text("Coffee by the harbour")


@pytest.mark.skipif(not BACKEND.exists(), reason="git-http-backend is not installed")
async def test_a_version_is_pushed_to_git(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    visit.expected.append("400")
    await _import(visit)
    remote = make_remote(tmp_path)
    await page.get_by_role("button", name="Download").click()
    await page.get_by_role("menuitem", name="Push to git").click()
    dialog = page.get_by_role("dialog", name="Push to git")
    await dialog.get_by_label("Remote").fill("ext::sh -c date")
    await dialog.get_by_role("button", name="Push").click()
    await expect(dialog.get_by_role("status")).to_contain_text("Remotes that run a program are not allowed")
    assert await visit.axe() == []
    with serve_git(tmp_path) as address:
        await dialog.get_by_label("Remote").fill(f"{address}/site.git")
        await dialog.get_by_label("Branch").fill("design/first")
        await dialog.get_by_role("button", name="Push").click()
        await expect(dialog.get_by_role("status")).to_contain_text("The branch design/first is new: 1 commit")
    assert read(remote, "show", "design/first:index.html") == HOME


async def test_each_of_several_pictures_becomes_a_page(first_visit: Visit) -> None:
    page = first_visit.page
    picture = io.BytesIO()
    Image.new("RGB", (64, 40), "teal").save(picture, "PNG")
    files: list[FilePayload] = [
        {"name": name, "mimeType": "image/png", "buffer": picture.getvalue()}
        for name in ("Start.png", "Our prices.png")
    ]
    await page.locator("input[type=file]").first.set_input_files(files)
    await page.get_by_label("Each picture a page").check()
    await expect(page.get_by_label("Name of the page that Our prices.png becomes")).to_have_value("Our prices")
    await page.get_by_label("Name of the page that Our prices.png becomes").fill("Prices")
    async with page.expect_request(
        lambda request: request.method == "POST" and request.url.endswith("/projects")
    ) as sent:
        await page.get_by_role("button", name="Build", exact=True).click()
    body: Any = (await sent.value).post_data_json
    assert [image["page"] for image in body["prompt"]["images"]] == ["Start", "Prices"]
    await page.get_by_role("group", name="Variants").wait_for()
