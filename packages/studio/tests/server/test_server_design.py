"""Design systems over HTTP: read from files and folders, inherited by every variant, changed, undone and scored."""

import io
import zipfile
from pathlib import Path
from typing import Any

from studio_parts import atelier

from serving_parts import S, Script

PAGE = """<!doctype html><html lang="en"><head><title>Tours</title></head>
<body style="margin: 0; color: #0f766e"><h1 style="margin: 0; color: #ff0000">Tours</h1><p style="margin: 0">Boats</p>
</body></html>"""
SHEET = ":root { --brand: #0f766e; --page: #ffffff }"


def writes(requests: list[Any]) -> Script:
    turns: list[Any] = [[S.call("create_file", path="index.html", content=PAGE)], "Done."]

    def start() -> S:
        script = S(turns)
        requests.append(script)
        return script

    return start


async def test_a_design_is_inherited_corrected_undone_and_scored(tmp_path: Path) -> None:
    scripts: list[S] = []
    async with atelier(tmp_path, {"one": writes(scripts)}) as shop:
        read = await shop.ask("POST", "/studio/design", files={"app.css": SHEET}, name="Tours")
        assert read["name"] == "Design system of Tours"
        assert read["tokens"][0] == {"kind": "color", "name": "--brand", "value": "#0f766e", "mode": ""}
        project = await shop.project(stack="html_css", models=["one"], variants=1, design_system=read["text"])
        design = f"/projects/{project['id']}/design"
        version = (await shop.over(project["id"]))["versions"][0]["id"]
        assert "- `--brand`: #0f766e" in scripts[-1].requests[0].settings.system
        assert (await shop.ask("GET", design))["text"] == read["text"].strip()

        score = f"/projects/{project['id']}/versions/{version}/variants/0/design"
        before = await shop.ask("GET", score)
        assert before["kinds"] == [{"kind": "color", "kept": 1, "total": 2}]
        assert [(stray["value"], stray["path"]) for stray in before["strays"]] == [("#ff0000", "body > h1")]

        corrected = read["text"].replace("#ffffff", "#ff0000")
        changed = await shop.ask("PUT", design, text=corrected)
        assert [token["value"] for token in changed["tokens"]] == ["#0f766e", "#ff0000"]
        assert (await shop.ask("GET", score))["share"] == 1
        assert (await shop.read(f"{design}.md")).decode() == corrected.strip()
        export = await shop.read(f"/projects/{project['id']}/versions/{version}/variants/0/export")
        with zipfile.ZipFile(io.BytesIO(export)) as archive:
            name = next(name for name in archive.namelist() if name.endswith("design.md"))
            assert archive.read(name).decode() == corrected.strip()

        update = {"kind": "update", "base": {"version": version, "variant": 0}, "prompt": {"text": "More"}}
        await shop.ask("POST", f"/projects/{project['id']}/versions", 201, **update)
        await shop.over(project["id"])
        assert "- `--page`: #ff0000" in scripts[-1].requests[0].settings.system

        await shop.ask("PUT", design, text="")
        await shop.read(f"{design}.md", 404)
        await shop.read(score, 404)
        undone = await shop.ask("POST", f"/projects/{project['id']}/undo")
        assert undone["redo"]["text"] == "change of the design system"
        assert (await shop.ask("GET", design))["text"] == corrected.strip()


async def test_a_design_is_read_from_a_folder_of_the_server_and_not_from_private_addresses(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "app.css").write_text(SHEET)
    async with atelier(tmp_path, {"one": writes([])}) as shop:
        shop.context.workspaces = {"site": str(site)}
        read = await shop.ask("POST", "/studio/design", repository="site")
        assert [token["name"] for token in read["tokens"]] == ["--brand", "--page"]
        for body, status, words in (
            ({"repository": "other"}, 404, "no such folder"),
            ({"url": f"{shop.url}/health"}, 400, "not on the public internet"),
            ({"url": "file:///etc/passwd"}, 400, "begins with https://"),
            ({"url": "https://a.example", "repository": "site"}, 400, "one of url, repository and files"),
            ({"files": {"a.css": "p { color: red }"}}, 400, "a.css has no Tailwind configuration"),
        ):
            answer = await shop.ask("POST", "/studio/design", status, **body)
            assert words in answer["error"]["message"]
