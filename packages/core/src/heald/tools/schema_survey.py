"""Measures JSON Schemas before jsonschema-rs processes them, so that compiling and checking are bounded.

Neither can be interrupted. A schema that is too large, too deep or too recursive is rejected. The cost of a check is
estimated from the schema and the value.
"""

import re
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import unquote, urljoin

from heald.core.json import JsonObject, as_list, as_object
from heald.core.lazy import lazy_pattern
from heald.tools.quoted_values import format_path, quote
from heald.tools.schema_fault import SchemaFault
from heald.tools.schema_patterns import NO_PATTERN, pattern_problem, pattern_weight, portable_pattern
from heald.tools.schema_problem import Path

MAX_NODES = 20_000
MAX_NESTING = 64
MAX_PATTERNS = 500
MAX_RESOURCES = 5
"""Maximum number of nested `$id`s. The compile time of jsonschema-rs grows with their factorial."""
MAX_WORK = 20_000_000
"""Maximum steps of one check: subschemas times values, plus patterns times characters."""
_MAX_CIRCLES = 3
_MAX_CALLS = 100_000
_DRAFTS = lazy_pattern(r"https?://(json-schema\.org/(?:draft-0[467]|draft/20(?:19-09|20-12))/schema)#?")
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_MAPS = ("dependentSchemas", "dependencies")
_MEMBERS = (
    *("additionalItems", "additionalProperties", "contains", "items", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_MEMBER_LISTS = ("items", "prefixItems")
_MEMBER_MAPS = ("patternProperties", "properties")
_DEFINITIONS = ("$defs", "definitions")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class SchemaSurvey:
    """Collects the subschemas of a document and computes its size with references followed.

    Patterns that cannot be run are removed from the document and reported. An unknown `$schema` is also removed, so
    that the document is read as 2020-12.
    """

    def __init__(self, document: Any) -> None:
        self.unchecked: list[str] = []
        self.recursive = False
        self.pattern_weight = 0
        """Estimated number of states of all patterns, which is the maximum number of steps for one character."""
        self._document = document
        self._nodes: dict[Path, tuple[Any, str]] = {}  # schema and base URI
        self._resources: dict[str, Path] = {"": ()}
        self._anchors: dict[str, list[Path]] = {}
        self._patterns = 0
        self._circles = self._calls = 0
        self._sizes: dict[Path, int] = {}
        self._walk((), document, "")
        for path in list(self._nodes):
            self._check_references(path)
        done: set[Path] = set()
        for path in list(self._nodes):
            self._check_circles(path, done, set())
        self.size = self._size(())
        if self.size > MAX_NODES:
            raise SchemaFault((), "the schema is too large once its references are followed; make it simpler.")

    def _walk(self, start: Path, schema: Any, base: str) -> None:
        pending = [(start, schema, base, 0)]
        while pending:
            path, schema, base, depth = pending.pop()
            if depth > MAX_NESTING or len(self._nodes) > MAX_NODES:
                raise SchemaFault(path[:4], "the schema is too large or nested too deeply; make it simpler.")
            if path in self._nodes:
                continue
            if isinstance(schema, dict):
                base = self._read_names(path, cast("JsonObject", schema), base)
                self._read_patterns(path, cast("JsonObject", schema))
            elif not isinstance(schema, bool):
                raise SchemaFault(path, f"{quote(schema)} is not a schema; give an object.")
            self._nodes[path] = (schema, base)
            below = [*_same_value(as_object(schema)), *_members(as_object(schema))]
            below += [
                ((keyword, *rest), subschema) for keyword in _DEFINITIONS for rest, subschema in _map(schema, keyword)
            ]
            pending += [((*path, *rest), subschema, base, depth + 1) for rest, subschema in below]

    def _read_names(self, path: Path, schema: JsonObject, base: str) -> str:
        """Register the `$id` and the anchors of a schema. Return its base URI."""
        draft = schema.get("$schema")
        if isinstance(draft, str):
            standard = _DRAFTS.fullmatch(draft)
            if standard is None:
                del schema["$schema"]
            else:
                old = "draft-0" in draft
                schema["$schema"] = f"http{'' if old else 's'}://{standard[1]}{'#' if old else ''}"
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors.setdefault(name, []).append(path)
        for keyword in ("$id", "id"):
            name = schema.get(keyword)
            if not isinstance(name, str) or (keyword == "id" and not name.startswith(("#", "http", "urn:"))):
                continue
            if name.startswith("#"):
                self._anchors.setdefault(name[1:], []).append(path)
                continue
            base = _join(base, name, (*path, keyword)).partition("#")[0]
            self._resources.setdefault(base, path)
            if len(set(self._resources.values())) > MAX_RESOURCES + 1:
                raise SchemaFault((*path, keyword), "the schema has too many parts with an $id; use $defs alone.")
        return base

    def _read_patterns(self, path: Path, schema: JsonObject) -> None:
        if isinstance(schema.get("pattern"), str):
            schema["pattern"] = portable_pattern(schema["pattern"])
        names = as_object(schema.get("patternProperties"))
        sources: list[tuple[Path, str]] = [((*path, "patternProperties", name), name) for name in names]
        if isinstance(pattern := schema.get("pattern"), str):
            sources.append(((*path, "pattern"), pattern))
        for place, source in sources:
            self._patterns += 1
            if self._patterns > MAX_PATTERNS:
                raise SchemaFault(place, f"the schema has more than {MAX_PATTERNS} patterns; use fewer.")
            self.pattern_weight += pattern_weight(source)
            problem = pattern_problem(source)
            if problem is not None and (place[-1] != "pattern" or problem == NO_PATTERN or source in names):
                raise SchemaFault(place, f"{quote(source)} {problem}.")
            if problem is not None:
                self.unchecked.append(f"{format_path(place)} is not checked: {quote(source)} {problem}.")
                del schema["pattern"]

    def _check_references(self, path: Path) -> None:
        schema, _ = self._nodes[path]
        for keyword in _REFERENCES:
            if isinstance(as_object(schema).get(keyword), str):
                self._targets(path, keyword)

    def _targets(self, path: Path, keyword: str) -> list[Path]:
        """Return the possible targets of a reference. A dynamic one may refer to every anchor of its name."""
        schema, base = self._nodes[path]
        reference: str = schema[keyword]
        address, _, fragment = _join(base, reference, (*path, keyword)).partition("#")
        resource = self._resources.get(address)
        if resource is None:
            raise SchemaFault(
                (*path, keyword), f"{quote(reference)} is in another document, which is not fetched; put it into $defs."
            )
        fragment = unquote(fragment)
        if not fragment:
            return [resource]
        if not fragment.startswith("/"):
            if fragment not in self._anchors:
                raise SchemaFault((*path, keyword), f"nothing is called {quote(fragment)} in this schema.")
            return self._anchors[fragment]
        for start in (resource, ()):
            target = self._point(start, fragment)
            if target is not None:
                return [target]
        raise SchemaFault((*path, keyword), f"{quote(f'#{fragment}')} leads nowhere in this schema.")

    def _point(self, start: Path, pointer: str) -> Path | None:
        schema: Any = self._document
        for part in start:
            schema = schema[part]
        path = start
        for part in pointer[1:].split("/"):
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(schema, list):
                # pyrefly: ignore[no-matching-overload]
                if not re.fullmatch("0|[1-9][0-9]{0,8}", key) or int(key) >= len(cast("list[Any]", schema)):
                    return None
                key = int(key)
            elif not isinstance(schema, dict) or key not in schema:
                return None
            schema = cast("Any", schema)[key]
            path = (*path, key)
        if path not in self._nodes:
            node_count = len(self._nodes)
            self._walk(path, schema, self._nodes[start][1])
            for new in list(self._nodes)[node_count:]:
                self._check_references(new)
        return path

    def _linked(self, path: Path) -> Iterator[Path]:
        """Yield the schemas that a schema applies to the same value."""
        schema = as_object(self._nodes[path][0])
        yield from ((*path, *rest) for rest, _ in _same_value(schema))
        for keyword in _REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield from self._targets(path, keyword)

    def _check_circles(self, path: Path, done: set[Path], open_paths: set[Path]) -> None:
        """Reject a schema with too many reference cycles that do not descend into the value."""
        if path in done:
            return
        open_paths.add(path)
        for linked in self._linked(path):
            if linked in open_paths:
                self._circles += 1
                if self._circles > _MAX_CIRCLES:
                    raise SchemaFault(path, "the schema refers to itself in too many circles; make it simpler.")
            else:
                self._check_circles(linked, done, open_paths)
        open_paths.remove(path)
        done.add(path)

    def _size(self, path: Path) -> int:
        """Return the maximum number of schemas that a check visits. A recursive schema counts once."""
        size_before = self._sizes.get(path)
        if size_before is not None:
            self.recursive = self.recursive or size_before == 0
            return max(size_before, 1)
        self._sizes[path] = 0
        schema = as_object(self._nodes[path][0])
        below = [*self._linked(path), *((*path, *rest) for rest, _ in _members(schema))]
        size = _names(schema) + sum(map(self._size, below))
        if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
            size *= 3  # sibling schemas are evaluated again to find the evaluated members
        self._sizes[path] = size = min(size + 1, MAX_WORK)
        return size

    def work(self, value: Any) -> int:
        """Return the maximum steps of a check of this value. More than MAX_WORK if there are too many to count."""
        self._calls = 0
        try:
            return self._work((), value, {})
        except RecursionError:
            return MAX_WORK + 1

    def _work(self, path: Path, value: Any, counted: dict[tuple[Path, int], int]) -> int:
        self._calls += 1
        if self._calls > _MAX_CALLS:
            raise RecursionError
        key = (path, id(value))
        if key in counted:
            return counted[key]
        counted[key] = 1
        schema = as_object(self._nodes[path][0])
        steps = 1 + _names(schema) + sum(self._work(linked, value, counted) for linked in self._linked(path))
        if isinstance(value, str) and isinstance(schema.get("pattern"), str):
            steps += len(value) * pattern_weight(schema["pattern"])
        if isinstance(value, dict | list):
            named = as_object(schema.get("properties"))
            members: list[tuple[Any, Any]] = (
                list(cast("JsonObject", value).items()) if isinstance(value, dict) else list(enumerate(as_list(value)))
            )
            others = [rest for rest, _ in _members(schema) if rest[0] != "properties"]
            for name, member in members:
                if name in named:
                    steps += self._work((*path, "properties", name), member, counted)
                steps += sum(self._work((*path, *rest), member, counted) for rest in others)
                steps += len(str(name)) * len(as_object(schema.get("patternProperties")))
        counted[key] = steps = min(steps, MAX_WORK + 1)
        return steps


def _same_value(schema: JsonObject) -> Iterator[tuple[Path, Any]]:
    """Yield the subschemas that apply to the value itself, each with its path."""
    yield from (((keyword,), schema[keyword]) for keyword in _SAME_VALUE if keyword in schema)
    for keyword in _SAME_VALUE_LISTS:
        yield from _list(schema, keyword)
    for keyword in _SAME_VALUE_MAPS:
        yield from (
            ((keyword, *rest), subschema)
            for rest, subschema in _map(schema, keyword)
            if not isinstance(subschema, list)
        )


def _members(schema: JsonObject) -> Iterator[tuple[Path, Any]]:
    """Yield the subschemas that apply to the members or items of the value, each with its path."""
    yield from (((key,), schema[key]) for key in _MEMBERS if key in schema and not isinstance(schema[key], list))
    for keyword in _MEMBER_LISTS:
        yield from _list(schema, keyword)
    for keyword in _MEMBER_MAPS:
        yield from (((keyword, *rest), subschema) for rest, subschema in _map(schema, keyword))


def _list(schema: JsonObject, keyword: str) -> Iterator[tuple[Path, Any]]:
    return (((keyword, at), subschema) for at, subschema in enumerate(as_list(schema.get(keyword))))


def _map(schema: Any, keyword: str) -> Iterator[tuple[tuple[str], Any]]:
    return (((name,), subschema) for name, subschema in as_object(as_object(schema).get(keyword)).items())


def _names(schema: JsonObject) -> int:
    """Return how many property names the `required` and dependency keywords list."""
    lists = (schema.get(keyword) for keyword in ("dependencies", "dependentRequired", "required"))
    return sum(len(cast("list[Any]", names)) for names in lists if isinstance(names, list | dict))


def _join(base: str, reference: str, place: Path) -> str:
    try:
        return urljoin(base, reference) if not reference.startswith("urn:") else reference
    except ValueError:
        raise SchemaFault(place, f"{quote(reference)} is not an address.") from None
