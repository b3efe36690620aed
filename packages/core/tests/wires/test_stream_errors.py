"""An error inside a stream keeps its words and its code, and is retried only if that may help."""

import json
from pathlib import Path
from typing import Any

import pytest
from wire_streams import decode_pieces

import heald
from heald.core.errors import ProviderError
from heald.core.json import JsonObject
from heald.core.messages import user_message
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply, wire_stream
from heald.wires.decoder import Decoder

TABLE: JsonObject = json.loads(Path(__file__).with_name("stream_errors.json").read_bytes())
WIRES = ("chat", "responses", "messages", "gemini", "ollama")
ROWS = [
    pytest.param(wire, form, id=f"{wire}-{form['name']}")
    for form in TABLE["forms"]
    for wire in form.get("wires", WIRES)
    if not (wire == "ollama" and "event" in form)
]
RETRYABLE = {"rate_limited", "overloaded", "server_error", "timeout"}
BASES = {"gemini": "/v1beta", "ollama": ""}


def bytes_of(wire: str, form: JsonObject) -> bytes:
    data = form["data"] if isinstance(form["data"], str) else json.dumps(form["data"])
    if wire == "ollama":
        return data.encode() + b"\n"
    head = f"event: {form['event']}\n" if "event" in form else ""
    return f"{head}data: {data}\n\n".encode()


def error_of(decoder: Decoder) -> ProviderError:
    assert decoder.error is not None
    return decoder.error


@pytest.mark.parametrize(("wire", "form"), ROWS)
@pytest.mark.parametrize("place", ["at once", "after some text"])
def test_an_error_in_a_stream_keeps_its_words_and_its_code(wire: str, form: JsonObject, place: str) -> None:
    before = [] if place == "at once" else wire_stream(wire, text=["Half", " of it"])[:2]
    error = error_of(decode_pieces(wire, [*before, bytes_of(wire, form)]).decoder)
    assert (error.code, error.retryable) == (form["code"], form["code"] in RETRYABLE)
    assert form["words"] in str(error)
    assert "proxy" not in str(error)
    assert error.status == form.get("status")
    if "provider_code" in form:
        assert error.provider_code == form["provider_code"]


@pytest.mark.parametrize(("wire", "form"), ROWS)
async def test_an_error_in_a_stream_is_retried_only_if_that_may_help(wire: str, form: JsonObject) -> None:
    content_type = "application/x-ndjson" if wire == "ollama" else "text/event-stream"
    script = [Reply([bytes_of(wire, form)], content_type=content_type), wire_reply(wire, text="Yes.")]
    async with ScriptedServer(script) as server:
        model = heald.Model("m", wire=wire, base_url=server.url + BASES.get(wire, "/v1"), api_key="sk-test")
        session = heald.providers.open_provider_session(
            model, messages=[user_message("Well?")], retry=heald.Retry(base=0.001, cap=0.001)
        )
        try:
            text = (await session.stream_turn(lambda _: None)).text
        except ProviderError as error:
            text = error.code
        finally:
            await session.close()
        is_retried = form["code"] in RETRYABLE
        assert text == ("Yes." if is_retried else form["code"])
        assert len(server.requests) == (2 if is_retried else 1)


@pytest.mark.parametrize(("code", "expected"), TABLE["response_failed"].items())
def test_the_codes_of_a_failed_response(code: str, expected: list[Any]) -> None:
    failed = {"id": "r", "status": "failed", "error": {"code": code, "message": "It did not work."}}
    event = json.dumps({"type": "response.failed", "response": failed})
    error = error_of(decode_pieces("responses", [f"event: response.failed\ndata: {event}\n\n".encode()]).decoder)
    assert [error.code, error.retryable] == expected
    assert (str(error), error.provider_code) == ("It did not work.", code)


def test_a_prompt_that_was_flagged_is_blocked_content() -> None:
    words = "Invalid prompt: your prompt was flagged as potentially violating our usage policy."
    failed = {"status": "failed", "error": {"code": "invalid_prompt", "message": words}}
    event = json.dumps({"type": "response.failed", "response": failed})
    assert error_of(decode_pieces("responses", [f"data: {event}\n\n".encode()]).decoder).code == "content_blocked"


@pytest.mark.parametrize(
    "junk", [b"data: {junk\n\n", b'event: error\ndata: {"message": "late"}\n\n', b'{"error": "late"}\n\n']
)
@pytest.mark.parametrize("wire", ["chat", "messages", "responses"])
def test_a_finished_answer_stays_whatever_follows(wire: str, junk: bytes) -> None:
    whole = b"".join(wire_stream(wire, text="Yes."))
    assert decode_pieces(wire, [whole, junk]).text == "Yes."
    assert decode_pieces(wire, [whole + junk]).text == "Yes."


@pytest.mark.parametrize(
    "event", [{"code": 0, "message": "ok"}, {"code": "200", "message": "success"}, {"message": "hi"}]
)
def test_a_success_is_not_an_error(event: JsonObject) -> None:
    first = bytes_of("chat", {"data": event})
    assert decode_pieces("chat", [first, *wire_stream("chat", text="Yes.")]).text == "Yes."
