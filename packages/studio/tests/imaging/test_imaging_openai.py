"""OpenAI's images: what is sent, what is read, and how it fails."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imaging_support import KEY, encoded, png
from PIL import Image

from heald.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContentBlocked,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    ProviderError,
    ProviderTimeout,
    QuotaExhausted,
    RateLimited,
    ServerFault,
)
from heald.testing.server import Cut, Hang, Reply, ScriptedServer
from heald_studio.imaging import api
from heald_studio.imaging.openai import OpenAIImages, request_size
from heald_studio.imaging.provider import ImageRequest

HILL = ImageRequest(prompt="A hill", width=640, height=360)
MADE = Reply.json({"created": 1, "data": [{"b64_json": encoded(png())}]})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_PAUSE", 0.0)


async def test_a_picture_is_asked_for_and_read() -> None:
    async with ScriptedServer([MADE]) as server:
        picture = await OpenAIImages(KEY, base_url=server.url).generate(HILL)
        (request,) = server.requests
    assert picture.size == (64, 48)
    assert (request.method, request.path) == ("POST", "/images/generations")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "gpt-image-2.5-flare",
        "prompt": "A hill",
        "size": request_size(640, 360),
        "output_format": "png",
    }


async def test_a_transparent_one_reports_it() -> None:
    async with ScriptedServer([MADE]) as server:
        image_request = ImageRequest(prompt="A logo", width=100, height=100, transparent=True)
        await OpenAIImages(KEY, "gpt-image-2.6-sunburst", base_url=server.url).generate(image_request)
        (request,) = server.requests
    assert (request.body["background"], request.body["model"]) == ("transparent", "gpt-image-2.6-sunburst")


async def test_an_edit_sends_the_picture_as_a_form() -> None:
    async with ScriptedServer([MADE, MADE]) as server:
        painter = OpenAIImages(KEY, base_url=server.url)
        await painter.edit(Image.new("RGB", (3000, 1000), "blue"), "Make it red")
        await painter.cut_out(Image.new("RGB", (30, 10), "blue"))
        edit, cut = server.requests
    assert edit.path == cut.path == "/images/edits"
    assert edit.headers["content-type"].startswith("multipart/form-data; boundary=")
    fields = _form(edit.content, edit.headers["content-type"])
    assert fields["prompt"] == b"Make it red"
    assert fields["background"] == b"auto"
    assert fields["size"] == b"1536x512"
    sent = Image.open(io.BytesIO(fields["image"]))
    assert sent.size == (2048, 683)
    assert _form(cut.content, cut.headers["content-type"])["background"] == b"transparent"


def _form(body: bytes, content_type: str) -> dict[str, bytes]:
    mark = content_type.partition("boundary=")[2].encode()
    fields: dict[str, bytes] = {}
    for part in body.split(b"--" + mark)[1:-1]:
        head, _, value = part.partition(b"\r\n\r\n")
        name = head.split(b'name="')[1].split(b'"')[0].decode()
        fields[name] = value.removesuffix(b"\r\n")
    return fields


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "invalid_api_key", AuthenticationFailed),
        (403, "", AuthenticationFailed),
        (404, "model_not_found", ModelNotFound),
        (400, "moderation_blocked", ContentBlocked),
        (400, "invalid_value", InvalidRequest),
        (429, "insufficient_quota", QuotaExhausted),
        (429, "rate_limit_exceeded", RateLimited),
        (400, "billing_hard_limit_reached", QuotaExhausted),
        (500, "", ServerFault),
        (302, "", MalformedResponse),
    ],
)
async def test_refusals_are_typed_and_never_hold_the_key(status: int, code: str, kind: type[ProviderError]) -> None:
    error_body = {"error": {"message": f"Something about {KEY}, and that.", "code": code}}
    refusal = Reply.json(error_body, status, {"retry-after": "0", "location": "http://127.0.0.1:1/"})
    async with ScriptedServer(lambda _: refusal) as server:
        with pytest.raises(kind) as caught:
            await OpenAIImages(KEY, base_url=server.url).generate(HILL)
        asked = len(server.requests)
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)
    assert "CANARY" not in repr(caught.value.info())
    assert str(caught.value).endswith(".")
    assert asked == (2 if caught.value.retryable else 1)


@pytest.mark.parametrize(
    "reply",
    [
        Reply([b"<html>oops</html>"], framing="length"),
        Reply.json([]),
        Reply.json({"data": []}),
        Reply.json({"data": [{"b64_json": "%%%"}]}),
        Reply.json({"data": [{"b64_json": None}]}),
        Reply.json({"data": [{"b64_json": encoded(b"<svg/>")}]}),
        Reply.json({"data": [{"b64_json": encoded(png()[:60])}]}),
    ],
)
async def test_an_answer_without_a_picture_is_one_sentence(reply: Reply) -> None:
    async with ScriptedServer([reply]) as server:
        with pytest.raises(MalformedResponse) as caught:
            await OpenAIImages(KEY, base_url=server.url).generate(HILL)
    assert str(caught.value).count(".") == 1


async def test_a_second_attempt_helps_where_it_can() -> None:
    async with ScriptedServer([Reply.json({}, 503), MADE]) as server:
        assert (await OpenAIImages(KEY, base_url=server.url).generate(HILL)).size == (64, 48)


async def test_a_broken_connection_and_nobody_there() -> None:
    cut = Reply([b"{", Cut()], framing="chunked", content_type="application/json")
    async with ScriptedServer(lambda _: cut) as server:
        with pytest.raises(ConnectionFailed):
            await OpenAIImages(KEY, base_url=server.url).generate(HILL)
    with pytest.raises(ConnectionFailed) as caught:
        await OpenAIImages(KEY, base_url=server.url).generate(HILL)
    assert "Cannot connect to http://127.0.0.1" in str(caught.value)


async def test_no_answer_is_waited_for_forever() -> None:
    async with ScriptedServer([Reply([b"{", Hang()])]) as server:
        with pytest.raises(ProviderTimeout) as caught:
            await OpenAIImages(KEY, base_url=server.url, seconds=0.3, attempts=1).generate(HILL)
    assert str(caught.value) == "OpenAI did not answer within 0.3 s; try again."


async def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MAX_ANSWER", 100_000)
    async with ScriptedServer([Reply([b"x" * 50_000] * 10)]) as server:
        with pytest.raises(MalformedResponse) as caught:
            await OpenAIImages(KEY, base_url=server.url).generate(HILL)
    assert "more than 100,000 bytes" in str(caught.value)


def test_the_key_is_not_in_what_is_printed() -> None:
    painter = OpenAIImages(KEY)
    assert KEY not in repr(painter.__dict__)
    assert painter.label == "OpenAI gpt-image-2.5-flare"


@given(st.integers(16, 2048), st.integers(16, 2048))
def test_every_size_is_one_that_the_models_accept(width: int, height: int) -> None:
    across, down = map(int, request_size(width, height).split("x"))
    assert across % 16 == 0
    assert down % 16 == 0
    assert 1 / 3 <= across / down <= 3
    assert max(across, down) <= 1536
    assert across * down >= 640 * 1024
    if 1 / 3 <= width / height <= 3:
        assert abs(across / down - width / height) < 0.12 * (width / height)
