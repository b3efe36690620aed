"""The OpenAPI document describes every route of the application, with its bodies, events, errors and authentication."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.responses import Response
from starlette.routing import Route

from heald.core.envelope import PAYLOADS
from heald.core.json import JsonObject
from heald.sessions.memory import MemoryStore
from heald_server.app import create_app, list_routes
from heald_server.http.errors import ApiError
from heald_server.http.openapi import describe, describe_routes
from heald_server.protocols.openai.request import CompletionRequest, read_completion_request
from heald_server.protocols.openai.shapes import CompletionBody
from heald_server.protocols.responses.request import ResponseRequest, read_response_request
from heald_server.protocols.responses.shapes import ResponseBody
from serving_parts import S, context_on
from walked_routes import PUBLIC, WAYS, whole_server


async def _document(folder: Path) -> dict[str, Any]:
    async with whole_server(folder) as server, server.client.get("/openapi.json") as answer:
        assert answer.status == 200
        return await answer.json()


def _operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


async def test_the_document_lists_the_routes_of_the_application(tmp_path: Path) -> None:
    document = await _document(tmp_path)
    operations = _operations(document)
    assert set(operations) == {(way.method, way.template) for way in WAYS if not way.is_socket}
    assert set(document["x-websockets"]) == {way.template for way in WAYS if way.is_socket}
    undescribed = [name for name, operation in operations.items() if operation["tags"] == ["other"]]
    assert not undescribed, "return a RouteDescription with the route"
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"\w+", operation_id) for operation_id in ids)


async def test_every_reference_of_the_document_leads_somewhere(tmp_path: Path) -> None:
    document = await _document(tmp_path)
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])


async def test_streams_have_the_schema_of_their_events(tmp_path: Path) -> None:
    document = await _document(tmp_path)
    schemas = document["components"]["schemas"]
    events = document["paths"]["/sessions/{session}/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    assert {"$ref": "#/components/schemas/Event"} in events["x-event-schema"]["anyOf"]
    assert set(schemas["Event"]["discriminator"]["mapping"]) == set(PAYLOADS)
    delta = schemas["TextDeltaEvent"]["properties"]
    assert delta["type"] == {"const": "text_delta"}
    assert delta["data"] == {"$ref": "#/components/schemas/TextDelta"}
    assert schemas["LogView"]["properties"]["events"]["items"] == {"$ref": "#/components/schemas/Event"}
    streaming = {
        path
        for (_, path), operation in _operations(document).items()
        if "text/event-stream" in operation["responses"].get("200", {}).get("content", {})
    }
    assert {"/api/chat", "/agui", "/v1/chat/completions", "/projects/{project}/events"} <= streaming


async def test_the_document_states_which_routes_need_a_token(tmp_path: Path) -> None:
    document = await _document(tmp_path)
    assert {"token"} <= {name for scheme in document["security"] for name in scheme}
    public = {name for name, operation in _operations(document).items() if operation.get("security") == [{}]}
    assert public == PUBLIC | {("GET", "/preview/{ticket}/{path}")}
    for operation in _operations(document).values():
        errors = {status for status in operation["responses"] if status >= "400"}
        assert {"400", "401", "403"} <= errors


@pytest.mark.parametrize(
    ("body", "read"), [(CompletionBody, read_completion_request), (ResponseBody, read_response_request)]
)
def test_the_parameters_of_v1_are_those_that_the_document_lists(
    body: type[msgspec.Struct], read: Callable[[JsonObject, None], CompletionRequest | ResponseRequest]
) -> None:
    assert read(dict.fromkeys(body.__struct_fields__), None).dropped == ()
    assert read({"unheard_of": 1}, None).dropped == ("unheard_of",)
    with pytest.raises(ApiError, match="'top_logprobs' is not supported"):  # it asks for something
        read({"top_logprobs": 5}, None)


def test_a_route_of_an_extension_is_listed_by_its_docstring() -> None:
    async def weather(_: object) -> Response:
        """The weather of a city."""
        return Response()

    context = context_on(MemoryStore(), {"scripted": lambda: S(["Hello."])})
    extension = Route("/weather/{city}", weather, methods=["GET"])
    listed = list_routes(context, [lambda _: [extension]])
    assert create_app(context, [lambda _: [extension]])
    document = describe_routes(listed.operations, listed.routes, listed.descriptions)
    assert document["paths"]["/weather/{city}"]["get"]["summary"] == "The weather of a city."


def test_no_description_is_of_a_route_that_does_not_exist() -> None:
    walked = {(way.method, way.template) for way in WAYS}
    descriptions = list_routes(context_on(MemoryStore(), {"scripted": lambda: S(["Hello."])})).descriptions
    assert {(description.method, description.path) for description in descriptions} <= walked
    assert describe(descriptions)["paths"]
