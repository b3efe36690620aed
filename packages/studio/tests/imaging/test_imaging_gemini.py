"""Gemini's image models: what is sent, what is read, and how it fails."""

import io
from base64 import b64decode
from typing import Any

import pytest
from imaging_support import KEY, encoded, png
from PIL import Image

from heald.core.errors import AuthenticationFailed, ContentBlocked, MalformedResponse, ProviderError
from heald.testing.server import Reply, ScriptedServer
from heald_studio.imaging.gemini import GeminiImages
from heald_studio.imaging.provider import ImageRequest

HILL = ImageRequest(prompt="A hill", width=1600, height=880)


def answer(*parts: dict[str, Any], reason: str = "STOP") -> Reply:
    return Reply.json({"candidates": [{"content": {"parts": list(parts)}, "finishReason": reason}]})


def drawn(data: bytes, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": encoded(data)}, **more}


async def test_a_picture_is_asked_for_and_read() -> None:
    reply = answer({"text": "Here it is:"}, drawn(png((9, 9)), thought=True), drawn(png()))
    async with ScriptedServer([reply]) as server:
        picture = await GeminiImages(KEY, base_url=server.url).generate(HILL)
        (request,) = server.requests
    assert picture.size == (64, 48)
    assert request.path == "/models/gemini-3.1-flash-image:generateContent"
    assert request.headers["x-goog-api-key"] == KEY
    assert KEY not in request.path
    assert request.body["contents"][0]["parts"][0]["text"].startswith("A hill.")
    assert request.body["generationConfig"] == {
        "responseModalities": ["IMAGE"],
        "imageConfig": {"aspectRatio": "16:9"},
    }


async def test_an_edit_shows_the_picture() -> None:
    async with ScriptedServer([answer(drawn(png()))]) as server:
        await GeminiImages(KEY, base_url=server.url).edit(Image.new("RGB", (300, 400), "blue"), "Make it red")
        (request,) = server.requests
    picture_part, text_part = request.body["contents"][0]["parts"]
    assert Image.open(io.BytesIO(b64decode(picture_part["inlineData"]["data"]))).size == (300, 400)
    assert text_part["text"].startswith("Make it red.")
    assert request.body["generationConfig"]["imageConfig"] == {"aspectRatio": "3:4"}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply.json({"promptFeedback": {"blockReason": "OTHER"}}), ContentBlocked),
        (answer(reason="IMAGE_SAFETY"), ContentBlocked),
        (answer(reason="PROHIBITED_CONTENT"), ContentBlocked),
        (answer({"text": "I would rather talk."}), MalformedResponse),
        (answer(reason="NO_IMAGE"), MalformedResponse),
        (answer({"inlineData": {"data": "?"}}), MalformedResponse),
        (Reply.json({}), MalformedResponse),
        (Reply.json({"error": {"message": f"API key {KEY} not valid", "status": "X"}}, 403), AuthenticationFailed),
    ],
)
async def test_no_picture_is_a_sentence(reply: Reply, kind: type[ProviderError]) -> None:
    async with ScriptedServer([reply]) as server:
        with pytest.raises(kind) as caught:
            await GeminiImages(KEY, base_url=server.url).generate(HILL)
    assert type(caught.value) is kind
    assert KEY not in str(caught.value)


async def test_a_bad_key_of_gemini_comes_as_a_bad_request_and_is_not_quoted() -> None:
    error_body = {"error": {"code": 400, "message": f"API key not valid: {KEY}", "status": "INVALID_ARGUMENT"}}
    async with ScriptedServer([Reply.json(error_body, 400)]) as server:
        with pytest.raises(ProviderError) as caught:
            await GeminiImages(KEY, base_url=server.url).generate(HILL)
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)


async def test_it_makes_nothing_transparent() -> None:
    painter = GeminiImages(KEY)
    assert not painter.cuts
    with pytest.raises(ProviderError):
        await painter.cut_out(Image.new("RGB", (9, 9)))
