"""Edits of several elements over HTTP: one version each, with its description, which undo takes back."""

from pathlib import Path
from typing import Any

import heald
from heald.sessions.sqlite import SqliteStore
from serving_parts import S, Served, context_on, serving

PAGE = """<!doctype html>
<html lang="en"><head><title>Harbour</title><style>
h1 { color: #102030; }
</style></head>
<body>
<h1>Harbour</h1>
<p>Open today</p>
<p>Closed on Monday</p>
</body></html>
"""


def _nobody() -> heald.testing.ScriptedModel:
    return S([])


async def _ask(server: Served, method: str, path: str, status: int, /, **body: Any) -> dict[str, Any]:
    async with server.client.request(method, path, json=body) as answer:
        assert answer.status == status, await answer.text()
        return await answer.json()


def _change(path: str, **change: Any) -> dict[str, Any]:
    return {"element": {"path": f"body > {path}"}, **change}


async def test_elements_are_edited_together_and_undone(tmp_path: Path) -> None:
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), {"one": _nobody})) as server:
        project = await _ask(server, "POST", "/projects", 201, prompt={"html": PAGE}, stack="html_css")
        path = f"/projects/{project['id']}"
        base = {"version": project["versions"][0]["id"], "variant": 0}

        async def edit(*changes: dict[str, Any], **body: Any) -> str:
            request = {"kind": "elements", "base": base, "changes": changes, **body}
            version = await _ask(server, "POST", f"{path}/versions", 201, **request)
            base["version"] = version["id"]
            async with server.client.get(f"{path}/versions/{version['id']}/variants/0/files/index.html") as file:
                return await file.text()

        coloured = PAGE.replace("#102030", "#b00020").replace("<p>Open", '<p style="color: #b00020">Open')
        style = {"color": "#b00020"}
        changes = (_change("h1", style=style, rules={"color": "h1"}), _change("p:nth-of-type(1)", style=style))
        assert await edit(*changes) == coloured
        assert (await _ask(server, "GET", path, 200))["undo"]["text"] == "edit of 2 elements (color)"
        target = {"path": "body > h1"}
        lines = "<h1>Harbour</h1>\n", "<p>Closed on Monday</p>\n"
        moved = coloured.replace(lines[1], "").replace(lines[0], lines[1] + lines[0])
        assert await edit(_change("p:nth-of-type(2)", move={"target": target, "place": "before"})) == moved
        phone = await edit(_change("h1", style={"padding": "8px"}, rules={"padding": "h1"}), width=375, below=640)
        query = "@media (max-width: 639px) {\n    h1 { padding: 8px; }\n  }\n"
        assert phone == moved.replace("#b00020; }\n", f"#b00020; }}\n  {query}")
        undone = await _ask(server, "POST", f"{path}/undo", 200)
        assert undone["undo"]["text"] == "edit of p (order)"
        refusal = {"kind": "elements", "base": base, "changes": [_change("nav", style=style)]}
        refused = await _ask(server, "POST", f"{path}/versions", 400, **refusal)
        assert "describe the change in words." in str(refused)
