"""A document turned into nodes, one for each schema. What is referred to is made when its turn comes."""

from collections.abc import Sequence
from typing import Any, cast

from weft.core.json import JsonObject
from weft.schema import arrays, combinations, numbers, objects, strings, values
from weft.schema.leftovers import unevaluated
from weft.schema.links import link, scoped_link
from weft.schema.node import Node, Path, Rule
from weft.schema.patterns import Pattern
from weft.schema.references import Document, Found


class Compiler:
    """The nodes of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._nodes: dict[Path, Node] = {}
        self._waiting: list[Found] = []
        self._references = 0

    def compile(self) -> Node:
        """The node of the whole document."""
        root = self._node(self._document.root)
        while self._waiting:
            self._node(self._waiting.pop())
        return root

    def _node(self, found: Found) -> Node:
        node = self._nodes.get(found.place)
        if node is None:
            node = self._nodes[found.place] = Node(len(self._nodes))
        elif node.ready:
            self._references += node.refers
            return node
        before = self._references
        if isinstance(found.schema, bool):
            rules = [] if found.schema else [values.refused()]
        else:
            rules = self._rules(found, node)
            if len(rules) == 1 and "$ref" in found.schema:
                node.same_as = self._nodes[self._document.follow(found, "$ref")[0].place]
        node.fill(
            rules,
            remember=self._document.unevaluated,
            refers=self._references > before,
            scope=found.resource.index if self._document.scoped else None,
        )
        return node

    def _rules(self, found: Found, node: Node) -> list[Rule]:
        schema: JsonObject = found.schema
        draft = found.draft
        if draft.reference_alone and "$ref" in schema:
            return [self._link(found, "$ref")]
        known = {keyword: value for keyword, value in schema.items() if keyword in draft.shapes}
        if draft.name != "4" and "const" in schema:
            known["const"] = schema["const"]
        rules = self._values(found, known, node)
        rules += numbers.bounds(known, draft)
        if "multipleOf" in known:
            rules.append(numbers.multiple_of(known["multipleOf"]))
        rules += strings.lengths(known)
        if "pattern" in known:
            rules.append(strings.matching(Pattern(known["pattern"])))
        rules += self._objects(found, known)
        rules += self._arrays(found, known)
        rules += self._combinations(found, known)
        rules += [self._link(found, keyword) for keyword in ("$ref",) if keyword in known]
        if "$dynamicRef" in known:
            rules.append(self._scoped(found, "$dynamicRef"))
        if draft.name == "2019-09" and "$recursiveRef" in known:
            rules.append(self._scoped(found, "$recursiveRef"))
        return rules + self._leftovers(found, known, rules)

    def _values(self, found: Found, known: JsonObject, node: Node) -> list[Rule]:
        rules: list[Rule] = []
        if "type" in known:
            kinds: list[str] = [known["type"]] if isinstance(known["type"], str) else known["type"]
            node.kinds = frozenset(kinds)
            rules.append(values.typed(kinds, whole_floats=found.draft.whole_floats))
        if "enum" in known:
            node.choices = tuple(known["enum"])
            rules.append(values.one_of(known["enum"]))
        if "const" in known:
            node.choices = (known["const"],)
            rules.append(values.one_of([known["const"]]))
        return rules

    def _objects(self, found: Found, known: JsonObject) -> list[Rule]:
        rules: list[Rule] = []
        if known.get("required"):
            rules.append(objects.required(known["required"]))
        if known.keys() & {"properties", "patternProperties", "additionalProperties"}:
            named = {name: self._below(found, "properties", name) for name in known.get("properties", {})}
            patterns = [
                (Pattern(name), self._below(found, "patternProperties", name))
                for name in known.get("patternProperties", {})
            ]
            others = self._optional(found, known, "additionalProperties")
            closed = known.get("additionalProperties") is False
            rules.append(objects.Members(named, patterns, others, closed).rule())
        if "propertyNames" in known:
            rules.append(objects.naming(self._below(found, "propertyNames")))
        needed: JsonObject = known.get("dependentRequired", {})
        dependencies: JsonObject = known.get("dependencies", {})
        needed = needed | {name: each for name, each in dependencies.items() if isinstance(each, list)}
        if needed:
            rules.append(objects.needing(needed))
        return rules + objects.counts(known)

    def _arrays(self, found: Found, known: JsonObject) -> list[Rule]:
        rules: list[Rule] = []
        if "prefixItems" in known:
            rest = self._optional(found, known, "items")
            rules.append(arrays.elements(self._each(found, "prefixItems", known), rest))
        elif isinstance(known.get("items"), list):
            rest = self._optional(found, known, "additionalItems")
            rules.append(arrays.elements(self._each(found, "items", known), rest))
        elif "items" in known:
            rules.append(arrays.elements((), self._below(found, "items")))
        if "contains" in known:
            node = self._below(found, "contains")
            counts = "minContains" in found.draft.shapes
            rules.append(arrays.containing(node, known, marks_found=found.draft.contains_marks, counts=counts))
        return rules + arrays.counts(known)

    def _combinations(self, found: Found, known: JsonObject) -> list[Rule]:
        rules: list[Rule] = []
        if "allOf" in known:
            rules.append(combinations.all_of(self._each(found, "allOf", known)))
        if "anyOf" in known:
            rules.append(combinations.any_of(self._each(found, "anyOf", known)))
        if "oneOf" in known:
            rules.append(combinations.one_of(self._each(found, "oneOf", known)))
        if "not" in known:
            rules.append(combinations.none_of(self._below(found, "not")))
        if "if" in known:
            then, otherwise = self._optional(found, known, "then"), self._optional(found, known, "else")
            rules.append(combinations.conditional(self._below(found, "if"), then, otherwise))
        nodes = {name: self._below(found, "dependentSchemas", name) for name in known.get("dependentSchemas", {})}
        dependencies: JsonObject = known.get("dependencies", {})
        for name, each in dependencies.items():
            if not isinstance(each, list) and name not in nodes:
                nodes[name] = self._below(found, "dependencies", name)
        if nodes:
            rules.append(combinations.dependent(nodes))
        return rules

    def _leftovers(self, found: Found, known: JsonObject, others: Sequence[Rule]) -> list[Rule]:
        """Last, for these keywords have to know what the others did."""
        return [
            unevaluated(kind, tuple(others), self._below(found, keyword), closed=known[keyword] is False)
            for keyword, kind in (("unevaluatedItems", list), ("unevaluatedProperties", dict))
            if keyword in known
        ]

    def _below(self, found: Found, *way: str | int) -> Node:
        return self._node(self._document.at((*found.place, *way)))

    def _each(self, found: Found, keyword: str, known: JsonObject) -> list[Node]:
        return [self._below(found, keyword, at) for at in range(len(cast("list[Any]", known[keyword])))]

    def _optional(self, found: Found, known: JsonObject, keyword: str) -> Node | None:
        return self._below(found, keyword) if keyword in known else None

    def _link(self, found: Found, keyword: str) -> Rule:
        target, _ = self._document.follow(found, keyword)
        return link(self._later(target))

    def _scoped(self, found: Found, keyword: str) -> Rule:
        target, name = self._document.follow(found, keyword)
        name = "#" if keyword == "$recursiveRef" else name
        if not name or name not in target.resource.dynamic:
            return link(self._later(target))
        targets = {
            resource.index: self._later(self._document.at(resource.dynamic[name]))
            for resource in self._document.resources
            if name in resource.dynamic
        }
        return scoped_link(targets, self._later(target))

    def _later(self, found: Found) -> Node:
        self._references += 1
        node = self._nodes.get(found.place)
        if node is None:
            node = self._nodes[found.place] = Node(len(self._nodes))
        if not node.ready:
            self._waiting.append(found)
        return node
