"""The OpenAPI document of the protocols of others: /a2a, /mcp and /v1/responses are described as they are."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from heald_server.protocols.responses.shapes import ResponseView
from serving_parts import S, served

pytest.importorskip("a2a")
pytest.importorskip("mcp")
_PATHS = ("/a2a", "/mcp", "/v1")
_TOOL: dict[str, Any] = {"type": "function", "name": "locate", "parameters": {"type": "object", "properties": {}}}


async def test_every_operation_states_its_bodies(tmp_path: Path) -> None:
    async with served(tmp_path) as server, server.client.get("/openapi.json") as answer:
        document = await answer.json()
    operations = {
        f"{method} {path}": operation
        for path, methods in document["paths"].items()
        if path.startswith(_PATHS)
        for method, operation in methods.items()
    }
    assert {"post /a2a", "get /a2a/tasks/{id}", "post /a2a/tasks/{id}:cancel", "post /mcp", "get /mcp"} <= {*operations}
    for name, operation in operations.items():
        contents = [response.get("content", {}) for response in operation["responses"].values()]
        assert not any("*/*" in content for content in contents), name
    assert "text/event-stream" in operations["get /mcp"]["responses"]["200"]["content"]
    assert "application/a2a+json" in operations["get /a2a/tasks"]["responses"]["200"]["content"]
    assert "content" not in operations["delete /mcp"]["responses"]["200"]
    assert "202" in operations["post /mcp"]["responses"]
    assert all("requestBody" in operations[name] for name in ("post /mcp", "post /a2a", "post /a2a/message:send"))


async def test_the_described_routes_of_a2a_answer(tmp_path: Path) -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}
    headers = {"A2A-Version": "1.0"}
    async with served(tmp_path) as server:
        async with server.client.post("/a2a/message:send", json={"message": message}, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            task = (await answer.json())["task"]
        for path in ("/a2a/tasks", f"/a2a/tasks/{task['id']}"):
            async with server.client.get(path, headers=headers) as answer:
                assert answer.status == 200, await answer.text()
                assert answer.content_type == "application/a2a+json"
        async with server.client.get("/a2a/nothing", headers=headers) as answer:
            assert answer.status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"input": "Hello"},
        {"input": "Hello", "metadata": {"a": "b"}, "prompt_cache_retention": "24h", "conversation": "c1", "user": "u"},
        {"input": "Hello", "tools": [_TOOL], "tool_choice": "auto", "text": {"format": {"type": "json_object"}}},
        {"input": "Hello", "background": True},
    ],
)
async def test_a_response_has_the_fields_that_are_described(tmp_path: Path, body: dict[str, Any]) -> None:
    async with served(tmp_path, lambda: S(["{}"] * 3)) as server:
        async with server.client.post("/v1/responses", json=body) as answer:
            created = await answer.json()
        await server.wait_idle()
        async with server.client.get(f"/v1/responses/{created['id']}") as answer:
            stored = await answer.json()
    for response in (created, stored):
        assert {*response} <= {*ResponseView.__struct_fields__}
        msgspec.convert(response, ResponseView)
