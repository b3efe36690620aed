"""Failures of requests to /v1 as their clients see them, and JSON that is compressed."""

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import heald
from heald.core.errors import (
    AuthenticationFailed,
    ContextOverflow,
    InvalidRequest,
    ModelNotFound,
    ProviderError,
    QuotaExhausted,
)
from heald.providers.scripted import Script, ScriptedRequest
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, S, served

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
BODIES: dict[str, Any] = {CHAT: {"messages": [{"role": "user", "content": "Hello"}]}, RESPONSES: {"input": "Hello"}}


def _failing(kind: type[ProviderError], *, after: str = "") -> Any:
    def script(_: ScriptedRequest) -> Script:
        return [*([after] if after else []), S.fail(kind("It cannot be done."))]

    return lambda: S([script] * 20)


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("api", [CHAT, RESPONSES])
@pytest.mark.parametrize(
    ("fault", "status", "kind", "code"),
    [
        (InvalidRequest, 400, "invalid_request_error", "invalid_request"),
        (ContextOverflow, 400, "invalid_request_error", "context_length_exceeded"),
        (QuotaExhausted, 402, "insufficient_quota", "insufficient_quota"),
        (AuthenticationFailed, 400, "invalid_request_error", "authentication"),
        (ModelNotFound, 404, "invalid_request_error", "model_not_found"),
    ],
)
async def test_a_failure_before_the_first_token_is_a_status(
    api: str, streams: bool, fault: type[ProviderError], status: int, kind: str, code: str, tmp_path: Path
) -> None:
    async with (
        served(tmp_path, _failing(fault)) as server,
        server.client.post(api, json=BODIES[api] | {"stream": streams}) as answer,
    ):
        error = (await answer.json())["error"]
    assert (answer.status, answer.headers["X-Should-Retry"]) == (status, "false")
    assert (error["type"], error["code"]) == (kind, code)
    assert "It cannot be done." in error["message"]
    assert "X-Heald-Exchange" in answer.headers


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_a_failure_after_the_first_token_is_in_the_stream_and_of_the_right_kind(api: str, tmp_path: Path) -> None:
    async with (
        served(tmp_path, _failing(InvalidRequest, after="Half a ")) as server,
        server.client.post(api, json=BODIES[api] | {"stream": True}) as answer,
    ):
        text = await answer.text()
    assert answer.status == 200
    assert "Half a" in text
    assert "server_error" not in text  # which clients repeat
    assert '"invalid_request_error"' in text


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_a_long_wait_for_the_first_token_begins_the_response(api: str, tmp_path: Path) -> None:
    """A proxy closes a connection on which nothing comes."""
    settings = ServerSettings(port=0, heartbeat_seconds=0.05)
    gate = asyncio.Event()

    @heald.tool
    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    def waits(request: ScriptedRequest) -> Script:
        return S.call("wait") if request.messages[-1].role == "user" else "Hello."

    async with (
        served(tmp_path, lambda: S([waits] * 3), tools={"wait": wait}, settings=settings) as server,
        server.client.post(api, json=BODIES[api] | {"stream": True}) as answer,
    ):
        assert answer.status == 200  # before there is anything to read
        gate.set()
        text = await answer.text()
    assert text.index(": heartbeat") < text.index("Hello.")


@pytest.mark.parametrize("api", [CHAT, RESPONSES])
async def test_a_stream_that_succeeds_is_whole(api: str, tmp_path: Path) -> None:
    async with (
        served(tmp_path, lambda: S(["One two three."] * 3, piece=3)) as server,
        server.client.post(api, json=BODIES[api] | {"stream": True}) as answer,
    ):
        text = await answer.text()
    assert (answer.status, answer.headers["Content-Type"].partition(";")[0]) == (200, "text/event-stream")
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    if api == CHAT:
        words = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    else:
        words = [chunk["delta"] for chunk in chunks if chunk["type"] == "response.output_text.delta"]
        assert [chunk["sequence_number"] for chunk in chunks] == list(range(len(chunks)))
    assert "".join(words) == "One two three."


# --- compression -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accepts", ["gzip, deflate", "gzip;q=0", "identity", None])
async def test_json_is_compressed_for_those_who_accept_it(accepts: str | None, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", **({"Accept-Encoding": accepts} if accepts else {})}
    skipped = () if accepts else ("Accept-Encoding",)
    async with (
        served(tmp_path) as server,
        aiohttp.ClientSession(auto_decompress=False, skip_auto_headers=skipped) as client,
        client.get(f"{server.url}/openapi.json", headers=headers) as answer,
    ):
        body = await answer.read()
    is_compressed = accepts == "gzip, deflate"
    assert answer.headers.get("Content-Encoding") == ("gzip" if is_compressed else None)
    assert int(answer.headers["Content-Length"]) == len(body)
    assert "openapi" in json.loads(gzip.decompress(body) if is_compressed else body)


async def test_short_json_and_streams_are_not_compressed(tmp_path: Path) -> None:
    headers = {"Accept-Encoding": "gzip"}
    async with served(tmp_path) as server:
        async with server.client.get("/v1/models", headers=headers) as answer:
            assert "Content-Encoding" not in answer.headers
        body = BODIES[CHAT] | {"stream": True}
        async with server.client.post(CHAT, json=body, headers=headers) as answer:
            assert "Content-Encoding" not in answer.headers
            assert b"[DONE]" in await answer.read()
