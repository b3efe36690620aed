"""A part of one variant is put into another: its markup, the rules that style it, and the files that it shows."""

from pathlib import Path
from typing import Any

from studio_parts import atelier

from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import serve_files
from serving_parts import S, Script

PLAIN = """<!doctype html>
<html lang="en"><head><title>Plain</title>
<style>
  .top { color: rgb(1, 2, 3); padding: 0 }
</style></head>
<body><header class="top"><h1>Plain</h1></header><p class="top">Words of the first page</p></body></html>
"""
BOLD = """<!doctype html>
<html lang="en"><head><title>Bold</title>
<style>
  :root { --brand: rgb(9, 90, 9) }
  body { font-family: monospace }
  body .top { background: var(--brand); padding: 20px }
  .top h1 { font-size: 50px }
  .top h1::after { content: "!" }
  @media (max-width: 600px) { .top h1 { font-size: 20px } }
  .unused { color: red }
</style></head>
<body><div class="page"><header class="top"><h1>Bold</h1></header></div></body></html>
"""
LOOK = """() => {
  const of = (selector) => getComputedStyle(document.querySelector(selector));
  return {
    heading: of("header h1").fontSize, ground: of("header").backgroundColor, pad: of("header").paddingTop,
    font: of("header").fontFamily, mark: getComputedStyle(document.querySelector("header h1"), "::after").content,
    other: of("p").paddingTop, otherGround: of("p").backgroundColor, title: document.querySelector("h1").textContent,
  };
}"""


def writes(page: str) -> Script:
    turns: list[Any] = [[S.call("create_file", path="index.html", content=page)], "Done."]
    return lambda: S(turns)


async def test_the_header_of_one_variant_replaces_that_of_another(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"plain": writes(PLAIN), "bold": writes(BOLD)}) as shop:
        project = await shop.project(stack="html_css", models=["plain", "bold"], variants=2)
        version = (await shop.over(project["id"]))["versions"][0]["id"]
        path = f"/projects/{project['id']}/versions/{version}/variants/0/parts"
        body = {
            "path": "body > header",
            "source": {"version": version, "variant": 1},
            "source_path": "body > div > header",
        }
        made = await shop.ask("POST", path, 201, **body)
        assert (made["kind"], made["number"]) == ("edit", 2)
        address = f"/projects/{project['id']}/versions/{made['id']}/variants/0/files/index.html"
        page = (await shop.read(address)).decode()
        assert "unused" not in page
        assert "Words of the first page" in page
        rendering = await shared_browser().render(serve_files({"index.html": page}), probe=LOOK)
        assert rendering.probed == {
            "heading": "50px",
            "ground": "rgb(9, 90, 9)",
            "pad": "20px",
            "font": "monospace",
            "mark": '"!"',
            "other": "0px",
            "otherGround": "rgba(0, 0, 0, 0)",
            "title": "Bold",
        }
        state = await shop.ask("GET", f"/projects/{project['id']}")
        assert state["undo"]["text"] == "header of variant 2 on variant 1"
        await shop.ask("POST", path, 400, **body | {"source_path": "body > nav"})
