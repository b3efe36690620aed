"""The cause of an element over HTTP: its place in the picture, its lines, and the event, model and request of each."""

from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

from studio_parts import atelier

from heald.core.json import loads
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import Viewport, serve_files
from serving_parts import S, Script

DESIGN = """<!doctype html><html lang="en"><head><style>
body { margin: 0; font: 16px/1.5 Arial, sans-serif }
h1 { margin: 90px 0 0 300px; font-size: 40px }
p { margin: 60px 0 0 40px }
</style></head><body><h1>Harbour tours</h1><p>Boats leave every morning at eight.</p></body></html>"""
PAGE = """<!doctype html>
<html lang="en"><head><title>Harbour</title>
<style>
  h1 {
    font-size: 28px;
  }
</style></head>
<body>
  <h1>Harbour tours</h1>
  <p>Boats leave every morning at eight.</p>
</body></html>
"""


def builder() -> Script:
    turns: list[Any] = [[S.call("create_file", path="index.html", content=PAGE)], "Built."]
    return lambda: S(turns)


def changer() -> Script:
    page = PAGE.replace("at eight.", "at nine.")
    turns: list[Any] = [[S.call("create_file", path="index.html", content=page)], "Changed."]
    return lambda: S(turns)


async def test_an_element_names_its_rectangle_its_lines_and_who_wrote_them(tmp_path: Path) -> None:
    rendering = await shared_browser().render(serve_files({"index.html": DESIGN}), viewport=Viewport(800, 400))
    target = f"data:image/png;base64,{b64encode(rendering.picture).decode()}"
    async with atelier(tmp_path, {"builds": builder(), "changes": changer()}) as shop:
        prompt = {"text": "Build it", "images": [{"data": target, "kind": "page", "scale": 1}]}
        project = await shop.project(prompt=prompt, stack="html_css", models=["builds"], variants=1)
        path = f"/projects/{project['id']}"
        first = (await shop.over(project["id"]))["versions"][0]
        base = {"version": first["id"], "variant": 0}
        update = {"kind": "update", "base": base, "prompt": {"text": "Leave at nine"}, "models": ["changes"]}
        second = await shop.ask("POST", f"{path}/versions", 201, **update)
        await shop.over(project["id"])
        edit = {
            "kind": "element",
            "base": {"version": second["id"], "variant": 0},
            "path": "body > h1",
            "text": "Tours",
        }
        third = await shop.ask("POST", f"{path}/versions", 201, **edit)

        async def cause(version: str, selector: str, status: int = 200) -> dict[str, Any]:
            address = f"{path}/versions/{version}/variants/0/cause?path={quote(selector)}"
            return loads(await shop.read(address, status))

        heading = await cause(second["id"], "body > h1")
        assert (heading["tag"], heading["text"]) == ("h1", "Harbour tours")
        place = heading["place"]
        assert (place["found_by"], place["likeness"], place["width"]) == ("text", 1.0, 800)
        x, y, w, h = place["rect"]
        assert abs(x - 300) < 4
        assert 85 < y < 105
        assert (230 < w < 270, 35 < h < 55) == (True, True)
        markup, rule = heading["lines"]
        assert [line["number"] for line in markup["lines"]] == [9]
        assert (rule["kind"], rule["file"]) == ("style", "index.html")
        assert [line["text"].strip() for line in rule["lines"]] == ["h1 {", "font-size: 28px;", "}"]
        (writing,) = heading["writings"]
        assert (writing["author"], writing["model"], writing["tool"]) == ("model", "builds", "create_file")
        assert (writing["request"], writing["number"], writing["version"]) == ("Build it", 1, first["id"])
        log = await shop.log(writing["session"])
        event = next(event for event in log if event.seq == writing["seq"])
        assert (event.type, event.exchange) == ("file_changed", writing["exchange"])

        paragraph = await cause(second["id"], "body > p")
        (writing,) = paragraph["writings"]
        assert (writing["model"], writing["request"], writing["number"]) == ("changes", "Leave at nine", 2)
        assert paragraph["place"]["found_by"] == "text"
        assert abs(paragraph["place"]["rect"][0] - 40) < 4

        edited = await cause(third["id"], "body > h1")
        assert [(writing["author"], writing["kind"]) for writing in edited["writings"]] == [
            ("person", "edit"),
            ("model", "create"),
        ]
        assert edited["writings"][0]["seq"] == 0

        await cause(third["id"], "body > nav", 404)
        await cause("missing", "body > h1", 404)


async def test_without_a_picture_there_is_no_rectangle(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"builds": builder()}) as shop:
        project = await shop.project(prompt={"html": PAGE}, stack="html_css")
        version = project["versions"][0]["id"]
        answer = loads(
            await shop.read(f"/projects/{project['id']}/versions/{version}/variants/0/cause?path={quote('body > p')}")
        )
        assert answer["place"] is None
        assert [line["number"] for part in answer["lines"] for line in part["lines"]] == [10]
        assert [(writing["author"], writing["kind"]) for writing in answer["writings"]] == [("person", "import")]


async def test_a_page_that_the_variant_lacks_is_not_found(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"builds": builder()}) as shop:
        project = await shop.project(prompt={"html": PAGE}, stack="html_css")
        version = project["versions"][0]["id"]
        path = f"/projects/{project['id']}/versions/{version}/variants/0/cause?path=body&page=other.html"
        assert loads(await shop.read(path, 404))["error"]["code"] == "not_found"
