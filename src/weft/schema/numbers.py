"""Rules for numbers. They say nothing about anything else."""

from fractions import Fraction
from math import isfinite
from typing import Any

from weft.core.json import JsonObject
from weft.schema.drafts import Draft, Shape
from weft.schema.node import Path, Report, Rule, Run, Test
from weft.schema.values import NUMERIC
from weft.schema.wording import shown

_WORDS = {
    "minimum": "less than {}",
    "maximum": "greater than {}",
    "exclusiveMinimum": "not greater than {}",
    "exclusiveMaximum": "not less than {}",
}


def bounds(schema: JsonObject, draft: Draft) -> list[Rule]:
    """minimum, maximum and the exclusive ones. In draft 4 the exclusive ones say how the others are meant."""
    rules: list[Rule] = []
    for inclusive, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if draft.shapes[exclusive] is Shape.BOOLEAN:
            if inclusive in schema:
                rules.append(_bound(exclusive if schema.get(exclusive) else inclusive, schema[inclusive]))
            continue
        rules += [_bound(keyword, schema[keyword]) for keyword in (inclusive, exclusive) if keyword in schema]
    return rules


def _bound(keyword: str, limit: int | float) -> Rule:
    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} is {_WORDS[keyword].format(shown(limit))}")

    return Rule(_comparison(keyword, limit), explain)


def _comparison(keyword: str, limit: int | float) -> Test:
    match keyword:
        case "minimum":
            return lambda value, _: not isinstance(value, NUMERIC) or value >= limit or isinstance(value, bool)
        case "maximum":
            return lambda value, _: not isinstance(value, NUMERIC) or value <= limit or isinstance(value, bool)
        case "exclusiveMinimum":
            return lambda value, _: not isinstance(value, NUMERIC) or value > limit or isinstance(value, bool)
        case _:
            return lambda value, _: not isinstance(value, NUMERIC) or value < limit or isinstance(value, bool)


def multiple_of(divisor: int | float) -> Rule:
    """A number is what it was written as: 0.3 is three times 0.1, though no float is."""
    exact = _exact(divisor)

    def test(value: Any, _run: Run) -> bool:
        if isinstance(value, bool) or not isinstance(value, NUMERIC):
            return True
        if isinstance(value, int) and isinstance(divisor, int):
            return value % divisor == 0
        return (isinstance(value, int) or isfinite(value)) and (_exact(value) / exact).denominator == 1

    def explain(value: Any, path: Path, report: Report) -> None:
        report.add(path, f"{shown(value)} is not a multiple of {shown(divisor)}")

    return Rule(test, explain)


def _exact(number: int | float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))
