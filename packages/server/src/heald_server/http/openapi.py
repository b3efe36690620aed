"""The OpenAPI document: every route of the application, with bodies, events, errors and authentication.

Operations describe themselves; streams, pages and routes of other protocols have a `RouteDescription`. WebSockets,
which OpenAPI does not know, are listed under `x-websockets`, and the events of a stream under `x-event-schema`.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.routing import BaseRoute, Route, WebSocketRoute

from heald import __version__
from heald.core.envelope import PAYLOADS, event_schema
from heald.core.json import JsonObject, as_list, as_object
from heald_server.http.errors import STATUS, ErrorBody, ErrorCode
from heald_server.http.operations import Operation
from heald_server.http.route_description import EventType, RouteDescription

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
        "name": "heald_7878",
        "description": "Set by POST /login for the page of the server. The number is the port of the server.",
    },
}
_INFO: JsonObject = {
    "title": "Heald",
    "version": __version__,
    "description": "Sessions with models that call tools. Every token, tool call and file change is an event.",
}

Described = Operation | RouteDescription


def describe(described: Sequence[Described]) -> JsonObject:
    """The document of the given routes."""
    return _Document(described).build()


def describe_routes(
    operations: Sequence[Operation], routes: Sequence[BaseRoute], descriptions: Sequence[RouteDescription]
) -> JsonObject:
    """The document of operations and of further routes. A route without a description is listed by its docstring;
    several descriptions of one route are merged."""
    by_route: dict[tuple[str, str], RouteDescription] = {}
    for description in descriptions:
        key = description.method, description.path
        by_route[key] = by_route[key].merge(description) if key in by_route else description
    described: list[Described] = [*operations]
    for method, path, endpoint in list_paths(routes):
        summary = (getattr(endpoint, "__doc__", None) or "A route of this server.").strip().partition("\n")[0]
        undescribed = RouteDescription(method, path, summary, "other", media_type="*/*")
        described.append(by_route.get((method, path), undescribed))
    return describe(described)


def list_paths(routes: Sequence[BaseRoute]) -> list[tuple[str, str, object]]:
    """Method, path in OpenAPI's notation and endpoint of each route."""
    paths: list[tuple[str, str, object]] = []
    for route in routes:
        if isinstance(route, Route | WebSocketRoute):
            methods = {"WS"} if isinstance(route, WebSocketRoute) else (route.methods or set()) - {"HEAD"}
            path = re.sub(r":\w+}", "}", route.path)
            paths += [(method, path, route.endpoint) for method in sorted(methods)]
    return paths


class _Document:
    """Builds one document."""

    def __init__(self, described: Sequence[Described]) -> None:
        self._described = described
        types = [kind for route in described for kind in _types_of(route)]
        unique = list(dict.fromkeys([*types, ErrorBody, *PAYLOADS.values()]))
        schemas, components = msgspec.json.schema_components(unique, ref_template=_REFERENCE)
        self._components: JsonObject = _complete(components)
        self._schemas: dict[Any, JsonObject] = dict(zip(unique, schemas, strict=True))
        self._schemas[EventType] = self._add_events()

    def build(self) -> JsonObject:
        paths: JsonObject = {}
        sockets: JsonObject = {}
        for route in self._described:
            if route.method == "WS":
                assert isinstance(route, RouteDescription)
                sockets[route.path] = self._socket(route)
            else:
                paths.setdefault(route.path, {})[route.method.lower()] = self._operation(route)
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

    def _operation(self, route: Described) -> JsonObject:
        described: JsonObject = {
            "summary": route.summary,
            "tags": [route.tag],
            "operationId": re.sub(r"\W+", "_", f"{route.method.lower()}{route.path}").strip("_"),
            "parameters": self._parameters(route),
            "responses": self._responses(route),
        }
        if isinstance(route, RouteDescription) and route.is_public:
            described["security"] = [{}]
        if route.body is bytes:
            described["requestBody"] = {"required": True, "content": {"application/octet-stream": _BINARY}}
        elif route.body is not None:
            content = {"application/json": {"schema": self._schemas[route.body]}}
            described["requestBody"] = {"required": not route.body_optional, "content": content}
        return described

    def _socket(self, route: RouteDescription) -> JsonObject:
        return {
            "summary": route.summary,
            "tags": [route.tag],
            "parameters": self._parameters(route),
            "protocols": ["heald", "heald.bearer.{token}"],
            "client": self._any_of([route.body, *route.more_bodies]) if route.body is not None else {},
            "server": self._any_of(route.events),
        }

    def _parameters(self, route: Described) -> list[JsonObject]:
        names = re.findall(r"\{(\w+)\}", route.path)
        text = {"type": "string", "minLength": 1}
        parameters: list[JsonObject] = [
            {"name": name, "in": "path", "required": True, "schema": text} for name in names
        ]
        if route.query is not None:
            shape = self._components[route.query.__name__]
            for name, schema in shape["properties"].items():
                required = {"required": True} if name in shape.get("required", ()) else {}
                parameters.append({"name": name, "in": "query", **required, "schema": schema})
        return parameters

    def _responses(self, route: Described) -> JsonObject:
        success: JsonObject = {"description": "Done."}
        content = self._content(route)
        if content:
            success["content"] = content
        responses: JsonObject = {str(route.status): success}
        is_route = isinstance(route, RouteDescription)
        for status, meaning in ((is_route and route.more) or {}).items():
            responses[str(status)] = {"description": meaning}
        body = route.error_body if is_route else ErrorBody
        refused = {"content": {"application/json": {"schema": self._schemas[body]}}}
        codes: list[ErrorCode] = [*_COMMON_CODES, *route.errors, *(_BODY_CODES if route.body else ())]
        for code in dict.fromkeys(codes):
            status = str(STATUS[code])
            named = responses.get(status, {"description": "Error:"})
            responses[status] = {**refused, "description": f"{named['description']} {code}"}
        return responses

    def _content(self, route: Described) -> JsonObject:
        if route.status == 204 or not route.media_type:
            return {}
        content: JsonObject = {}
        if route.response is not None:
            media_type = route.media_type if route.media_type.endswith("+json") else "application/json"
            content[media_type] = {"schema": self._schemas[route.response]}
        if isinstance(route, RouteDescription) and route.events:
            content[EVENT_STREAM] = {"schema": {"type": "string"}, "x-event-schema": self._any_of(route.events)}
        if content:
            return content
        if route.media_type in ("application/octet-stream", "*/*"):
            return {"*/*": _BINARY}
        is_text = route.media_type.startswith(("text/", "application/x-ndjson"))
        return {route.media_type: {"schema": {"type": "string"}} if is_text else _BINARY}

    def _any_of(self, kinds: Sequence[Any]) -> JsonObject:
        schemas = [self._schemas[kind] for kind in kinds]
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _complete(schema: Any) -> Any:
    """A schema whose arrays and open objects state what they contain, as generators of clients need it."""
    if isinstance(schema, list):
        return [_complete(item) for item in as_list(schema)]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _complete(value) for name, value in as_object(schema).items()}
    if plain.get("type") == "object" and "properties" not in plain:
        return {"additionalProperties": True} | plain
    if plain.get("type") != "array":
        return plain
    items: list[JsonObject] = plain.pop("prefixItems", [{}])  # a tuple of equal items is an array of a fixed length
    return plain | {"items": plain.get("items") or items[0]}


def _types_of(route: Described) -> list[Any]:
    kinds: list[Any] = [route.body, route.response, route.query]
    if isinstance(route, RouteDescription):
        kinds += [route.error_body, *route.events, *route.more_bodies]
    return [kind for kind in kinds if kind not in (None, bytes, EventType)]
