"""Replicate: a prediction that is waited for, its result fetched from elsewhere without the key."""

import pytest
from imaging_support import KEY, encoded, noise, png
from PIL import Image

from heald.core.errors import ContentBlocked, MalformedResponse, ProviderError, ProviderTimeout, ServerFault
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.tools.web.fetcher import WebFetcher
from heald_studio.imaging.provider import ImageRequest
from heald_studio.imaging.replicate import ReplicateImages

HILL = ImageRequest(prompt="A hill", width=900, height=600)
FILE = Reply([png()], content_type="image/png", framing="length")


def painter_at(server: ScriptedServer) -> ReplicateImages:
    return ReplicateImages(
        KEY, base_url=server.url, outgoing=WebFetcher(allow=[server.url.removeprefix("http://")]), attempts=1
    )


async def test_a_picture_is_predicted_and_fetched_without_the_key() -> None:
    async with ScriptedServer(lambda request: _answered(request, server.url)) as server:
        picture = await painter_at(server).generate(HILL)
        asked, fetched = server.requests
    assert picture.size == (64, 48)
    assert (asked.method, asked.path) == ("POST", "/models/black-forest-labs/flux-schnell/predictions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["prefer"] == "wait=60"
    assert asked.body == {"input": {"prompt": "A hill", "aspect_ratio": "3:2", "output_format": "png"}}
    assert (fetched.method, fetched.path) == ("GET", "/files/out.png")
    assert KEY not in str(fetched.headers)


def _answered(request: ReceivedRequest, url: str) -> Reply:
    if request.method == "GET":
        return FILE
    if request.path == "/files":
        return Reply.json({"id": "f", "urls": {"get": f"{url}/files/f"}}, 201)
    return Reply.json({"id": "abc", "status": "succeeded", "output": [f"{url}/files/out.png"]}, 201)


async def test_a_result_inside_the_answer_is_read_as_well() -> None:
    output = f"data:image/png;base64,{encoded(png((7, 7)))}"
    async with ScriptedServer([Reply.json({"status": "succeeded", "output": output})]) as server:
        assert (await painter_at(server).generate(HILL)).size == (7, 7)


async def test_pictures_are_sent_small_in_the_request_and_large_by_upload() -> None:
    async with ScriptedServer(lambda request: _answered(request, server.url)) as server:
        painter = painter_at(server)
        await painter.cut_out(Image.new("RGB", (40, 40), "blue"))
        await painter.edit(noise((600, 500)), "Make it red")
        paths = [(request.method, request.path) for request in server.requests]
        cut, upload, edit = (request for request in server.requests if request.method == "POST")
    assert cut.path == "/models/bria/remove-background/predictions"
    assert cut.body["input"]["image"].startswith("data:image/png;base64,")
    assert ("POST", "/files") in paths
    assert b"\x89PNG" in upload.content
    assert edit.body["input"]["input_image"] == f"{server.url}/files/f"
    assert edit.body["input"]["prompt"] == "Make it red"


async def test_what_is_too_slow_is_cancelled_there() -> None:
    replies = [Reply.json({"id": "abc123", "status": "processing"}, 202), Reply.json({"status": "canceled"})]
    async with ScriptedServer(replies) as server:
        with pytest.raises(ProviderTimeout):
            await painter_at(server).generate(HILL)
        assert server.requests[1].path == "/predictions/abc123/cancel"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"status": "failed", "error": "NSFW content detected"}, ContentBlocked),
        ({"status": "failed", "error": f"boom {KEY}"}, ServerFault),
        ({"status": "succeeded", "output": None}, MalformedResponse),
        ({"status": "succeeded", "output": ["http://169.254.169.254/x.png"]}, MalformedResponse),
        ({"status": "succeeded", "output": {"a": 1}}, MalformedResponse),
        ({"status": "succeeded", "output": "file:///etc/passwd"}, MalformedResponse),
    ],
)
async def test_no_picture_is_a_sentence(answer: object, kind: type[ProviderError]) -> None:
    async with ScriptedServer([Reply.json(answer)]) as server:
        with pytest.raises(kind) as caught:
            await painter_at(server).generate(HILL)
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)
