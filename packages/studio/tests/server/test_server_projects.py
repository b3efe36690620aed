"""Projects over HTTP: several models build the same thing, each in a session of its own."""

import base64
import io
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

import heald
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from serving_parts import S, Script, Served, context_on, serving


def _page(title: str) -> heald.testing.ScriptedModel:
    page = f"<!doctype html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    return S([["I see a page. ", S.call("create_file", path="index.html", content=page)], "Built."], piece=16)


def _picture() -> str:
    out = io.BytesIO()
    Image.new("RGB", (320, 200), "white").save(out, "PNG")
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"


async def _project(server: Served, **body: Any) -> dict[str, Any]:
    async with server.client.post("/projects", json=body) as answer:
        assert answer.status == 201, await answer.text()
        return await answer.json()


async def _done(server: Served, project: str) -> dict[str, Any]:
    async with server.client.get(f"/projects/{project}/events") as stream:
        async for line in stream.content:
            if not line.startswith(b"data: "):
                continue
            state = loads(line[6:])["project"]
            variants = [variant for version in state["versions"] for variant in version["variants"]]
            if variants and all(variant["status"] not in ("queued", "running") for variant in variants):
                return state
    raise AssertionError("the stream ended first")


async def test_variants_build_a_picture_and_a_change_goes_on_from_one(tmp_path: Path):
    scripts: dict[str, Script] = {"one": lambda: _page("One"), "two": lambda: _page("Two")}
    context = context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)
    async with serving(context) as server:
        made = await _project(
            server, prompt={"images": [{"data": _picture()}]}, stack="html_css", models=["one", "two"], variants=3
        )
        state = await _done(server, made["id"])
        version = state["versions"][0]
        assert [variant["model"] for variant in version["variants"]] == ["one", "two", "one"]
        assert {variant["status"] for variant in version["variants"]} == {"completed"}
        at = f"/projects/{made['id']}/versions/{version['id']}/variants"
        async with server.client.get(f"{at}/1/files/index.html") as answer:
            assert b"<h1>Two</h1>" in await answer.read()
        async with server.client.get(version["variants"][1]["preview"], headers={"Authorization": ""}) as answer:
            assert b"<h1>Two</h1>" in await answer.read()
            assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts;")
        async with server.client.get(f"{at}/0/export?format=zip") as answer:
            names = zipfile.ZipFile(io.BytesIO(await answer.read())).namelist()
        assert any(name.endswith("index.html") for name in names)
        base = {"version": version["id"], "variant": 1}
        body = {"kind": "update", "base": base, "prompt": {"text": "Larger."}, "models": ["one"], "variants": 1}
        async with server.client.post(f"/projects/{made['id']}/versions", json=body) as answer:
            assert answer.status == 201, await answer.text()
            second = await answer.json()
        assert second["base"] == base
        state = await _done(server, made["id"])
        assert [listed["number"] for listed in state["versions"]] == [1, 2]
        edit = {"kind": "edit", "base": base, "files": {"index.html": "<h1>Mine</h1>"}}
        async with server.client.post(f"/projects/{made['id']}/versions", json=edit) as answer:
            third = await answer.json()
        async with server.client.get(third["variants"][0]["preview"]) as answer:
            assert b"<h1>Mine</h1>" in await answer.read()
        async with server.client.delete(f"/projects/{made['id']}") as answer:
            assert answer.status == 204
