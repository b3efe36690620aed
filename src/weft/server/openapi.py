"""The OpenAPI document, made from the operations and their types."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from weft import __version__
from weft.core.json import JsonObject
from weft.server.operations import Operation
from weft.server.refusal import STATUS, Code, Failed

_REF = "#/components/schemas/{name}"
_ALWAYS: tuple[Code, ...] = ("invalid", "unauthorized", "forbidden", "unavailable", "internal")
_OF_BODIES: tuple[Code, ...] = ("unsupported_media_type", "too_large")
_BINARY: JsonObject = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


def document(operations: Sequence[Operation]) -> JsonObject:
    types = [kind for each in operations for kind in (each.body, each.answer, each.query) if _is_type(kind)]
    unique = list(dict.fromkeys([*types, Failed]))
    schemas, components = msgspec.json.schema_components(unique, ref_template=_REF)
    by_type = dict(zip(unique, schemas, strict=True))
    paths: JsonObject = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, by_type, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Weft", "version": __version__, "description": "Sessions with models that call tools."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _operation(operation: Operation, schemas: dict[Any, JsonObject], components: JsonObject) -> JsonObject:
    told: JsonObject = {
        "summary": operation.summary,
        "tags": [operation.tag],
        "operationId": re.sub(r"\W+", "_", f"{operation.method.lower()}{operation.path}").strip("_"),
        "parameters": [*_path_parameters(operation), *_query_parameters(operation, components)],
        "responses": _responses(operation, schemas),
    }
    if operation.body is bytes:
        told["requestBody"] = {"required": True, "content": _BINARY}
    elif operation.body is not None:
        content = {"application/json": {"schema": schemas[operation.body]}}
        told["requestBody"] = {"required": not operation.body_optional, "content": content}
    return told


def _path_parameters(operation: Operation) -> list[JsonObject]:
    names = re.findall(r"\{(\w+)\}", operation.path)
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for name in names
    ]


def _query_parameters(operation: Operation, components: JsonObject) -> list[JsonObject]:
    if operation.query is None:
        return []
    properties = components[operation.query.__name__]["properties"]
    return [{"name": name, "in": "query", "schema": schema} for name, schema in properties.items()]


def _responses(operation: Operation, schemas: dict[Any, JsonObject]) -> JsonObject:
    said: JsonObject = {"description": "Done."}
    if operation.answer is not None:
        said["content"] = {operation.media: {"schema": schemas[operation.answer]}}
    elif operation.media == "application/octet-stream":
        said["content"] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
    elif operation.status != 204:
        said["content"] = {operation.media: {"schema": {"type": "string"}}}
    responses: JsonObject = {str(operation.status): said}
    refused = {"content": {"application/json": {"schema": schemas[Failed]}}}
    codes: list[Code] = [*_ALWAYS, *operation.refusals, *(_OF_BODIES if operation.body else ())]
    for code in dict.fromkeys(codes):
        status = str(STATUS[code])
        named = responses.get(status, {"description": "Refused:"})
        responses[status] = {**refused, "description": f"{named['description']} {code}"}
    return responses


def _is_type(kind: Any) -> bool:
    return kind is not None and kind is not bytes
