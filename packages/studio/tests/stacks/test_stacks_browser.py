"""Previews in Chromium with the network cut off: every stack shows its page, without an error in the console."""

import pytest
from stack_projects import project

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Rendering
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.preview.preview import ProjectPreview
from heald_studio.stacks.installed import find_stack, load_stacks
from needed_programs import needs_chromium

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason=MISSING),
    needs_chromium,
]


async def look(browser: Browser, name: str, files: dict[str, str | bytes], quiet_seconds: float = 0.8) -> Rendering:
    return await browser.render(ProjectPreview(find_stack(name), files), quiet_seconds=quiet_seconds)


def words(rendering: Rendering) -> str:
    return " ".join(block.text for block in rendering.texts)


def expect_shown(rendering: Rendering) -> None:
    """The project shows its page and is silent in the console."""
    assert (rendering.console, rendering.failed) == ((), ())
    assert "Harbour" in words(rendering)


LOOKED_INTO = ("react_vite", "next_shadcn", "svelte_vite", "astro_tailwind")
"""The stacks whose project is shown by the tests that look further into it."""


@pytest.mark.parametrize("name", [name for name in load_stacks() if name not in LOOKED_INTO])
async def test_a_project_shows_and_is_silent_in_the_console(browser: Browser, name: str) -> None:
    expect_shown(await look(browser, name, project(name)))


@pytest.mark.parametrize("name", list(load_stacks()))
async def test_a_scaffold_is_a_page_without_errors(browser: Browser, name: str) -> None:
    seen = await look(browser, name, dict(find_stack(name).scaffold), quiet_seconds=0.3)
    assert (seen.console, seen.failed) == ((), ())


async def test_modules_styles_and_assets_of_a_project_work(browser: Browser) -> None:
    files = project("react_vite")
    check = """
<script>addEventListener("load", () => setTimeout(() => {
  const style = (selector, key) => getComputedStyle(document.querySelector(selector))[key];
  const facts = [
    style("body", "margin"), style("main", "backgroundColor"), style("#module", "color"),
    document.querySelector("#dot").naturalWidth, document.querySelector("#public").naturalWidth,
    document.querySelector("#later").textContent, document.querySelector("h1").dataset.healdSource,
  ];
  const note = document.createElement("p");
  note.textContent = "facts " + facts.join("|");
  document.body.append(note);
}, 900))</script>"""
    files["index.html"] = str(files["index.html"]).replace("</body>", check + "</body>")
    seen = await look(browser, "react_vite", files, quiet_seconds=1.8)
    expect_shown(seen)
    facts = words(seen).partition("facts ")[2].split("|")
    assert facts[0] == "7px"
    assert facts[1].startswith(("rgb(10, 61, 98", "oklch", "#0a3d62"))
    assert facts[2] == "rgb(1, 2, 3)"
    assert facts[3:6] == ["1", "1", "later"]
    assert facts[6].startswith("src/App.jsx:18:")


_PAUSE = "await new Promise((done) => setTimeout(done, 50));"


@pytest.mark.parametrize(
    ("name", "click", "expected", "source"),
    [
        ("next_shadcn", "[role=tab]:nth-of-type(2)", "North, changed 1 times", "app/page.tsx:20:6"),
        ("svelte_vite", "#more", "More: 1 Later", "src/App.svelte:14:2"),
        ("astro_tailwind", "[data-more]", "More 1", "src/pages/index.astro:12:4"),
    ],
)
async def test_a_project_reacts_and_says_where_it_is_written(
    browser: Browser, name: str, click: str, expected: str, source: str
) -> None:
    probe = f"""async () => {{
  document.querySelector({click!r}).click();
  {_PAUSE}
  const words = document.body.innerText.split(/\\s+/).join(" ");
  const heading = document.querySelector("h1");
  const card = document.querySelector("p.card");
  return [
    words, heading.dataset.healdSource, document.querySelector("#public").naturalWidth,
    card ? getComputedStyle(card).color : "", document.querySelector("#link")?.getAttribute("href") ?? "",
  ];
}}"""
    seen = await browser.render(ProjectPreview(find_stack(name), project(name)), quiet_seconds=0.3, probe=probe)
    expect_shown(seen)
    words_after, place, width, colour, link = seen.probed
    assert expected in words_after
    assert place == source
    assert width == 1
    assert colour == ("" if name == "next_shadcn" else "rgb(1, 2, 3)")
    assert link == ("" if name == "svelte_vite" else "/about")


@pytest.mark.parametrize("name", ["next_shadcn", "astro_tailwind"])
async def test_another_page_is_shown_at_its_address(browser: Browser, name: str) -> None:
    seen = await browser.render(ProjectPreview(find_stack(name), project(name)), path="about", quiet_seconds=0.3)
    assert (seen.console, seen.failed) == ((), ())
    assert "About Harbour at /about" in words(seen)


@pytest.mark.parametrize(
    ("name", "path", "code", "problem"),
    [
        (
            "next_shadcn",
            "app/page.tsx",
            'import { x } from "@/none";\nexport default () => x;',
            '"@/none", which is not',
        ),
        ("next_shadcn", "app/page.tsx", "export const x = 1;", "app/page.tsx has no default export"),
        ("svelte_vite", "src/App.svelte", "<p>{#if}</p>", "src/App.svelte:1:"),
        ("astro_tailwind", "src/pages/index.astro", "<Card />", "Card is not defined"),
    ],
)
async def test_what_is_wrong_in_a_framework_is_reported(
    browser: Browser, name: str, path: str, code: str, problem: str
) -> None:
    files: dict[str, str | bytes] = {**find_stack(name).scaffold, path: code}
    seen = await look(browser, name, files, quiet_seconds=0.3)
    assert any(problem in line for line in seen.console), seen.console


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ('import x from "./None";', 'src/App.jsx imports "./None", which is not a file of the project.'),
        ('import x from "left-pad";', 'src/App.jsx imports the package "left-pad", which previews do not have'),
        ("export default () => <p>;", "src/App.jsx: "),
    ],
)
async def test_what_is_wrong_in_a_project_is_reported(browser: Browser, code: str, problem: str) -> None:
    files: dict[str, str | bytes] = {**find_stack("react_vite").scaffold, "src/App.jsx": code}
    seen = await look(browser, "react_vite", files, quiet_seconds=0.3)
    assert any(problem in line for line in seen.console), seen.console
    assert problem.split(",")[0][:30] in words(seen)


async def test_modules_of_a_cdn_are_one_react(browser: Browser) -> None:
    page = """<!doctype html><title>T</title><script type="importmap">{"imports": {
  "react": "https://esm.sh/react@19.1.0", "react-dom/client": "https://esm.sh/react-dom@19.1.0/client"}}</script>
<div id="root"></div><script type="module">
import React, { useState } from "react";
import { createRoot } from "react-dom/client";
import { Anchor } from "https://esm.sh/lucide-react";
import * as vue from "https://cdn.jsdelivr.net/npm/vue@3/+esm";
const make = React.createElement;
function App() { return make("h1", null, useState("Harbour " + typeof vue.ref)[0], make(Anchor)); }
createRoot(document.getElementById("root")).render(make(App));
</script>"""
    seen = await look(browser, "html_css", {"index.html": page})
    assert (seen.console, seen.failed) == ((), ())
    assert "Harbour function" in words(seen)
