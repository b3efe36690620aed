"""Locks over HTTP: a change that alters what is locked is mended once by its model, then refused with the reason."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from studio_parts import variants_of

import heald
from heald.core.json import loads
from heald.sessions.sqlite import SqliteStore
from serving_parts import S, Script, Served, context_on, serving

PAGE = """<!doctype html>
<html lang="en"><head><title>Harbour</title><style>h1 { color: #102030; }</style></head>
<body><h1>Harbour</h1><p>Open today</p></body></html>
"""
BROKEN = PAGE.replace("<h1>Harbour</h1>", "<h1>Marina</h1>").replace("Open today", "Closed")
MENDED = PAGE.replace("Open today", "Closed")


def writes(*pages: str) -> Callable[[], heald.testing.ScriptedModel]:
    """A model that writes a page in each of its exchanges."""
    turns: list[Any] = []
    for page in pages:
        turns += [[S.call("create_file", path="index.html", content=page)], "Done."]
    return lambda: S(turns)


async def _ask(server: Served, method: str, path: str, status: int, /, **body: Any) -> dict[str, Any]:
    async with server.client.request(method, path, json=body) as answer:
        assert answer.status == status, await answer.text()
        return await answer.json()


async def _imported(server: Served) -> tuple[str, dict[str, Any]]:
    project = await _ask(server, "POST", "/projects", 201, prompt={"html": PAGE}, stack="html_css")
    return f"/projects/{project['id']}", {"version": project["versions"][0]["id"], "variant": 0}


async def _finished(server: Served, path: str) -> dict[str, Any]:
    async with server.client.get(f"{path}/events") as stream:
        async for line in stream.content:
            if line.startswith(b"data: "):
                state: dict[str, Any] = loads(line[6:])["project"]
                if all(variant["status"] not in ("queued", "running") for variant in variants_of(state)):
                    return state
    raise AssertionError("the stream ended first")


async def test_a_change_of_a_locked_element_is_mended_once_or_refused(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {
        "mends": writes(BROKEN, MENDED),
        "insists": writes(BROKEN, BROKEN, BROKEN),
        "obeys": writes(MENDED),
    }
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        path, base = await _imported(server)
        lock = await _ask(server, "POST", f"{path}/locks", 201, kind="element", base=base, path="body > h1")
        assert (lock["label"], lock["author"]) == ("the element <h1> “Harbour”", "person")
        update = {"kind": "update", "base": base, "prompt": {"text": "Say closed"}, "models": list(scripts)}
        await _ask(server, "POST", f"{path}/versions", 201, **update)
        state = await _finished(server, path)
        mends, insists, obeys = state["versions"][-1]["variants"]
        assert [variant["status"] for variant in (mends, insists, obeys)] == ["completed", "failed", "completed"]
        assert [variant["turns"] for variant in (mends, insists, obeys)] == [4, 4, 2]
        reason = "The element <h1> “Harbour” is locked, but its text is now “Marina”."
        assert insists["error"]["message"] == f"{reason} Unlock it first, or ask for another change."
        async with server.client.get(f"/sessions/{obeys['session']}/events?after=0") as events:
            assert await anext(line async for line in events.content if b"The person has locked these parts" in line)


async def test_direct_edits_respect_locks_until_they_are_removed(tmp_path: Path) -> None:
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), {"one": writes(PAGE)})) as server:
        path, base = await _imported(server)
        lock = await _ask(server, "POST", f"{path}/locks", 201, kind="text", base=base, text="Open today")
        edit = {"kind": "element", "base": base, "path": "body > p", "text": "Closed today"}
        refused = await _ask(server, "POST", f"{path}/versions", 409, **edit)
        assert "is locked, but its text is now “Closed today”" in str(refused)
        other = {"kind": "element", "base": base, "path": "body > h1", "text": "Marina"}
        await _ask(server, "POST", f"{path}/versions", 201, **other)
        project = await _ask(server, "DELETE", f"{path}/locks/{lock['id']}", 200)
        assert project["locks"] == []
        assert project["undo"]["text"] == "unlock of the text “Open today”"
        await _ask(server, "POST", f"{path}/versions", 201, **edit)
        await _ask(server, "DELETE", f"{path}/locks/{lock['id']}", 404)
        await _ask(server, "POST", f"{path}/locks", 400, kind="element", base=base, path="body > nav")
        await _ask(server, "POST", f"{path}/locks", 400, kind="file", base=base, file="missing.css")


async def test_a_lock_is_undone_and_done_again(tmp_path: Path) -> None:
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), {"one": writes(PAGE)})) as server:
        path, base = await _imported(server)
        await _ask(server, "POST", f"{path}/locks", 201, kind="file", base=base, file="index.html")
        edit = {"kind": "edit", "base": base, "files": {"index.html": MENDED}}
        await _ask(server, "POST", f"{path}/versions", 409, **edit)
        assert (await _ask(server, "POST", f"{path}/undo", 200))["locks"] == []
        redone = await _ask(server, "POST", f"{path}/redo", 200)
        assert [item["label"] for item in redone["locks"]] == ["the file index.html"]
        await _ask(server, "POST", f"{path}/versions", 409, **edit)


async def test_a_model_locks_what_must_stay(tmp_path: Path) -> None:
    locks = S.call("lock_part", kind="element", path="body > h1")
    turns: list[Any] = [[locks], [S.call("create_file", path="index.html", content=MENDED)], "Done."]
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), {"one": lambda: S(turns)})) as server:
        path, base = await _imported(server)
        update = {"kind": "update", "base": base, "prompt": {"text": "Keep the heading"}, "models": ["one"]}
        await _ask(server, "POST", f"{path}/versions", 201, **update)
        state = await _finished(server, path)
        assert [variant["status"] for variant in state["versions"][-1]["variants"]] == ["completed"]
        assert [(item["kind"], item["path"], item["author"]) for item in state["locks"]] == [
            ("element", "body > h1", "model")
        ]
