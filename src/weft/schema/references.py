"""One document: its schemas, what they are called, and where a reference leads. Nothing is ever fetched.

The document is surveyed once, without recursion: every schema in it is found, checked for its shape, and noted with the
address it has, so that a reference is a look into a table.
"""

import re
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import unquote, urljoin

from weft.core.json import JsonObject, as_list, as_object
from weft.schema.drafts import Draft, draft_called
from weft.schema.faults import SchemaFault
from weft.schema.node import Path
from weft.schema.shapes import check_keywords, subschemas
from weft.schema.wording import shown

MAX_NESTING = 64
MAX_SCHEMAS = 50_000
_INDEX = re.compile(r"(0|[1-9][0-9]{0,8})\Z")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True)
class Resource:
    """A part of the document with an address of its own. The document itself is the first."""

    index: int
    place: Path
    schema: Any
    anchors: dict[str, Path] = field(default_factory=dict[str, Path])
    dynamic: dict[str, Path] = field(default_factory=dict[str, Path])


@dataclass(frozen=True, slots=True)
class Found:
    """A schema of the document, and how it is to be read."""

    place: Path
    schema: Any
    base: str
    draft: Draft
    resource: Resource


class Document:
    """A schema with everything in it that can be referred to."""

    def __init__(self, schema: Any) -> None:
        self.resources: list[Resource] = []
        self.unevaluated = False
        """Some keyword asks what others have looked at."""
        self.scoped = False
        """Some reference depends on the way that led to it."""
        self._by_address: dict[str, Resource] = {}
        self._found: dict[Path, Found] = {}
        self._references: list[tuple[Found, str]] = []
        draft = draft_called(as_object(schema).get("$schema"))
        root = self._add_resource("", (), schema)
        self._survey(Found((), schema, "", draft, root))
        for found, keyword in self._references:
            self._known(found, keyword)
        self.root = self._found[()]

    def at(self, place: Path) -> Found:
        return self._found[place]

    def follow(self, found: Found, keyword: str) -> tuple[Found, str]:
        """Where a reference leads, and the name it uses if it uses one."""
        resource, fragment = self._known(found, keyword)
        place = (*found.place, keyword)
        if not fragment:
            return self._found[resource.place], ""
        if fragment.startswith("/"):
            return self._pointed(resource, fragment, place), ""
        target = resource.anchors.get(fragment, resource.dynamic.get(fragment))
        if target is None:
            raise SchemaFault(place, f"nothing is called {shown(fragment)} in this schema.")
        return self._found[target], fragment

    def _known(self, found: Found, keyword: str) -> tuple[Resource, str]:
        reference = found.schema[keyword]
        address, _, fragment = _joined(found.base, reference, (*found.place, keyword)).partition("#")
        resource = self._by_address.get(address)
        if resource is None:
            raise SchemaFault(
                (*found.place, keyword),
                f"{shown(reference)} is in another document, which is not fetched; put it into $defs.",
            )
        return resource, unquote(fragment)

    def _pointed(self, resource: Resource, pointer: str, asked: Path) -> Found:
        schema: Any = resource.schema
        place = resource.place
        near = self._found[place]
        for part in pointer[1:].split("/"):
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                schema = dict(enumerate(as_list(schema)))
                key = int(part) if _INDEX.match(part) else part
            if not isinstance(schema, dict) or key not in schema:
                raise SchemaFault(asked, f"{shown('#' + pointer)} leads nowhere in this schema.")
            schema = cast(Any, schema)[key]
            place = (*place, key)
            near = self._found.get(place, near)
        if place not in self._found:
            self._survey(Found(place, schema, near.base, near.draft, near.resource))
        return self._found[place]

    def _survey(self, first: Found) -> None:
        pending = [(first, 0)]
        while pending:
            found, depth = pending.pop()
            if depth > MAX_NESTING or len(self._found) > MAX_SCHEMAS:
                raise SchemaFault(found.place[:4], "the schema is too large or nested too deeply; make it simpler.")
            found = self._named(found)
            self._found[found.place] = found
            schema: Any = found.schema
            if isinstance(schema, bool) and (found.draft.boolean_schemas or _may_be_boolean(found.place)):
                continue
            if not isinstance(schema, dict):
                raise SchemaFault(found.place, f"{shown(schema)} is no schema; give an object.")
            known = cast(JsonObject, schema)
            check_keywords(known, found.draft, found.place)
            self.unevaluated |= "unevaluatedProperties" in known or "unevaluatedItems" in known
            for keyword in _REFERENCES:
                if keyword in known and keyword in found.draft.shapes:
                    self._references.append((found, keyword))
                    self.scoped |= keyword != "$ref"
            pending += [
                (Found((*found.place, *way), each, found.base, found.draft, found.resource), depth + 1)
                for way, each in subschemas(known, found.draft)
            ]

    def _named(self, found: Found) -> Found:
        """The schema with the address and the names that it gives itself."""
        schema = as_object(found.schema)
        draft = draft_called(schema.get("$schema"), found.draft)
        if draft.reference_alone and "$ref" in schema and found.place:
            return found
        name = schema.get(draft.id_keyword)
        if isinstance(name, str):
            base, _, fragment = _joined(found.base, name, (*found.place, draft.id_keyword)).partition("#")
            if fragment and draft.names_by_fragment:
                (self._by_address.get(base) or found.resource).anchors.setdefault(fragment, found.place)
            if not name.startswith("#"):
                resource = self._add_resource(base, found.place, schema) if found.place else found.resource
                self._by_address.setdefault(base, resource)
                found = Found(found.place, schema, base, draft, resource)
        _note_anchors(schema, found)
        return found

    def _add_resource(self, base: str, place: Path, schema: Any) -> Resource:
        resource = Resource(len(self.resources), place, schema)
        self.resources.append(resource)
        self._by_address.setdefault(base, resource)
        return resource


def _note_anchors(schema: JsonObject, found: Found) -> None:
    for keyword, names in (("$anchor", found.resource.anchors), ("$dynamicAnchor", found.resource.dynamic)):
        name = schema.get(keyword)
        if keyword in found.draft.shapes and isinstance(name, str):
            names.setdefault(name, found.place)
    if schema.get("$recursiveAnchor") is True and found.place == found.resource.place:
        found.resource.dynamic.setdefault("#", found.place)


def _may_be_boolean(place: Path) -> bool:
    return place[-1:] in (("additionalItems",), ("additionalProperties",))


def _joined(base: str, reference: str, place: Path) -> str:
    if not reference or reference.startswith("#"):
        return base + reference
    try:
        return urljoin(base, reference)
    except ValueError:
        raise SchemaFault(place, f"{shown(reference)} is no address.") from None
