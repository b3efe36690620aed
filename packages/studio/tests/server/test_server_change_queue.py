"""Changes that wait on the server for the variant that they change."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import heald
from heald.sessions.sqlite import SqliteStore
from serving_parts import S, Script, Served, context_on, serving

_PAGE = "<!doctype html>\n<html><head><title>Page</title></head><body><h1>Page</h1></body></html>\n"


def _writes(pause: float = 0.0) -> heald.testing.ScriptedModel:
    return S([[S.call("create_file", path="index.html", content=_PAGE)], "Built."], piece=8, pause=pause)


async def _call(server: Served, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    async with server.client.request(method, path, json=body) as answer:
        assert answer.status == status, await answer.text()
        return await answer.json()


async def _until(server: Served, project: str, is_reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while True:
            state = await _call(server, "GET", f"/projects/{project}")
            if is_reached(state):
                return state
            await asyncio.sleep(0.05)


def _change(state: dict[str, Any], text: str, model: str = "quick") -> dict[str, Any]:
    base = {"version": state["versions"][0]["id"], "variant": 0}
    return {"kind": "update", "base": base, "prompt": {"text": text}, "models": [model], "variants": 1}


def _is_idle(state: dict[str, Any]) -> bool:
    statuses = [variant["status"] for version in state["versions"] for variant in version["variants"]]
    return not state["queue"] and not {"queued", "running"} & set(statuses)


async def test_changes_wait_on_the_server_and_are_made_one_after_the_other(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"slow": lambda: _writes(5.0), "quick": _writes}
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        made = await _call(server, "POST", "/projects", {"prompt": {"text": "a page"}, "models": ["slow"]}, 201)
        queue = f"/projects/{made['id']}/queue"
        waiting = [await _call(server, "POST", queue, _change(made, text), 201) for text in ("one", "two", "three")]
        state = await _call(server, "GET", f"/projects/{made['id']}")
        assert [(change["text"], change["status"]) for change in state["queue"]] == [
            ("one", "waiting"),
            ("two", "waiting"),
            ("three", "waiting"),
        ]
        stored = await _call(server, "GET", f"{queue}/{waiting[1]['id']}")
        assert stored["prompt"]["text"] == "two"
        left = await _call(server, "DELETE", f"{queue}/{waiting[1]['id']}")
        assert [change["text"] for change in left["queue"]] == ["one", "three"]
        first = made["versions"][0]["id"]
        await _call(server, "POST", f"/projects/{made['id']}/versions/{first}/variants/0/cancel")
        state = await _until(server, made["id"], _is_idle)
        assert [version["text"] for version in state["versions"]] == ["a page", "one", "three"]
        _, second, third = state["versions"]
        assert [second["base"]["version"], third["base"]["version"]] == [first, second["id"]]
        assert [second["queued"], third["queued"]] == [waiting[0]["id"], waiting[2]["id"]]


async def test_another_process_sends_what_waits(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    scripts: dict[str, Script] = {"slow": lambda: _writes(5.0), "quick": _writes}
    async with serving(context_on(SqliteStore(path, durable=False), scripts)) as server:
        made = await _call(server, "POST", "/projects", {"prompt": {"text": "a page"}, "models": ["slow"]}, 201)
        await _call(server, "POST", f"/projects/{made['id']}/queue", _change(made, "one"), 201)
    scripts = {"slow": _writes, "quick": _writes}
    async with serving(context_on(SqliteStore(path, durable=False), scripts)) as server:
        state = await _until(server, made["id"], _is_idle)
        assert [version["text"] for version in state["versions"]] == ["a page", "one"]


async def test_a_change_that_fails_stays_with_those_behind_it(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"quick": _writes}
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        made = await _call(server, "POST", "/projects", {"prompt": {"text": "a page"}, "models": ["quick"]}, 201)
        await _until(server, made["id"], _is_idle)
        queue = f"/projects/{made['id']}/queue"
        broken = _change(made, "one") | {"prompt": {"text": "one", "images": [{"data": "data:image/png;base64,AAAA"}]}}
        change = await _call(server, "POST", queue, broken, 201)
        await _call(server, "POST", queue, _change(made, "two"), 201)
        state = await _until(server, made["id"], lambda now: now["queue"][0]["status"] == "failed")
        assert state["queue"][0]["reason"]
        assert state["queue"][1]["status"] == "waiting"
        assert len(state["versions"]) == 1
        await _call(server, "POST", f"{queue}/{change['id']}/send")
        await _until(server, made["id"], lambda now: now["queue"][0]["status"] == "failed")
        await _call(server, "DELETE", f"{queue}/{change['id']}")
        state = await _until(server, made["id"], _is_idle)
        assert [version["text"] for version in state["versions"]] == ["a page", "two"]
        await _call(server, "DELETE", f"{queue}/{change['id']}", status=404)
