"""K01, K02: a key goes to its server in a header, and appears nowhere else, whatever that server says."""

import logging
import traceback

import pytest
from provider_bench import KEY, ONCE, WIRES, ask, body, half, session_at, written

import heald
from heald.core.errors import ProviderError
from heald.core.messages import user_message
from heald.testing.server import Cut, Reply, ScriptedServer
from heald.testing.streams import sse_event, wire_reply

SAID = f"Incorrect API key provided: {KEY}. You can find yours at the console."

STREAM_ERRORS: dict[str, bytes] = {
    "chat": sse_event({"error": {"message": SAID, "code": 401}}),
    "responses": sse_event({"type": "error", "code": "invalid_api_key", "message": SAID}, "error"),
    "messages": sse_event({"type": "error", "error": {"type": "authentication_error", "message": SAID}}, "error"),
    "gemini": sse_event({"error": {"code": 401, "message": SAID, "status": "UNAUTHENTICATED"}}),
    "ollama": b'{"error":"' + SAID.encode() + b'"}\n',
}


async def check(reply: Reply, wire: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with ScriptedServer([reply]) as server:
            error, events = await ask(session_at(server, wire, retry=ONCE))
            (request,) = server.requests
    assert isinstance(error, ProviderError)
    assert any(KEY in value for value in request.headers.values())
    assert KEY not in request.path
    told = "".join(traceback.format_exception(error))
    out, err = capfd.readouterr()
    for place in (str(error), repr(error), told, repr(error.info()), written(events), out, err, caplog.text):
        assert KEY not in place


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_an_error_that_repeats_the_key(
    wire: str, status: int, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    await check(Reply.json({"error": {"message": SAID, "code": "bad"}}, status), wire, capfd, caplog)


@pytest.mark.parametrize("wire", WIRES)
async def test_an_error_in_the_stream_that_repeats_the_key(
    wire: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    await check(body(wire, STREAM_ERRORS[wire]), wire, capfd, caplog)
    await check(body(wire, *half(wire), STREAM_ERRORS[wire]), wire, capfd, caplog)


PAGES = {
    "html": Reply([f"<html>{SAID}</html>".encode()], status=500, content_type="text/html"),
    "html with 200": Reply([f"<html>{SAID}</html>".encode()], content_type="text/html"),
    "text as a stream": Reply([SAID.encode()]),
    "json as a stream": Reply.json({"detail": SAID}),
    "key as a code": Reply.json({"error": {"message": "no", "code": KEY}}, 401),
    "key in pieces": Reply([b'{"error":{"message":"no ' + KEY[:9].encode(), KEY[9:].encode() + b'"}}'], status=401),
    "cut": body("chat", b"data: " + KEY.encode(), Cut()),
}


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_that_repeats_the_key(
    page: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    await check(PAGES[page], "chat", capfd, caplog)


async def test_a_retry_that_repeats_the_key() -> None:
    refusal = Reply.json({"error": {"message": SAID}}, 503)
    async with ScriptedServer([refusal, wire_reply("chat", text="Hello")]) as server:
        _, events = await ask(session_at(server))
    assert "retry_scheduled" in [payload.type for payload in events]
    assert KEY not in written(events)


async def test_the_words_around_the_key_are_kept() -> None:
    async with ScriptedServer([Reply.json({"error": {"message": SAID}}, 401)]) as server:
        error, _ = await ask(session_at(server))
    assert "Incorrect API key provided: [key]. You can find yours" in str(error)
    assert "Check the key." in str(error)


async def test_which_variable_held_the_wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with ScriptedServer([Reply.json({"error": {"message": "no"}}, 401)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        error, _ = await ask(heald.providers.open_provider_session("openai/gpt-5", messages=[user_message("Go.")]))
    assert str(error) == "openai/gpt-5 (HTTP 401): no. Check the key in OPENAI_API_KEY."
