"""The kind and the scale of a picture in a request to the studio reach its models as data."""

from base64 import b64encode
from pathlib import Path

import pytest

import heald
from heald.providers.scripted import ScriptedRequest
from heald.sessions.sqlite import SqliteStore
from heald_pictures.design_request import DesignRequest, design_of
from serving_parts import Script, context_on, serving
from sketch_drawing import draw_shop, png


async def test_the_kind_and_the_scale_of_a_picture_reach_the_model(tmp_path: Path) -> None:
    designs: list[DesignRequest] = []

    def answer(request: ScriptedRequest) -> str:
        designs.extend(design for message in request.messages if (design := design_of(message)) is not None)
        return "Nothing to do."

    scripts: dict[str, Script] = {"reader": lambda: heald.testing.ScriptedModel([answer])}
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        body = {"prompt": {"images": [_picture("photo", 2)]}, "models": ["reader"], "variants": 1}
        async with server.client.post("/projects", json=body) as reply:
            assert reply.status == 201, await reply.text()
            project = (await reply.json())["id"]
        async with server.client.get(f"/projects/{project}/events") as stream:
            async for line in stream.content:
                if b'"failed"' in line or b'"completed"' in line:
                    break
    assert [(design.picture_kind, design.scale) for design in designs] == [("photo", 2)]


@pytest.mark.parametrize(("kind", "scale"), [("painting", 1), ("page", 9)])
async def test_another_kind_or_scale_is_refused(tmp_path: Path, kind: str, scale: int) -> None:
    scripts: dict[str, Script] = {"reader": lambda: heald.testing.ScriptedModel(["Nothing."])}
    async with serving(context_on(SqliteStore(tmp_path / "s.db", durable=False), scripts)) as server:
        body = {"prompt": {"images": [_picture(kind, scale)]}, "models": ["reader"], "variants": 1}
        async with server.client.post("/projects", json=body) as reply:
            assert reply.status == 400


def _picture(kind: str, scale: int) -> dict[str, object]:
    data = b64encode(png(draw_shop())).decode()
    return {"data": f"data:image/png;base64,{data}", "kind": kind, "scale": scale}
