"""A project on disk: opened by `file://`, with no network to be had."""

import io
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import Browser as Chrome
from playwright.async_api import Page, Route

from heald_local.arrange.page import arrange
from heald_local.write.stacks import STACKS, write_files
from heald_pictures.elements import (
    Border,
    Box,
    Control,
    Detection,
    PictureElement,
    Shadow,
    TextElement,
    TextLine,
    TextStyle,
)
from heald_pictures.fonts import face
from heald_pictures.rect import Rect
from heald_studio.browser.browser import Browser
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.export.files import write_project, zip_project
from heald_studio.export.offline import offline_project
from heald_studio.input.projects import unpack_zip
from heald_studio.score.page_image import decode_pixels
from heald_studio.score.ssim import ssim_map
from heald_studio.stacks.installed import find_stack, load_stacks
from needed_programs import needs_chromium

Files = dict[str, str | bytes]
_ENTRIES = {"svg": "image.svg", "next_shadcn": "out/index.html", "astro_tailwind": "dist/index.html"}

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason=MISSING),
    needs_chromium,
]


@asynccontextmanager
async def _page_on_disk(chrome: Chrome) -> AsyncGenerator[tuple[Page, list[str]]]:
    """A page without network, and the addresses that it asked the network for."""
    asked: list[str] = []

    async def refuse(route: Route) -> None:
        asked.append(route.request.url)
        await route.abort()

    async with await chrome.new_page(viewport={"width": 1280, "height": 800}) as page:
        await page.route(lambda url: not url.startswith(("file:", "data:", "blob:")), refuse)
        yield page, asked


async def _offline(name: str, files: Files, browser: Browser) -> Files:
    return await offline_project(find_stack(name), files, browser=browser)


@pytest.mark.parametrize("name", list(load_stacks()))
async def test_a_project_of_every_stack_opens_from_disk(
    sample: Callable[[str], Files], name: str, tmp_path: Path, browser: Browser, chrome: Chrome
) -> None:
    write_project(await _offline(name, sample(name), browser), tmp_path)
    entry = _ENTRIES.get(name, "index.html")
    faults: list[str] = []
    async with _page_on_disk(chrome) as (page, asked):
        page.on("pageerror", lambda error: faults.append(str(error)))
        await page.goto((tmp_path / entry).as_uri())
        await page.get_by_text("Harbour").first.wait_for(timeout=20_000)
        if name in ("html_tailwind", "react_tailwind", "vue_tailwind"):
            drawn = await page.evaluate(
                "[...document.querySelectorAll('*')].some("
                "each => getComputedStyle(each).backgroundColor === 'rgb(18, 52, 86)')"
            )
            assert drawn
        if name == "ionic_tailwind":
            await page.wait_for_selector("ion-toggle.hydrated")
        if name == "bootstrap":
            assert await page.evaluate("getComputedStyle(document.querySelector('.btn-primary')).color") == (
                "rgb(255, 255, 255)"
            )
    assert (asked, faults) == ([], [])


def _words(x: float, y: float, words: str, size: float, weight: int = 400, colour: str = "#1f2937") -> TextElement:
    width = face("sans", weight >= 600).advance(words) * size
    style = TextStyle("sans", size, weight, False, colour)
    rect = Rect(x, y, width, round(size * 1.2))
    line = TextLine(words, rect.grown(-2), rect, style, y + round(size * 0.9), 0.99)
    return TextElement((line,), rect, style, "left", rect.h)


def _photo(x: float, y: float, w: int, h: int) -> PictureElement:
    data = io.BytesIO()
    Image.linear_gradient("L").resize((w, h)).save(data, "PNG")
    return PictureElement(Rect(x, y, w, h), "photo", "photo-1", data.getvalue())


def _shop() -> Detection:
    """A header, a large title, three cards, a form and a footer."""
    boxes = [Box(Rect(0, 0, 1280, 64), "#ffffff", 0, Border((0, 0, 1, 0), "#e5e7eb"))]
    texts = [_words(80, 20, "Harbour Shop", 20, 700)]
    texts += [_words(860 + 110 * at, 22, words, 15) for at, words in enumerate(("Ropes", "Anchors", "Contact"))]
    texts += [_words(80, 120, "Everything that floats", 48, 700), _words(80, 190, "And some that does not.", 18)]
    for at, words in enumerate(("Rope", "Anchor", "Lamp")):
        left = 80 + 380 * at
        boxes.append(Box(Rect(left, 260, 360, 160), "#eef2ff", 12))
        texts += [_words(left + 24, 290, words, 22, 700), _words(left + 24, 330, f"A good {words.lower()}", 15)]
    boxes += [
        Box(Rect(80, 470, 320, 44), "#ffffff", 8, Border((1, 1, 1, 1), "#9ca3af")),
        Box(Rect(420, 470, 140, 44), "#1d4ed8", 8),
    ]
    texts += [
        _words(96, 482, "you@example.org", 15, colour="#4b5563"),
        _words(452, 482, "Subscribe", 15, 700, "#ffffff"),
    ]
    boxes.append(Box(Rect(0, 720, 1280, 80), "#111827"))
    texts.append(_words(80, 750, "© Harbour Shop", 14, colour="#f9fafb"))
    largest = sorted(boxes, key=lambda box: -box.rect.area)
    return Detection(1280, 800, 1, False, "#ffffff", tuple(largest), tuple(texts), (_photo(800, 460, 240, 180),), ())


def _settings() -> Detection:
    """A bar with a line below it, a panel with a shadow and switches, a tick, a dashed button, initials on discs."""
    shadow = Shadow(0, 1, 4, 0.16)
    boxes = [Box(Rect(0, 0, 1280, 60), "#ffffff", 0, Border((0, 0, 1, 0), "#d1d5db"))]
    texts = [_words(80, 18, "Harbour Office", 20, 700), _words(1040, 21, "Help", 15), _words(1120, 21, "Log out", 15)]
    texts += [_words(80, 100, "Everything that floats", 34, 700), _words(80, 150, "And how it is announced.", 17)]
    boxes.append(Box(Rect(80, 200, 700, 244), "#ffffff", 14, None, shadow))
    for at, words in enumerate(("By mail every morning", "On the phone at once", "With a sound")):
        top = 220 + 72 * at
        texts += [_words(104, top, words, 16, 700), _words(104, top + 26, "Can be changed at any time", 13)]
        track = Control("switch", at != 1, 0, "#16a34a" if at != 1 else "#d1d5db", "#ffffff")
        boxes.append(Box(Rect(712, top + 10, 44, 24), track.colour, 12, control=track))
        boxes += [Box(Rect(104, top + 56, 652, 1), "#e5e7eb")] if at < 2 else []
    for at, (name, colour) in enumerate((("ML", "#be185d"), ("OB", "#0e7490"), ("IH", "#4d7c0f"))):
        boxes.append(Box(Rect(840, 210 + 60 * at, 40, 40), colour, 20))
        texts += [_words(851, 222 + 60 * at, name, 14, 700, "#ffffff"), _words(896, 222 + 60 * at, "On board", 15)]
    boxes.append(Box(Rect(840, 390, 220, 44), "#f8fafc", 10, Border((1, 1, 1, 1), "#64748b", dashed=True)))
    texts.append(_words(906, 402, "+ Add person", 15))
    tick = Control("checkbox", True, 0, "#2563eb", "#ffffff")
    boxes.append(Box(Rect(80, 480, 16, 16), "#2563eb", 2, control=tick))
    texts.append(_words(108, 479, "Tell the harbour master too", 15))
    boxes.append(Box(Rect(80, 530, 160, 46), "#1d4ed8", 10))
    texts.append(_words(120, 544, "Save all", 16, 700, "#ffffff"))
    largest = sorted(boxes, key=lambda box: -box.rect.area)
    return Detection(1280, 800, 1, False, "#f8fafc", tuple(largest), tuple(texts), (_photo(840, 480, 240, 180),), ())


def _below(upper: Detection, lower: Detection) -> Detection:
    """A page with another one below it."""
    top = upper.height

    def moved(rect: Rect) -> Rect:
        return replace(rect, y=rect.y + top)

    boxes = [replace(box, rect=moved(box.rect)) for box in lower.boxes]
    pictures = [replace(picture, rect=moved(picture.rect), name="photo-2") for picture in lower.pictures]
    texts: list[TextElement] = []
    for text in lower.texts:
        lines = (
            replace(line, ink=moved(line.ink), rect=moved(line.rect), baseline=line.baseline + top)
            for line in text.lines
        )
        texts.append(replace(text, lines=tuple(lines), rect=moved(text.rect)))
    largest = sorted([*upper.boxes, *boxes], key=lambda box: -box.rect.area)
    return replace(
        upper,
        height=top + lower.height,
        boxes=tuple(largest),
        texts=(*upper.texts, *texts),
        pictures=(*upper.pictures, *pictures),
    )


@pytest.mark.parametrize(
    ("page", "names"),
    [
        pytest.param(_below(_shop(), _settings()), [name for name in STACKS if name != "svg"], id="both pages"),
        pytest.param(_shop(), ["html_css", "svg"], id="shop"),
        pytest.param(_settings(), ["html_css", "svg"], id="settings"),
    ],
)
async def test_every_stack_of_the_converter_looks_the_same_from_disk(
    page: Detection, names: list[str], tmp_path: Path, browser: Browser, chrome: Chrome
) -> None:
    """A drawing has its elements where they were. Pages whose texts flow differ from it by a pixel further down, so it
    is compared with the shorter ones."""
    built = arrange(page)
    shots: dict[str, bytes] = {}
    async with _page_on_disk(chrome) as (tab, asked):
        await tab.set_viewport_size({"width": page.width, "height": page.height})
        for name in names:
            files = await _offline(name, {**find_stack(name).scaffold, **write_files(built, name)}, browser)
            write_project(files, tmp_path / name)
            await tab.goto((tmp_path / name / _ENTRIES.get(name, "index.html")).as_uri())
            if name != "svg":
                await tab.get_by_text("Everything that floats").first.wait_for(timeout=20_000)
                await tab.wait_for_function("[...document.images].every(image => image.complete)")
                assert await tab.evaluate("[...document.images].every(image => image.naturalWidth)"), name
            shots[name] = await tab.screenshot()
    assert asked == []
    expected = decode_pixels(shots["html_css"])
    others = {name: decode_pixels(shot) for name, shot in shots.items() if shot != shots["html_css"]}
    alike = {name: float(ssim_map(expected, pixels).mean()) for name, pixels in others.items()}
    assert min(alike.values(), default=1.0) >= 0.98, alike


async def test_utilities_are_compiled_and_the_compiler_comes_back_on_import(browser: Browser) -> None:
    page = (
        '<!doctype html><html><head><script src="https://cdn.tailwindcss.com"></script><script>tailwind.config = '
        '{theme: {extend: {colors: {brand: "#123456"}}}}</script></head><body><p class="bg-brand">Harbour</p>'
        '<script>document.body.onclick = () => document.body.classList.add("mt-[13px]")</script></body></html>'
    )
    made = await _offline("html_tailwind", {"index.html": page}, browser)
    css, written = made["vendor/tailwind.css"], str(made["index.html"])
    assert isinstance(css, bytes)
    assert b".bg-brand" in css
    assert b"margin-top:13px" in css
    assert "<script src" not in written
    back = unpack_zip(zip_project(made))
    assert "vendor/tailwind.css" not in back
    assert b'<script src="https://cdn.tailwindcss.com"></script>' in back["index.html"]
    assert b"<script>tailwind.config = " in back["index.html"]


async def test_without_a_browser_the_compiler_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", "/nowhere/chromium")
    page = '<head><script src="https://cdn.tailwindcss.com" crossorigin></script></head><p class="p-4">x</p>'
    made = await _offline("html_tailwind", {"index.html": page}, Browser(pages=1, seconds=60))
    assert "vendor/tailwind.css" not in made
    assert '<script src="vendor/tailwindcss-cdn@3.4.10/tailwindcss.js"></script>' in str(made["index.html"])


async def test_what_needs_nothing_stays_as_it_was(browser: Browser) -> None:
    files: Files = {"index.html": b"<title>\xff</title><p>x", "a.png": b"1", "b.css": "p { background: url(a.png) }"}
    assert await _offline("html_css", files, browser) == files


SITE_HEAD = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'


@pytest.mark.parametrize("name", ["html_css", "react_vite"])
async def test_the_pages_of_a_site_are_linked_on_disk(
    name: str, tmp_path: Path, browser: Browser, chrome: Chrome
) -> None:
    """Links from the root, without an ending and to a folder lead to the files."""
    if name == "html_css":
        links = '<nav><a href="/about">About</a> <a href="docs/">Docs</a></nav>'
        files: Files = {
            "index.html": SITE_HEAD.format(title="Home") + links,
            "about.html": SITE_HEAD.format(title="About") + '<a href="/">Home</a>',
            "docs/index.html": SITE_HEAD.format(title="Docs") + '<a href="/about#team">About</a>',
        }
    else:
        vite = find_stack(name)
        shared = "export const Nav = () => <nav><a href='about.html'>About</a> <a href='index.html'>Home</a></nav>;\n"
        about = vite.scaffold["index.html"].replace("/src/main.jsx", "/src/about.jsx").replace("Project", "About")
        app = 'import { Nav } from "./components/Nav.jsx";\nexport default () => <Nav />;\n'
        files = {
            **vite.scaffold,
            "src/components/Nav.jsx": shared,
            "src/App.jsx": app,
            "about.html": about,
            "src/about.jsx": vite.scaffold["src/main.jsx"],
        }
    write_project(await _offline(name, files, browser), tmp_path)
    async with _page_on_disk(chrome) as (page, asked):
        await page.goto((tmp_path / "index.html").as_uri())
        await page.get_by_role("link", name="About").click()
        await page.wait_for_url("**/about.html")
        assert await page.title() == "About"
        await page.get_by_role("link", name="Home").click()
        await page.wait_for_url("**/index.html")
        if name == "html_css":
            await page.get_by_role("link", name="Docs").click()
            await page.wait_for_url("**/docs/index.html")
            await page.get_by_role("link", name="About").click()
            await page.wait_for_url("**/about.html#team")
    assert asked == []
