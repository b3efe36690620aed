"""The gallery over HTTP: a finished project becomes one's own and is changed by hand; no model is called."""

from pathlib import Path
from typing import Any

from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from serving_parts import S, Served, context_on, serving


def never() -> S:
    raise AssertionError("a model was opened")


async def _ask(server: Served, method: str, path: str, status: int, /, **body: Any) -> dict[str, Any]:
    async with server.client.request(method, path, json=body or None) as answer:
        assert answer.status == status, await answer.text()
        return loads(await answer.read())


async def test_a_finished_project_is_opened_and_changed_without_a_model(tmp_path: Path) -> None:
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), {"never": never})) as server:
        gallery = (await _ask(server, "GET", "/studio", 200))["gallery"]
        assert {"bakery", "habits"} <= {item["name"] for item in gallery}
        async with server.client.get(gallery[0]["thumbnail"]) as thumbnail:
            assert (thumbnail.status, thumbnail.content_type) == (200, "image/webp")
        project = await _ask(server, "POST", "/studio/gallery/bakery", 201)
        assert project["title"] == "Bakery site"
        [version] = project["versions"]
        pages = [page["path"] for page in version["variants"][0]["pages"]]
        assert pages == ["index.html", "menu.html", "visit.html"]
        base = {"version": version["id"], "variant": 0}
        change = {
            "kind": "element",
            "base": base,
            "path": "body > main > h1",
            "before": "Menu",
            "text": "Bread",
            "page": "menu.html",
        }
        changed = await _ask(server, "POST", f"/projects/{project['id']}/versions", 201, **change)
        assert changed["kind"] == "edit"
        other = await _ask(server, "POST", "/studio/gallery/bakery", 201)
        assert other["id"] != project["id"]  # each time a project of one's own
        missing = await _ask(server, "POST", "/studio/gallery/nothing", 404)
        assert "The gallery has no project of that name" in missing["error"]["message"]
