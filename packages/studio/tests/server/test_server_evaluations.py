"""The evaluation pages of a design page: runs on pictures, results side by side, requests and their differences."""

import asyncio
from pathlib import Path
from typing import Any

from PIL import Image
from studio_parts import Atelier, atelier, page, writer

from heald.core.errors import InvalidRequest
from heald.core.json import loads
from heald_studio.prompt.compare_requests import compare_inputs
from serving_parts import OTHER, S


def _pictures(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    for name in ("a.png", "deep/b.png", ".hidden.png"):
        Image.new("RGB", (320, 200), "white").save(folder / name)
    (folder / "notes.txt").write_text("no picture")
    return folder


async def _run(server: Atelier, **body: Any) -> list[dict[str, Any]]:
    async with server.client.post("/run_evals_stream", json={"stack": "html_css"} | body) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.content_type == "application/x-ndjson"
        return [loads(line) async for line in answer.content]


async def test_a_run_makes_projects_and_a_folder_of_results(tmp_path: Path) -> None:
    def out_of_order(_: object) -> str:
        raise InvalidRequest("Out of order.")

    broken = lambda: S([out_of_order])  # noqa: E731
    scripts = {"one": writer("One"), "two": writer("Two"), "broken": broken}
    async with atelier(tmp_path, scripts, eval_pictures=_pictures(tmp_path / "shots")) as server:
        files = [entry["path"] for entry in await server.ask("GET", "/eval_input_files")]  # pyright: ignore[reportArgumentType]
        assert files == ["a.png", "deep/b.png"]
        events = await _run(server, models=["one", "broken"], files=files)
        assert events[0] | {"type": "start", "total_tasks": 4, "total_skipped_existing": 0} == events[0]
        assert [entry["model"] for entry in events if entry["type"] == "model_start"] == ["one", "broken"]
        done = [entry for entry in events if entry["type"] == "task_complete"]
        assert [entry["success"] for entry in done] == [True, True, False, False]
        assert "Out of order." in done[-1]["error"]
        assert [entry["global_completed_tasks"] for entry in done] == [1, 2, 3, 4]
        assert events[-1]["type"] == "complete"
        second = await _run(server, models=["one", "two"], files=files, diff_mode=True)
        assert (second[0]["total_tasks"], second[0]["total_skipped_existing"]) == (2, 2)
        folders = {entry["name"].split()[1]: entry["path"] for entry in await server.ask("GET", "/output_folders")}  # pyright: ignore
        assert set(folders) == {"one", "two", "broken"}
        comparison = await server.ask("GET", f"/best-of-n-evals?folder1={folders['one']}&folder2={folders['two']}")
        assert [name.split()[1] for name in comparison["folder_names"]] == ["one", "two"]
        for entry in comparison["evals"]:
            assert entry["input"].startswith("data:image/png;base64,")
            assert [title in html for title, html in zip(("One", "Two"), entry["outputs"], strict=True)] == [True, True]
        assert len(comparison["evals"]) == 2
        projects = (await server.ask("GET", "/projects"))["projects"]
        assert len(projects) == 6
        for project in projects:
            await server.ask("DELETE", f"/projects/{project['id']}", 204)
        assert (await server.ask("GET", f"/best-of-n-evals?folder1={folders['one']}"))["evals"] == []
        assert (await _run(server, models=["one"], diff_mode=True))[0]["total_tasks"] == 2


async def test_wrong_runs_are_refused_and_results_have_an_owner(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        for body in (
            {"models": ["none"], "stack": "html_css"},
            {"models": ["one"], "stack": "none"},
            {"models": ["one"], "stack": "html_css", "files": ["../secret.png"]},
        ):
            refused = await server.ask("POST", "/run_evals_stream", 400, **body)
            assert refused["error"]["message"].endswith(".")
        await _run(server, models=["one"], files=["login.png"])
        (folder,) = loads(await server.read("/output_folders"))
        assert (await server.ask("GET", "/sessions"))["sessions"] == []
        headers = {"Authorization": f"Bearer {OTHER}"}
        async with server.client.get("/output_folders", headers=headers) as answer:
            assert await answer.json() == []
        async with server.client.get(f"/best-of-n-evals?folder1={folder['path']}", headers=headers) as answer:
            assert answer.status == 404
        assert "html_tailwind" in [stack["name"] for stack in (await server.ask("GET", "/studio"))["stacks"]]


async def test_a_client_that_disconnects_stops_its_run(tmp_path: Path) -> None:
    slow = lambda: S([[S.call("create_file", path="index.html", content=page("x") * 400)], "Done."], pause=0.05)  # noqa: E731
    async with atelier(tmp_path, {"slow": slow}) as server:
        body = {"models": ["slow"], "stack": "html_css"}
        async with server.client.post("/run_evals_stream", json=body) as answer:
            assert loads(await answer.content.readline())["type"] == "start"
            async with asyncio.timeout(120):
                while not (await server.ask("GET", "/projects"))["projects"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            answer.close()
        async with asyncio.timeout(120):
            while True:
                projects = (await server.ask("GET", "/projects"))["projects"]
                states = {
                    project["versions"][0]["variants"][0]["status"] for project in projects if project["versions"]
                }
                if states == {"cancelled"}:
                    break
                await asyncio.sleep(0.1)
        assert len(projects) <= 2, "the third picture was not begun"


async def test_requests_of_variants_are_reported(tmp_path: Path) -> None:
    async with atelier(tmp_path, {"one": writer("One")}) as server:
        project = await server.project("A bakery", variants=1)
        await server.over(project["id"])
        listing = await server.ask("GET", "/prompt-reports")
        assert [report["turn"] for report in listing["reports"]] == [1, 2]
        assert listing["total_size_bytes"] == sum(report["size_bytes"] for report in listing["reports"])
        second = await server.ask("GET", f"/prompt-reports/content?filename={listing['reports'][1]['filename']}")
        assert (second["model"], second["turn"]) == ("one", 2)
        roles = [message["role"] for message in second["request"]["messages"]]
        assert roles == ["user", "assistant", "tool"]
        assert "A bakery" in str(second["request"]["messages"][0])
        assert second["usage"]["total_tokens"] == second["usage"]["input_tokens"] + second["usage"]["output_tokens"]
        missing = await server.ask("GET", "/prompt-reports/content?filename=none.1.json", 404)
        assert missing["detail"] == missing["error"]["message"]
        assert await server.ask("POST", "/prompt-reports/prune", max_age_days=7) == {
            "deleted_count": 0,
            "freed_bytes": 0,
        }
        refused = await server.ask("POST", "/openai-input-compare", 400, left_json="[]", right_json="{")
        assert refused["detail"] == "The right side is not valid JSON; paste a request, or its input."


def test_the_first_difference_of_two_inputs() -> None:
    same = '{"role": "user", "content": [{"type": "text", "text": "Hello"}]}'
    other = '{"role": "user", "content": [{"type": "text", "text": "Bye"}, 1]}'
    comparison = compare_inputs(f'{{"input": [{same}, {same}]}}', f'{{"messages": [{same}, {other}]}}')
    assert comparison.common_prefix_items == 1
    assert comparison.difference is not None
    assert comparison.difference.path == "input[1].content[0].text"
    assert (comparison.difference.left_value, comparison.difference.right_value) == ("Hello", "Bye")
    assert compare_inputs(f"[{same}]", f"[{same}]").difference is None
    longer = compare_inputs(f"[{same}]", f"[{same}, {other}]").difference
    assert longer is not None
    assert (longer.item_index, longer.left_value) == (1, None)
