"""A picture or document that an API has no form for is refused with a sentence; an older one becomes a note."""

import pytest

import heald
from heald.core.errors import InvalidRequest
from heald.core.messages import File, Image, Message, assistant, user_message
from heald.testing.server import ScriptedServer
from heald.wires.media_check import check_media
from heald.wires.registry import WIRES

BY_URL = Image(url="https://a.example/1.png")
PDF = File(media_type="application/pdf", data="YTti", name="a.pdf")
PDF_BY_URL = File(media_type="application/pdf", url="https://a.example/a.pdf")
CSV = File(media_type="text/csv", data="YTti")
REFUSED = [
    ("converse", BY_URL, "carries pictures as data and not by URL"),
    (
        "converse",
        Image(media_type="image/bmp", data="AAEC"),
        "carries PNG, JPEG, GIF and WebP pictures and not image/bmp",
    ),
    ("converse", PDF_BY_URL, "carries documents as data and not by URL"),
    ("converse", File(media_type="application/zip", data="AAEC"), "and not application/zip"),
    ("ollama", BY_URL, "carries pictures as data and not by URL"),
    ("ollama", PDF, "carries text files and not application/pdf"),
    ("ollama", PDF_BY_URL, "carries text files and not documents by URL"),
]
CARRIED = [
    ("converse", Image(data="AAEC")),
    ("converse", PDF),
    ("converse", CSV),
    ("ollama", Image(data="AAEC")),
    ("ollama", CSV),
    *((wire, block) for wire in ("chat", "responses", "messages", "gemini") for block in (BY_URL, PDF)),
]


@pytest.mark.parametrize(("wire", "block", "sentence"), REFUSED)
async def test_it_is_refused_before_the_request(wire: str, block: Image | File, sentence: str) -> None:
    async with ScriptedServer([]) as server:
        model = heald.Model("m", wire=wire, base_url=server.url, api_key="k")
        with pytest.raises(InvalidRequest, match=sentence):
            await heald.Agent(model).run(["Look:", block])
        assert server.requests == []


@pytest.mark.parametrize(("wire", "block", "sentence"), REFUSED)
def test_an_older_one_is_a_note(wire: str, block: Image | File, sentence: str) -> None:
    messages: list[Message] = [user_message("Look:", block), assistant("I see."), user_message("And?")]
    check_media(WIRES[wire], messages)


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (PDF, "The provider groq has text files and not application/pdf"),
        (File(media_type="audio/wav", data="AAEC"), "The provider groq has no audio"),
        (File(media_type="application/pdf", file_id="file_1"), "The provider groq has no uploaded files"),
        (Image(file_id="file_1"), "The provider groq has no uploaded files"),
    ],
)
async def test_what_the_provider_lacks_is_refused(
    block: Image | File, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "k")
    with pytest.raises(InvalidRequest, match=sentence):
        await heald.Agent("groq/openai/gpt-oss-120b").run(["Look:", block])


@pytest.mark.parametrize("block", [CSV, BY_URL, Image(data="AAEC")])
def test_what_the_provider_has_is_sent(block: Image | File) -> None:
    check_media(WIRES["chat"], [user_message("Look:", block)], "groq", ["pdf_input", "audio_input", "file_ids"])


@pytest.mark.parametrize(("wire", "block"), CARRIED)
def test_what_the_api_has_a_form_for_is_sent(wire: str, block: Image | File) -> None:
    check_media(WIRES[wire], [user_message("Look:", block)])
