"""The server as anybody starts it, without a key: a screenshot becomes a page, and the two are compared."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from page_support import BUILT, ROOT, Visit, visiting
from playwright.async_api import Browser, Locator, Route, expect

from heald_local.model import STACK_NAMES, available

_HEALD = "import sys; from heald_cli.main import main; sys.exit(main())"
SLOW = 180_000
"""Milliseconds that reading a picture may take on a busy machine."""


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Where it is, with its token."""
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    if not available():
        pytest.skip("the local converter is not installed; install heald[local]")
    folder = tmp_path_factory.mktemp("keyless")
    environment = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "PYTHONPATH", "COVERAGE_PROCESS_START", "HEALD_CHROMIUM")
        if name in os.environ
    }
    command = [sys.executable, "-c", _HEALD, "serve", "--json", "--no-open", "--port", "0", "--data", str(folder)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        env=environment | {"HOME": str(folder), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
        cwd=folder,
    ) as server:
        assert server.stdout is not None
        ready = json.loads(server.stdout.readline())
        yield f"{ready['url']}/#token={ready['token']}"
        server.terminate()
        server.wait(30)


@pytest_asyncio.fixture(loop_scope="session")
async def visit(keyless: str, chrome: Browser) -> AsyncGenerator[Visit]:
    async with visiting(chrome, keyless) as visit:
        yield visit
    assert not visit.problems, visit.problems


async def build(visit: Visit) -> None:
    await visit.page.get_by_label("Variants").select_option("1")
    await visit.page.get_by_role("button", name="Build", exact=True).click()
    card = visit.page.get_by_role("group", name="Variants").get_by_role("button", name="completed")
    await expect(card).to_have_count(1, timeout=SLOW)


async def loaded(picture: Locator) -> None:
    """The picture is there and not only its place."""
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("complete", True, timeout=SLOW)
    assert await picture.evaluate("image => image.naturalWidth") > 0


async def compare_with_picture(visit: Visit, tmp_path: Path) -> None:
    """Look at the picture and the page that was made of it in all three ways."""
    page = visit.page
    released = asyncio.Event()

    async def hold(route: Route) -> None:
        await released.wait()
        await route.continue_()

    await page.route("**/screenshot?*", hold)
    await page.get_by_role("tab", name="Compare").click()
    compare = page.get_by_role("region", name="Comparison")
    await expect(compare.get_by_role("status")).to_have_text("Result: being rendered…")
    await expect(compare.get_by_alt_text("Result")).to_be_hidden()
    released.set()
    target, result = compare.get_by_alt_text("Target"), compare.get_by_alt_text("Result")
    await loaded(target)
    await loaded(result)
    await expect(compare.get_by_role("status")).to_have_text("Result")
    await expect(page.locator(".scores")).to_contain_text("Overall", timeout=SLOW)
    slider = compare.get_by_role("slider")
    assert await result.evaluate("image => getComputedStyle(image).clipPath") == "inset(0px 0px 0px 50%)"
    await slider.fill("20")
    assert await result.evaluate("image => getComputedStyle(image).clipPath") == "inset(0px 0px 0px 20%)"
    await slider.press("ArrowRight")
    assert await result.evaluate("image => getComputedStyle(image).clipPath") == "inset(0px 0px 0px 21%)"
    box = await slider.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] * 0.21, box["y"] + 40)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 40, steps=5)
    await page.mouse.up()
    assert 65 < float(await slider.input_value()) < 75
    await page.screenshot(path=tmp_path / "slider.png")
    await page.get_by_role("radio", name="Differences").click()
    await loaded(compare.get_by_alt_text("Heat map of the differences"))
    await page.screenshot(path=tmp_path / "heat.png")
    await page.get_by_role("radio", name="Side by side").click()
    await loaded(compare.get_by_alt_text("Result"))
    assert await visit.axe() == []
    sizes = [
        await compare.get_by_alt_text(name).evaluate("image => image.naturalWidth") for name in ("Target", "Result")
    ]
    assert sizes == [1280, 1280]
    await page.screenshot(path=tmp_path / "beside.png")


async def test_an_example_becomes_a_page_and_is_compared_with_it(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    await expect(page.get_by_test_id("no-key")).to_contain_text("Pictures only")
    examples = page.locator(".example")
    await expect(examples).to_have_count(3)
    for example in await examples.all():
        await loaded(example.locator("img"))
    assert await visit.axe() == []
    await page.get_by_role("button", name="Sign-in page").click()
    await expect(page.get_by_role("list", name="Attached").get_by_role("img")).to_be_visible()
    await build(visit)
    inside = page.locator(".stage").frame_locator("iframe.shown")
    await expect(inside.get_by_text("Card number").first).to_be_visible()
    await visit.log.hover()
    await page.mouse.wheel(0, -20_000)
    bubble = page.locator(".user-bubble")
    await expect(bubble.get_by_role("img")).to_have_count(1)
    await expect(bubble.locator("p")).to_have_count(0)  # the person said nothing
    await bubble.get_by_role("button", name="What the model was sent").click()
    await expect(bubble.locator("pre")).not_to_be_empty()
    await compare_with_picture(visit, tmp_path)


async def test_what_cannot_work_is_not_offered(visit: Visit) -> None:
    page = visit.page
    build = page.get_by_role("button", name="Build", exact=True)
    await page.get_by_label("What to build").fill("A landing page for a bakery")
    await expect(build).to_be_disabled()
    await expect(page.get_by_test_id("no-key")).to_contain_text("attach a screenshot")
    offered = await page.get_by_label("Stack").locator("option").evaluate_all("all => all.map(each => each.value)")
    assert sorted(offered) == sorted(STACK_NAMES)
    await page.locator("input[type=file]").set_input_files(ROOT / "examples" / "shot.png")
    await expect(build).to_be_enabled()
    await page.get_by_role("radio", name="Assistant").click()
    await expect(page.get_by_test_id("no-key")).to_contain_text("No language model is available")


async def test_without_a_keyring_the_page_says_before_where_a_key_goes(visit: Visit) -> None:
    page = visit.page
    await page.evaluate("location.hash = '#/settings'")
    row = page.locator(".provider").filter(has=page.get_by_text("anthropic", exact=True))
    await row.get_by_role("button", name="Set key").click()
    await expect(row).to_contain_text("no keyring: the key is stored unencrypted in a file")
    await row.get_by_label("Key of anthropic").fill("sk-of-a-person-0123456789")
    stored = await page.evaluate(
        """() => fetch("providers/anthropic/key", {
            method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify({key: "sk-of-a-person"}),
        }).then(answer => answer.json())"""
    )
    assert (stored["key_set"], stored["origin"]) == (True, "file")
    await page.reload()
    await expect(row).to_contain_text("Key set")
    await row.get_by_role("button", name="Remove").click()
    await expect(row).to_contain_text("No key")


async def test_a_variant_without_a_page_is_a_failed_one(visit: Visit) -> None:
    page = visit.page
    project = await page.evaluate(
        """() => fetch("projects", {
            method: "POST", headers: {"Content-Type": "application/json"},
            body: JSON.stringify({prompt: {text: "A landing page for a bakery"}, stack: "html_css", variants: 2}),
        }).then(answer => answer.json())"""
    )
    await page.evaluate("id => { location.hash = '#/project/' + id }", project["id"])
    await expect(page.get_by_role("button", name=re.compile(r"^Variant \d, failed"))).to_have_count(2, timeout=SLOW)
    await expect(page.locator(".stage")).to_contain_text("No page was made")
    await expect(page.locator(".stage")).to_contain_text("has no language model")
    assert await page.locator("iframe").count() == 0
    assert await page.locator(".variant .added").count() == 0
