"""The OpenAPI document: every route of the application, with bodies, events, errors and authentication.

Operations describe themselves; streams, pages and routes of other protocols have a `RouteDescription`. WebSockets,
which OpenAPI does not know, are listed under `x-websockets`, and the events of a stream under `x-event-schema`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.routing import BaseRoute, Route, WebSocketRoute

from weft import __version__
from weft.core.envelope import PAYLOADS, event_schema
from weft.core.json import JsonObject, as_list, as_object
from weft.server.errors import STATUS, ErrorBody, ErrorCode
from weft.server.operations import Operation

EVENT_STREAM = "text/event-stream"

_REFERENCE = "#/components/schemas/{name}"
_COMMON_CODES: tuple[ErrorCode, ...] = ("invalid", "unauthorized", "forbidden", "unavailable", "internal")
_BODY_CODES: tuple[ErrorCode, ...] = ("unsupported_media_type", "too_large")
_BINARY: JsonObject = {"schema": {"type": "string", "format": "binary"}}
_SECURITY: list[JsonObject] = [{"token": []}, {"cookie": []}]
_SECURITY_SCHEMES: JsonObject = {
    "token": {"type": "http", "scheme": "bearer", "description": "The access token of the server."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "weft_7878",
        "description": "Set by POST /login for the page of the server. The number is the port of the server.",
    },
}
_INFO: JsonObject = {
    "title": "Weft",
    "version": __version__,
    "description": "Sessions with models that call tools. Every token, tool call and file change is an event.",
}


class EventType:
    """Stands for an event of a session's log in `RouteDescription.events`."""


@dataclass(frozen=True, slots=True)
class RouteDescription:
    """A method on a path that is no `Operation`, for the document. A WebSocket has the method `WS`."""

    method: str
    path: str
    summary: str
    tag: str
    response: Any = None
    """The type of a JSON response."""
    body: Any = None
    """The type of a JSON body, or of a message to a WebSocket."""
    body_optional: bool = False
    query: type[msgspec.Struct] | None = None
    status: int = 200
    media_type: str = "application/json"
    """Of a response without a type; empty for a response without a body."""
    events: Sequence[Any] = ()
    """The types of the events in a stream, or of messages from a WebSocket. The response streams if there are any."""
    more: Mapping[int, str] | None = None
    """Further successful statuses without a body, and what they mean."""
    errors: Sequence[ErrorCode] = ()
    error_body: Any = ErrorBody
    is_public: bool = False
    """The route needs no token."""


Described = Operation | RouteDescription


def describe(described: Sequence[Described]) -> JsonObject:
    """The document of the given routes."""
    return _Document(described).build()


def describe_routes(
    operations: Sequence[Operation], routes: Sequence[BaseRoute], descriptions: Sequence[RouteDescription]
) -> JsonObject:
    """The document of operations and of further routes. A route without a description is listed by its docstring."""
    known = {(each.method, each.path): each for each in descriptions}
    described: list[Described] = [*operations]
    for method, path, endpoint in list_paths(routes):
        summary = (getattr(endpoint, "__doc__", None) or "A route of this server.").strip().partition("\n")[0]
        undescribed = RouteDescription(method, path, summary, "other", media_type="*/*")
        described.append(known.get((method, path), undescribed))
    return describe(described)


def list_paths(routes: Sequence[BaseRoute]) -> list[tuple[str, str, object]]:
    """Method, path in OpenAPI's notation and endpoint of each route."""
    found: list[tuple[str, str, object]] = []
    for route in routes:
        if isinstance(route, Route | WebSocketRoute):
            methods = {"WS"} if isinstance(route, WebSocketRoute) else (route.methods or set()) - {"HEAD"}
            path = re.sub(r":\w+}", "}", route.path)
            found += [(method, path, route.endpoint) for method in sorted(methods)]
    return found


class _Document:
    """Builds one document."""

    def __init__(self, described: Sequence[Described]) -> None:
        self._described = described
        types = [kind for each in described for kind in _types_of(each)]
        unique = list(dict.fromkeys([*types, ErrorBody, *PAYLOADS.values()]))
        schemas, components = msgspec.json.schema_components(unique, ref_template=_REFERENCE)
        self._components: JsonObject = _complete(components)
        self._schemas: dict[Any, JsonObject] = dict(zip(unique, schemas, strict=True))
        self._schemas[EventType] = self._add_events()

    def build(self) -> JsonObject:
        paths: JsonObject = {}
        sockets: JsonObject = {}
        for each in self._described:
            if each.method == "WS":
                assert isinstance(each, RouteDescription)
                sockets[each.path] = self._socket(each)
            else:
                paths.setdefault(each.path, {})[each.method.lower()] = self._operation(each)
        document: JsonObject = {
            "openapi": "3.1.0",
            "info": _INFO,
            "paths": paths,
            "components": {"schemas": self._components, "securitySchemes": _SECURITY_SCHEMES},
            "security": _SECURITY,
        }
        return document | ({"x-websockets": sockets} if sockets else {})

    def _add_events(self) -> JsonObject:
        """Add the schema of each event with its envelope, and return that of any event."""
        mapping: JsonObject = {}
        for (name, kind), schema in zip(PAYLOADS.items(), event_schema()["oneOf"], strict=True):
            properties = schema["properties"] | {"data": self._schemas[kind]}
            component = f"{kind.__name__}Event"
            self._components[component] = {**schema, "title": component, "properties": properties}
            mapping[name] = _REFERENCE.format(name=component)
        self._components["Event"] = {
            "title": "Event",
            "description": "A fact in a session's log. A client ignores types that it does not know.",
            "oneOf": [{"$ref": reference} for reference in mapping.values()],
            "discriminator": {"propertyName": "type", "mapping": mapping},
        }
        log = self._components.get("LogView")
        if log is not None:
            log["properties"]["events"]["items"] = {"$ref": _REFERENCE.format(name="Event")}
        return {"$ref": _REFERENCE.format(name="Event")}

    def _operation(self, each: Described) -> JsonObject:
        described: JsonObject = {
            "summary": each.summary,
            "tags": [each.tag],
            "operationId": re.sub(r"\W+", "_", f"{each.method.lower()}{each.path}").strip("_"),
            "parameters": self._parameters(each),
            "responses": self._responses(each),
        }
        if isinstance(each, RouteDescription) and each.is_public:
            described["security"] = [{}]
        if each.body is bytes:
            described["requestBody"] = {"required": True, "content": {"application/octet-stream": _BINARY}}
        elif each.body is not None:
            content = {"application/json": {"schema": self._schemas[each.body]}}
            described["requestBody"] = {"required": not each.body_optional, "content": content}
        return described

    def _socket(self, each: RouteDescription) -> JsonObject:
        return {
            "summary": each.summary,
            "tags": [each.tag],
            "parameters": self._parameters(each),
            "protocols": ["weft", "weft.bearer.{token}"],
            "client": self._schemas[each.body] if each.body is not None else {},
            "server": self._any_of(each.events),
        }

    def _parameters(self, each: Described) -> list[JsonObject]:
        names = re.findall(r"\{(\w+)\}", each.path)
        text = {"type": "string", "minLength": 1}
        parameters: list[JsonObject] = [
            {"name": name, "in": "path", "required": True, "schema": text} for name in names
        ]
        if each.query is not None:
            shape = self._components[each.query.__name__]
            for name, schema in shape["properties"].items():
                required = {"required": True} if name in shape.get("required", ()) else {}
                parameters.append({"name": name, "in": "query", **required, "schema": schema})
        return parameters

    def _responses(self, each: Described) -> JsonObject:
        success: JsonObject = {"description": "Done."}
        content = self._content(each)
        if content:
            success["content"] = content
        responses: JsonObject = {str(each.status): success}
        is_route = isinstance(each, RouteDescription)
        for status, meaning in ((is_route and each.more) or {}).items():
            responses[str(status)] = {"description": meaning}
        body = each.error_body if is_route else ErrorBody
        refused = {"content": {"application/json": {"schema": self._schemas[body]}}}
        codes: list[ErrorCode] = [*_COMMON_CODES, *each.errors, *(_BODY_CODES if each.body else ())]
        for code in dict.fromkeys(codes):
            status = str(STATUS[code])
            named = responses.get(status, {"description": "Error:"})
            responses[status] = {**refused, "description": f"{named['description']} {code}"}
        return responses

    def _content(self, each: Described) -> JsonObject:
        if each.status == 204 or not each.media_type:
            return {}
        content: JsonObject = {}
        if each.response is not None:
            content["application/json"] = {"schema": self._schemas[each.response]}
        if isinstance(each, RouteDescription) and each.events:
            content[EVENT_STREAM] = {"schema": {"type": "string"}, "x-event-schema": self._any_of(each.events)}
        if content:
            return content
        if each.media_type in ("application/octet-stream", "*/*"):
            return {"*/*": _BINARY}
        is_text = each.media_type.startswith(("text/", "application/x-ndjson"))
        return {each.media_type: {"schema": {"type": "string"}} if is_text else _BINARY}

    def _any_of(self, kinds: Sequence[Any]) -> JsonObject:
        schemas = [self._schemas[kind] for kind in kinds]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _complete(schema: Any) -> Any:
    """A schema whose arrays and open objects state what they contain, as generators of clients need it."""
    if isinstance(schema, list):
        return [_complete(each) for each in as_list(schema)]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _complete(value) for name, value in as_object(schema).items()}
    if plain.get("type") == "object" and "properties" not in plain:
        return {"additionalProperties": True} | plain
    if plain.get("type") != "array":
        return plain
    items: list[JsonObject] = plain.pop("prefixItems", [{}])  # a tuple of equal items is an array of a fixed length
    return plain | {"items": plain.get("items") or items[0]}


def _types_of(each: Described) -> list[Any]:
    kinds: list[Any] = [each.body, each.response, each.query]
    if isinstance(each, RouteDescription):
        kinds += [each.error_body, *each.events]
    return [kind for kind in kinds if kind not in (None, bytes, EventType)]
