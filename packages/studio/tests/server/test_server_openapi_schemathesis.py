"""The OpenAPI document, tried: what it says is what the server does, whatever it is sent."""

# pyright: basic
# schemathesis says little about its types

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings

import heald
from heald_server.server_limits import ServerLimits
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, S, Served
from walked_routes import whole_server

EXAMPLES = max(4, int(os.environ.get("HEALD_FUZZ_ROUNDS", "0")) // 400)
"""For each operation; there are about a hundred. `make fuzz` tries a hundred examples."""
SHARES = 3
"""The operations are tried in as many tests, which run beside each other."""
FOREIGN = ("/a2a", "/mcp")
"""Paths of protocols that define their own messages and errors. Their own clients and suites try them."""
LEFT_OUT = ("/tokens/rotate", "/screenshot", "/score", "/heatmap.png", "/events")
"""The first would replace the token of the test; the next ones start a browser for each request; streams do not end."""
TOLERANT = ("chat pages", "ag-ui", "v1")
"""Endpoints for clients that send more than is described; what they do not know they do not read."""


def _writes() -> heald.testing.ScriptedModel:
    return S([[S.call("create_file", path="index.html", content="<h1>Hi</h1>")], *["Hello."] * 2000])


async def _things(server: Served) -> dict[str, list[str]]:
    """Something that is there, for each name in a path."""
    session = await server.session(title="Here")
    await server.ended(session, (await server.send(session))["exchange"])
    blob_headers = {"Content-Type": "application/octet-stream"}
    async with server.client.post(f"/sessions/{session}/blobs", data=b"kept", headers=blob_headers) as answer:
        blob = (await answer.json())["blob"]
    made: dict[str, Any] = {}
    body = {"prompt": {"text": "A page."}, "stack": "html_css", "variants": 1}
    async with server.client.post("/projects", json=body) as answer:
        made = await answer.json()
    async with server.client.post("/v1/responses", json={"input": "Hello"}) as answer:
        response = (await answer.json())["id"]
    return {
        "response_id": [response, f"{response}9", "resp_1", "resp_x_1"],
        "session": [session],
        "digest": [blob],
        "path": ["index.html", "../x", "a\u202e.txt", "b" * 5000],
        "project": [made["id"]],
        "version": [made["versions"][0]["id"]],
        "variant": ["0", "1", "00", "٣"],
        "number": ["0", "1", "2"],
    }


def _try(url: str, things: dict[str, list[str]], share: int) -> dict[str, int]:
    with requests.Session() as session:
        session.trust_env = False
        return _try_all(url, things, share, session)


def _try_all(url: str, things: dict[str, list[str]], share: int, session: requests.Session) -> dict[str, int]:
    import schemathesis  # takes a second to load, which only these tests pay

    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"})
    tried: dict[str, int] = {}
    listed = 0
    for number, result in enumerate(schema.get_all_operations()):
        operation: Any = result.ok()  # pyright: ignore[reportAttributeAccessIssue]
        if number % SHARES != share or operation.path.endswith(LEFT_OUT) or operation.path.startswith(FOREIGN):
            continue
        listed += 1
        _try_one(operation, things, tried, session)
    assert len(tried) == listed, "each operation that the document lists was sent"
    return tried


def _try_one(operation: Any, things: dict[str, list[str]], tried: dict[str, int], session: requests.Session) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    all_checks = (
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
        checks.negative_data_rejection,
        checks.unsupported_method,
    )
    chance = random.Random(operation.label)

    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],  # pyright: ignore[reportArgumentType]
    )
    def send(case: Any) -> None:
        if operation.method.upper() != "DELETE" and chance.random() < 0.7:
            case.path_parameters = {
                name: chance.choice(things.get(name, [value])) for name, value in (case.path_parameters or {}).items()
            }
        tried[operation.label] = tried.get(operation.label, 0) + 1
        answer = case.call(session=session, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        is_tolerant = any(tag in TOLERANT for tag in operation.tags or ())
        unchecked: list[object] = [checks.negative_data_rejection] if is_tolerant else []
        media_type = next((value[0] for name, value in answer.headers.items() if name.lower() == "content-type"), "")
        if media_type.startswith("text/event-stream"):  # the schema is that of the text, `x-event-schema` of the events
            unchecked.append(checks.response_schema_conformance)
        checked = [check for check in all_checks if check not in unchecked]
        case.validate_response(answer, checks=checked)
        assert b"Traceback" not in answer.content
        assert b"/site-packages/" not in answer.content

    send()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("share", range(SHARES))
async def test_every_operation_does_what_the_document_states(
    share: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    limits = ServerLimits(sessions_per_minute=100_000, exchanges=10_000, queue=10_000)
    async with whole_server(tmp_path, ServerSettings(port=0, limits=limits), _writes) as server:
        things = await _things(server)
        tried = await asyncio.to_thread(_try, server.url, things, share)
        assert len(tried) > 25
        assert sum(tried.values()) > 25 * 5
        async with server.client.get("/health") as answer:
            assert answer.status == 200
    failed = [record for record in caplog.records if record.exc_info]
    assert not failed, failed
