"""Large files are uploaded first, in the form of each API; the request names them and the messages keep their data."""

import base64
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

import pytest

import heald
from heald.core.errors import HealdError, InvalidRequest, MalformedResponse
from heald.providers import files
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.wires.registry import WIRES

UPLOADING = [name for name, wire in WIRES.items() if "file_upload" in wire.features]
DATA = bytes(range(256)) * 2000
PDF = heald.File(media_type="application/pdf", data=base64.b64encode(DATA).decode(), name='a "b".pdf')
QUIRKS = heald.providers.Quirks(upload_over=400_000)


def parse_form(request: ReceivedRequest) -> dict[str, Any]:
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.content)
    return {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}  # pyright: ignore[reportReturnType]


def is_upload(request: ReceivedRequest) -> bool:
    return "files" in request.path or "upload" in request.path


def answer(wire: str, server: ScriptedServer, request: ReceivedRequest) -> Reply:
    if request.path.endswith("/v1beta/files"):
        return Reply.json({}, 200, {"x-goog-upload-url": f"{server.url}/upload/place"})
    if request.path == "/upload/place":
        state = {"name": "files/1", "uri": "https://files.example/1", "state": "PROCESSING"}
        return Reply.json({"file": state})
    if request.path.endswith("/files/1"):
        return Reply.json({"name": "files/1", "uri": "https://files.example/1", "state": "ACTIVE"})
    return Reply.json({"id": "file_1"}) if is_upload(request) else wire_reply(wire, text="Read.")


@pytest.mark.parametrize("wire", UPLOADING)
async def test_a_large_file_is_uploaded_once(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_POLL_SECONDS", 0.0)
    server: ScriptedServer
    async with ScriptedServer(lambda request: answer(wire, server, request)) as server:
        base = server.url + ("/v1beta" if wire == "gemini" else "/v1")
        model = heald.Model("m", wire=wire, base_url=base, api_key="secret-key-1234", quirks=QUIRKS)
        async with heald.Agent(model) as agent:
            await agent.run(heald.user_message("Read it.", PDF))
            await agent.run("Sure?")
            stored_file = agent.messages[0].content[1]
        uploads = [request for request in server.requests if is_upload(request)]
        turns = [request for request in server.requests if not is_upload(request)]
    assert isinstance(stored_file, heald.File)
    assert stored_file.data == PDF.data
    named = "https://files.example/1" if wire == "gemini" else "file_1"
    assert len(turns) == 2
    for turn in turns:
        assert named in turn.content.decode()
        assert len(turn.content) < 10_000
    header = {"gemini": "x-goog-api-key", "messages": "x-api-key"}.get(wire, "authorization")
    assert all(request.headers[header].endswith("secret-key-1234") for request in uploads)
    if wire == "gemini":
        start, place, _ = uploads
        assert start.headers["x-goog-upload-header-content-type"] == "application/pdf"
        assert place.content == DATA
        return
    (upload,) = uploads
    parts = parse_form(upload)
    assert parts["file"].get_payload(decode=True) == DATA
    assert parts["file"].get_content_type() == "application/pdf"
    assert parts["file"].get_filename() == "a _b_.pdf"
    if wire == "messages":
        assert upload.headers["anthropic-beta"] == "files-api-2025-04-14"
        assert turns[0].headers["anthropic-beta"] == "files-api-2025-04-14"
    else:
        assert parts["purpose"].get_payload().strip() == "user_data"


async def test_a_small_one_stays_in_the_request() -> None:
    small = heald.File(media_type="application/pdf", data="JVBERg==")
    async with ScriptedServer([wire_reply("messages", text="Read.")]) as server:
        model = heald.Model("m", wire="messages", base_url=server.url, quirks=QUIRKS)
        async with heald.Agent(model) as agent:
            await agent.run(heald.user_message("Read it.", small))
        assert "JVBERg==" in server.requests[0].content.decode()


async def test_an_endpoint_without_a_files_api_gets_the_data() -> None:
    async with ScriptedServer([wire_reply("messages", text="Read.")]) as server:
        async with heald.Agent(heald.Model("m", wire="messages", base_url=server.url)) as agent:
            await agent.run(heald.user_message("Read it.", PDF))
        assert PDF.data is not None
        assert PDF.data in server.requests[0].content.decode()


async def test_an_upload_that_is_refused_fails_the_exchange() -> None:
    refusal = Reply.json({"error": {"type": "invalid_request_error", "message": "too large"}}, 400)
    async with ScriptedServer([refusal]) as server:
        model = heald.Model("m", wire="messages", base_url=server.url, quirks=QUIRKS)
        async with heald.Agent(model) as agent:
            with pytest.raises(HealdError, match="too large"):
                await agent.run(heald.user_message("Read it.", PDF))


async def test_one_file_by_hand() -> None:
    async with ScriptedServer([Reply.json({"id": "file_9"})]) as server:
        model = heald.Model("m", wire="responses", base_url=server.url)
        assert await heald.providers.upload_file(model, b"abc", "text/csv", "a.csv") == "file_9"
    with pytest.raises(InvalidRequest, match="no Files API"):
        await heald.providers.upload_file(
            heald.Model("m", wire="ollama", base_url="http://127.0.0.1:9"), b"abc", "text/csv"
        )


async def test_an_upload_goes_to_no_other_host() -> None:
    away = Reply.json({}, 200, {"x-goog-upload-url": "https://elsewhere.example/place"})
    async with ScriptedServer([away]) as server:
        model = heald.Model("m", wire="gemini", base_url=f"{server.url}/v1beta", api_key="secret-key-1234")
        with pytest.raises(MalformedResponse, match="own host"):
            await heald.providers.upload_file(model, b"abc", "text/csv")
