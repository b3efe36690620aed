"""The drafts of JSON Schema: which keywords each knows, and the shape of each keyword's value."""

from dataclasses import dataclass
from enum import StrEnum, auto


class Shape(StrEnum):
    """What the value of a keyword has to be."""

    SCHEMA = auto()
    SCHEMA_OR_BOOLEAN = auto()
    """Where boolean schemas were not yet known."""
    SCHEMAS = auto()
    SCHEMA_OR_SCHEMAS = auto()
    SCHEMA_MAP = auto()
    PATTERN_MAP = auto()
    DEPENDENCY_MAP = auto()
    NAMES = auto()
    SOME_NAMES = auto()
    NAMES_MAP = auto()
    TYPES = auto()
    ARRAY = auto()
    NUMBER = auto()
    POSITIVE = auto()
    COUNT = auto()
    INTEGER_COUNT = auto()
    """Where 1.0 is no integer yet."""
    STRING = auto()
    PATTERN = auto()
    ANCHOR = auto()
    IDENTIFIER = auto()
    BOOLEAN = auto()
    BOOLEAN_MAP = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    name: str
    shapes: dict[str, Shape]
    """By keyword. A keyword that is not here says nothing."""
    id_keyword: str = "$id"
    reference_alone: bool = False
    """What stands beside a $ref is ignored."""
    names_by_fragment: bool = False
    """An $id that is a mere fragment names a place, as $anchor does later."""
    boolean_schemas: bool = True
    whole_floats: bool = True
    """1.0 is an integer."""
    contains_marks: bool = False
    """An item that `contains` found is no longer unevaluated."""


_FOUR = {
    "id": Shape.STRING,
    "$ref": Shape.STRING,
    "$schema": Shape.STRING,
    "title": Shape.STRING,
    "description": Shape.STRING,
    "multipleOf": Shape.POSITIVE,
    "maximum": Shape.NUMBER,
    "minimum": Shape.NUMBER,
    "exclusiveMaximum": Shape.BOOLEAN,
    "exclusiveMinimum": Shape.BOOLEAN,
    "maxLength": Shape.INTEGER_COUNT,
    "minLength": Shape.INTEGER_COUNT,
    "pattern": Shape.PATTERN,
    "additionalItems": Shape.SCHEMA_OR_BOOLEAN,
    "items": Shape.SCHEMA_OR_SCHEMAS,
    "maxItems": Shape.INTEGER_COUNT,
    "minItems": Shape.INTEGER_COUNT,
    "uniqueItems": Shape.BOOLEAN,
    "maxProperties": Shape.INTEGER_COUNT,
    "minProperties": Shape.INTEGER_COUNT,
    "required": Shape.SOME_NAMES,
    "additionalProperties": Shape.SCHEMA_OR_BOOLEAN,
    "definitions": Shape.SCHEMA_MAP,
    "properties": Shape.SCHEMA_MAP,
    "patternProperties": Shape.PATTERN_MAP,
    "dependencies": Shape.DEPENDENCY_MAP,
    "enum": Shape.ARRAY,
    "type": Shape.TYPES,
    "format": Shape.STRING,
    "allOf": Shape.SCHEMAS,
    "anyOf": Shape.SCHEMAS,
    "oneOf": Shape.SCHEMAS,
    "not": Shape.SCHEMA,
}

_SIX = {keyword: shape for keyword, shape in _FOUR.items() if keyword != "id"} | {
    "$id": Shape.STRING,
    "examples": Shape.ARRAY,
    "maxLength": Shape.COUNT,
    "minLength": Shape.COUNT,
    "maxItems": Shape.COUNT,
    "minItems": Shape.COUNT,
    "maxProperties": Shape.COUNT,
    "minProperties": Shape.COUNT,
    "exclusiveMaximum": Shape.NUMBER,
    "exclusiveMinimum": Shape.NUMBER,
    "additionalItems": Shape.SCHEMA,
    "additionalProperties": Shape.SCHEMA,
    "required": Shape.NAMES,
    "contains": Shape.SCHEMA,
    "propertyNames": Shape.SCHEMA,
}

_SEVEN = _SIX | {
    "$comment": Shape.STRING,
    "readOnly": Shape.BOOLEAN,
    "contentMediaType": Shape.STRING,
    "contentEncoding": Shape.STRING,
    "if": Shape.SCHEMA,
    "then": Shape.SCHEMA,
    "else": Shape.SCHEMA,
}

_NINETEEN = _SEVEN | {
    "$id": Shape.IDENTIFIER,
    "$anchor": Shape.ANCHOR,
    "$recursiveRef": Shape.STRING,
    "$recursiveAnchor": Shape.BOOLEAN,
    "$vocabulary": Shape.BOOLEAN_MAP,
    "$defs": Shape.SCHEMA_MAP,
    "unevaluatedItems": Shape.SCHEMA,
    "unevaluatedProperties": Shape.SCHEMA,
    "dependentSchemas": Shape.SCHEMA_MAP,
    "dependentRequired": Shape.NAMES_MAP,
    "contentSchema": Shape.SCHEMA,
    "deprecated": Shape.BOOLEAN,
    "writeOnly": Shape.BOOLEAN,
    "maxContains": Shape.COUNT,
    "minContains": Shape.COUNT,
}

_TWENTY = {keyword: shape for keyword, shape in _NINETEEN.items() if keyword != "additionalItems"} | {
    "$dynamicRef": Shape.STRING,
    "$dynamicAnchor": Shape.ANCHOR,
    "$recursiveRef": Shape.STRING,
    "$recursiveAnchor": Shape.ANCHOR,
    "prefixItems": Shape.SCHEMAS,
    "items": Shape.SCHEMA,
}

DRAFT_4 = Draft(
    name="4", shapes=_FOUR, id_keyword="id", reference_alone=True, names_by_fragment=True, boolean_schemas=False,
    whole_floats=False,
)  # fmt: skip
DRAFT_6 = Draft(name="6", shapes=_SIX, reference_alone=True, names_by_fragment=True)
DRAFT_7 = Draft(name="7", shapes=_SEVEN, reference_alone=True, names_by_fragment=True)
DRAFT_2019 = Draft(name="2019-09", shapes=_NINETEEN)
DRAFT_2020 = Draft(name="2020-12", shapes=_TWENTY, contains_marks=True)

_BY_ADDRESS = {
    "json-schema.org/draft-04/schema": DRAFT_4,
    "json-schema.org/draft-06/schema": DRAFT_6,
    "json-schema.org/draft-07/schema": DRAFT_7,
    "json-schema.org/draft/2019-09/schema": DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": DRAFT_2020,
}


def draft_called(address: object, otherwise: Draft = DRAFT_2020) -> Draft:
    """The draft that a `$schema` names."""
    if not isinstance(address, str):
        return otherwise
    return _BY_ADDRESS.get(address.partition("://")[2].rstrip("#"), otherwise)
