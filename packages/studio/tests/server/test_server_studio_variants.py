"""Variants beside each other: one is stopped for good, nobody who leaves stops any, and a restart loses none."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

from studio_parts import Atelier, atelier, model_at, page, variants_of, writer

from heald.core.messages import ToolCall
from heald.testing.server import Hang, Pause, ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_stream
from serving_parts import S, Script


def _endpoint(pause: float) -> ScriptedServer:
    """Answers `hang` for ever, and anything else after a while."""
    call = ToolCall(id="call_1", name="create_file", input={"path": "index.html", "content": page("There")})

    def answer(request: ReceivedRequest) -> Reply:
        if request.body["messages"][-1]["role"] == "tool":
            return Reply(wire_stream("chat", text="Built."))
        pieces = wire_stream("chat", text=["Let me ", "see."], calls=[call])
        return Reply([*pieces[:3], Hang()] if pause < 0 else [*pieces[:3], Pause(pause), *pieces[3:]])

    return ScriptedServer(answer)


async def _all_speak(server: Atelier, project: str) -> None:
    """Wait until the model of every variant has answered something."""
    async with asyncio.timeout(120), aclosing(server.states(project)) as states:
        async for state in states:
            if all(variant["status"] == "running" for variant in variants_of(state)):
                break
    for variant in variants_of(await server.ask("GET", f"/projects/{project}")):
        async with server.client.get(f"/sessions/{variant['session']}/events") as stream:
            async for line in stream.content:
                if line.startswith(b"event: text_delta"):
                    break


async def test_cancelling_one_closes_its_connection_and_no_other(tmp_path: Path) -> None:
    async with _endpoint(-1) as hanging, _endpoint(2.5) as slow:
        scripts: dict[str, Script] = {"hanging": lambda: model_at(hanging), "slow": lambda: model_at(slow)}
        async with atelier(tmp_path, scripts) as server:
            made = await server.project(models=["hanging", "slow", "slow"], variants=3)
            await _all_speak(server, made["id"])
            version = made["versions"][0]["id"]
            await server.ask("POST", f"/projects/{made['id']}/versions/{version}/variants/0/cancel")
            await asyncio.wait_for(hanging.requests[0].closed_early.wait(), 60)
            assert not any(request.closed_early.is_set() for request in slow.requests)
            state = await server.over(made["id"])
            assert [variant["status"] for variant in variants_of(state)] == ["cancelled", "completed", "completed"]
            assert not any(request.closed_early.is_set() for request in slow.requests)
            await server.check(state)
            for number in (1, 2):
                at = f"/projects/{made['id']}/versions/{version}/variants/{number}/files/index.html"
                assert await server.read(at) == page("There").encode()


async def test_anyone_who_disconnects_stops_nothing(tmp_path: Path) -> None:
    async with _endpoint(1.0) as slow, atelier(tmp_path, {"slow": lambda: model_at(slow)}) as server:
        made = await server.project(models=["slow"], variants=2)
        async with aclosing(server.states(made["id"])) as states:  # the project's stream
            await anext(states)
        async with server.client.ws_connect("/ws") as socket:  # and the socket
            await socket.send_json({"type": "subscribe", "project": made["id"]})
            for variant in variants_of(made):
                await socket.send_json({"type": "subscribe", "session": variant["session"]})
            await socket.receive()
        state = await server.over(made["id"])
        assert [variant["status"] for variant in variants_of(state)] == ["completed", "completed"]
        assert not any(request.closed_early.is_set() for request in slow.requests)


async def test_deleting_a_project_ends_what_runs(tmp_path: Path) -> None:
    async with _endpoint(-1) as hanging, atelier(tmp_path, {"hanging": lambda: model_at(hanging)}) as server:
        made = await server.project(models=["hanging"], variants=2)
        await _all_speak(server, made["id"])
        async with server.client.get(f"/projects/{made['id']}/events") as watching:
            await watching.content.readline()
            await server.ask("DELETE", f"/projects/{made['id']}", 204)
            for request in hanging.requests:
                await asyncio.wait_for(request.closed_early.wait(), 60)
            await asyncio.wait_for(watching.content.read(), 60)  # the stream of a reader ends
        await server.ask("GET", f"/projects/{made['id']}", 404)
        for variant in variants_of(made):
            await server.read(f"/sessions/{variant['session']}", 404)


async def test_after_a_restart_every_variant_has_its_outcome(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {
        "quick": writer("Quick"),
        "slow": lambda: S([["It takes a while. " * 500]], piece=4, pause=0.02),
    }
    after: dict[str, Script] = scripts | {"slow": lambda: S([["It takes a while. " * 500]], piece=400)}
    async with atelier(tmp_path, scripts) as server:
        made = await server.project(models=["quick", "slow"])
        async with asyncio.timeout(120), aclosing(server.states(made["id"])) as states:
            async for state in states:
                if [variant["status"] for variant in variants_of(state)] == ["completed", "running"]:
                    break
    async with atelier(tmp_path, after) as server:
        state = await server.over(made["id"])  # what was interrupted goes on by itself
        quick, slow = variants_of(state)
        assert quick["status"] == "completed"
        assert slow["status"] == "failed"  # it wrote no page
        assert slow["ended"] is not None
        await server.check(state)
        version = state["versions"][0]["id"]
        retried = await server.ask("POST", f"/projects/{made['id']}/versions/{version}/variants/0/retry", 201)
        state = await server.over(made["id"])
        assert [version_state["id"] for version_state in state["versions"]] == [retried["id"]]
        assert variants_of(state)[0]["status"] == "completed"
        assert variants_of(state)[0]["session"] != quick["session"]


async def test_all_that_can_be_done_with_a_variant_over_http(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"one": writer("One"), "two": writer("Two")}
    async with atelier(tmp_path, scripts) as server:
        made = await server.project(models=["one", "two"], stack="html_css")
        state = await server.over(made["id"])
        first = state["versions"][0]
        at = f"/projects/{made['id']}/versions/{first['id']}/variants"
        chosen = await server.ask("POST", f"{at}/1/choose")
        assert chosen["chosen"] == 1
        retried = await server.ask("POST", f"{at}/1/retry", 201)
        await server.over(made["id"])
        assert retried["id"] == first["id"]
        base: dict[str, Any] = {"version": retried["id"], "variant": 1}
        back = await server.ask("POST", f"/projects/{made['id']}/versions", 201, kind="restore", base=base)
        assert back["variants"][0]["status"] == "completed"
        listed = await server.ask("GET", f"{at}/0/files")
        assert listed["files"] == [{"path": "index.html", "size": len(page("One")), "text": True}]
        diff = await server.ask("GET", f"{at}/0/diff?against={back['id']}.0")
        assert "-<!doctype" not in diff["files"][0]["diff"]
        assert "One" in diff["files"][0]["diff"]
        html = await server.read(f"{at}/1/export?format=html")
        assert b"<h1>Two</h1>" in html
        for path, status in [("/7/files", 404), ("/x/files", 404), ("/0/files/none.css", 404)]:
            await server.read(at + path, status)
        await server.ask("POST", f"/projects/{made['id']}/versions", 400, kind="edit", base=base, files={"../x": "y"})
        state = await server.ask("GET", f"/projects/{made['id']}")
        assert [version["kind"] for version in state["versions"]] == ["create", "restore"]
        renamed = await server.ask("PATCH", f"/projects/{made['id']}", title="Harbour")
        assert renamed["title"] == "Harbour"
        await server.check(state)
