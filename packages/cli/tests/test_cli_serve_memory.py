"""The memory of sessions in a folder of `heald serve`: its routes, and each owner's own facts."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import heald_server
from cli_bench import started
from cli_pages import here
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply


@asynccontextmanager
async def serving(model: ScriptedServer, tmp_path: Path) -> AsyncGenerator[dict[str, Any]]:
    place = ["--model", "m", "--base-url", f"{model.url}/v1", "--workspace", ".", "--data", str(tmp_path / "data")]
    async with started("serve", "--port", "0", "--no-open", "--json", *place) as process:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            yield json.loads(await process.stdout.readline())
        process.terminate()
        await asyncio.wait_for(process.communicate(), 60)


async def call(ready: dict[str, Any], method: str, path: str, body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {ready['token']}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{ready['url']}/sessions{path}", data, headers, method=method)

    def send() -> Any:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code

    return await asyncio.to_thread(send)


def answer(_: Any) -> Reply:
    return wire_reply("chat", text="It is noted.")


async def test_facts_of_a_folder_are_listed_changed_and_undone(tmp_path: Path) -> None:
    async with ScriptedServer(answer) as model, serving(model, tmp_path) as ready:
        folder = here(".").resolve().name
        session = (await call(ready, "POST", "", {"workspace": folder}))["id"]
        async with heald_server.connect(ready["url"], ready["token"], session=session) as agent:
            await agent.run("Remember that releases are cut on Tuesdays.")
        memory = await call(ready, "GET", f"/{session}/memory")
        assert [(fact["id"], fact["text"]) for fact in memory["facts"]] == [("f1", "Releases are cut on Tuesdays.")]
        assert memory["facts"][0]["evidence"] == [{"session": session, "seq": 1}]
        other = (await call(ready, "POST", "", {"workspace": folder}))["id"]
        async with heald_server.connect(ready["url"], ready["token"], session=other) as agent:
            await agent.run("Hello")
        assert "Releases are cut on Tuesdays. [f1]" in str(model.requests[-1].body["messages"][0])
        added = await call(ready, "POST", f"/{other}/memory", {"text": "The port is 7431."})
        assert (added["id"], added.get("evidence", [])) == ("f2", [])
        changed = await call(ready, "PATCH", f"/{other}/memory/f2", {"text": "The port is 9999."})
        assert changed["text"] == "The port is 9999."
        assert await call(ready, "POST", f"/{session}/rewind", {"seq": 0}) != 404
        memory = await call(ready, "GET", f"/{other}/memory")
        assert [fact["text"] for fact in memory["facts"]] == ["The port is 9999."]
        assert await call(ready, "DELETE", f"/{other}/memory/f1") == 404
        await call(ready, "DELETE", f"/{other}/memory/f2")
        assert (await call(ready, "GET", f"/{other}/memory"))["facts"] == []
        project = (await call(ready, "POST", "", {}))["id"]
        assert await call(ready, "GET", f"/{project}/memory") == {"facts": [], "enabled": False}
        assert await call(ready, "POST", f"/{project}/memory", {"text": "The port is 7431."}) == 409
