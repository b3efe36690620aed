"""What may be missing, what may be cancelled, and folders with traps in them: the rest still works."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

import heald
from heald.core.envelope import Event
from heald.core.messages import ToolResult
from heald.testing.server import Hang, Reply, ScriptedServer
from heald_check import check_log
from heald_local.see import models
from heald_local.see.detection_cache import clear_cache
from heald_studio.imaging.images import ImageMaker
from heald_studio.imaging.openai import OpenAIImages
from heald_studio.tools import context
from heald_studio.tools.family import studio_tools
from studio_tools_support import PAGE, call, design, finder, png, ran


def busy() -> bytes:
    picture = Image.effect_noise((160, 120), 90).convert("RGB")
    ImageDraw.Draw(picture).ellipse((40, 20, 120, 100), fill=(200, 30, 30))
    return png(picture)


async def test_no_package_is_needed_to_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    flat = png(design().crop((0, 0, 100, 60)))
    done = await ran(
        call("remove_background", paths=["busy.png", "flat.png"]), files={"busy.png": busy(), "flat.png": flat}
    )
    assert done.result.status == "ok"
    assert done.changed == ["busy-cutout.png", "flat-cutout.png"]
    assert "without a model (by its colours), which guesses" in done.result.text


async def test_without_the_models_large_pictures_are_still_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_folder", lambda: None)
    models._load.cache_clear()  # pyright: ignore[reportPrivateUsage]
    clear_cache()  # the picture may have been looked at before
    done = await ran(call("extract_assets"), find=finder([png(design())]))
    assert done.result.status == "ok"
    assert "Only large pictures were looked for. The models that read text are not installed" in done.result.text
    assert any(abs(done.picture(path).width - 300) <= 8 for path in done.changed)


async def test_cancelling_closes_the_connection_and_writes_nothing() -> None:
    async with ScriptedServer(lambda _: Reply([b"{", Hang()])) as server:
        images = ImageMaker((OpenAIImages("sk-x", base_url=server.url),))
        requests = [{"prompt": "A hill", "name": f"hill{number}"} for number in range(3)]
        model = heald.testing.ScriptedModel([[call("generate_images", images=requests)], "Done."])
        agent = heald.Agent(model, tools=studio_tools(finder(), images=images))
        events: list[Event] = []
        agent.subscribe(events.append)
        exchange = agent.send("Go.")
        async with asyncio.timeout(60):
            while len(server.requests) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        agent.cancel()
        async with asyncio.timeout(60):
            for request in server.requests:
                await request.closed_early.wait()
        result = await asyncio.wait_for(exchange.result(), 60)
        assert result.status == "cancelled"
        assert not check_log(events)
        (ended,) = [event.data for event in events if isinstance(event.data, ToolResult)]
        assert ended.status == "cancelled"
        await agent.close()


async def test_a_project_that_is_too_large_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_FILES", 3)
    files = {"index.html": PAGE} | {f"{number}.txt": "x" for number in range(4)}
    done = await ran(call("screenshot_preview"), files=files)
    assert done.result.text.startswith("too_large: The project is too large for a preview")
    monkeypatch.setattr(context, "MAX_FILES", 30)
    monkeypatch.setattr(context, "MAX_BYTES", 300)
    done = await ran(call("screenshot_preview"), files=files)
    assert done.result.text.startswith("too_large: ")


async def test_links_and_pipes_in_a_folder_lead_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.png").write_bytes(busy())
    (inside / "index.html").write_text('<img src="data:image/png;base64,' + "A" * 40 + '">')
    (inside / "link.png").symlink_to(outside / "secret.png")
    (inside / "assets").symlink_to(outside)
    os.mkfifo(inside / "pipe.png")
    model = heald.testing.ScriptedModel(
        [
            [
                call("edit_image", path="link.png", instruction="blur"),
                call("edit_image", path="assets/secret.png", instruction="blur"),
                call("edit_image", path="pipe.png", instruction="blur"),
                call("remove_background", paths=["link.png"]),
                call("generate_images", images=[{"prompt": "A hill", "name": "hill", "width": 32, "height": 32}]),
                call("extract_assets", assets=[{"name": "part", "box": [0, 0, 20, 20]}]),
                call("save_assets"),
            ],
            "Done.",
        ]
    )
    before = sorted(path.name for path in outside.iterdir()), (outside / "secret.png").read_bytes()
    agent = heald.Agent(model, tools=studio_tools(finder([png(design())]), images=ImageMaker()), workspace=inside)
    events: list[Event] = []
    agent.subscribe(events.append)
    await asyncio.wait_for(agent.send("Go.").result(), 60)
    results = [event.data for event in events if isinstance(event.data, ToolResult)]
    assert len(results) == 7
    assert {result.status for result in results} == {"error"}
    assert not check_log(events, host_paths=[str(tmp_path)])
    assert before == (sorted(path.name for path in outside.iterdir()), (outside / "secret.png").read_bytes())
    await agent.close()


async def test_files_land_in_a_folder_on_disk(tmp_path: Path) -> None:
    model = heald.testing.ScriptedModel(
        [[call("generate_images", images=[{"prompt": "A hill", "name": "hill", "width": 32, "height": 32}])], "Done."]
    )
    agent = heald.Agent(model, tools=studio_tools(finder(), images=ImageMaker()), workspace=tmp_path)
    await agent.run("Go.")
    assert (tmp_path / "assets" / "hill.png").read_bytes().startswith(b"\x89PNG")
    await agent.close()
