"""The sentences for the keywords of a JSON Schema that a value violates."""

from collections.abc import Iterable, Sequence
from typing import Any

from heald.tools.quoted_values import quote, quote_list

TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
}
_BOUNDS = {
    "Minimum": "is less than",
    "Maximum": "is greater than",
    "ExclusiveMinimum": "is not greater than",
    "ExclusiveMaximum": "is not less than",
    "MultipleOf": "is not a multiple of",
}


def join_types(types: Iterable[str]) -> str:
    words = [TYPES.get(kind, kind) for kind in types]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def count_noun(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def not_among(value: Any, choices: Sequence[Any]) -> str:
    if len(choices) == 1:
        return f"{quote(value)} is not {quote(choices[0])}"
    return f"{quote(value)} is not one of {quote_list(choices)}"


def describe_keyword(kind: Any, value: Any) -> str | None:
    """Return the sentence for a keyword that needs no further context, else None."""
    name = type(kind).__name__
    match name:
        case "Type":
            order = list(TYPES)
            return f"{quote(value)} is not {join_types(sorted(kind.types, key=order.index))}"
        case "Enum":
            return not_among(value, kind.options)
        case "Constant":
            return not_among(value, [kind.expected_value])
        case "FalseSchema":
            return f"{quote(value)} is not allowed here"
        case "Required":
            return f"{quote(kind.property)} is required"
        case "Pattern":
            return f"{quote(value)} does not match the pattern {quote(kind.pattern)}"
        case "MultipleOf":
            return f"{quote(value)} {_BOUNDS[name]} {quote(kind.multiple_of)}"
        case "Minimum" | "Maximum" | "ExclusiveMinimum" | "ExclusiveMaximum":
            return f"{quote(value)} {_BOUNDS[name]} {quote(kind.limit)}"
        case "MinLength" | "MaxLength":
            return f"{quote(value)} has {count_noun(len(value), 'character', 'characters')}, {_limit(name, kind)}"
        case "MinItems" | "MaxItems":
            return f"{count_noun(len(value), 'item', 'items')}, {_limit(name, kind)}"
        case "MinProperties" | "MaxProperties":
            return f"{count_noun(len(value), 'property', 'properties')}, {_limit(name, kind)}"
        case _:
            return None


def _limit(name: str, kind: Any) -> str:
    return f"the {'least' if name.startswith('Min') else 'most'} is {kind.limit}"
